/* Solves that are recorded into a frame's command buffer: results in every frame, the state that
 * shaders and the host read, what surrounds the bindings, and what is refused. */
#include <string.h>

#include "recorded_cg.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { FRAMES = 240 };

static void run_frames(engine_features features, wf_type type, const wf_cg_params *solve,
                       uint32_t frames)
{
    cg_host h;
    engine_calls early = {0}, late;
    cg_host_open(&h, features, type, solve);
    const double tolerance = solve->tolerance > 0  ? solve->tolerance
                             : type == WF_TYPE_F64 ? 1e-10
                                                   : 1e-6;
    for (uint32_t n = 0; n < frames; n++) {
        cg_frame *f = &h.frames[n % CG_IN_FLIGHT];
        cg_await(&h, f, tolerance);
        /* Every other solve begins from what x held; some end early, others are cut off. */
        f->flags = (n / CG_IN_FLIGHT % 2 && n >= CG_IN_FLIGHT ? WF_SOLVE_WARM : 0) |
                   (n % 5 == 4 ? WF_SOLVE_FIXED : 0) | (n % 7 > 4 ? WF_SOLVE_CONDITIONAL : 0);
        f->iterations = n % 5 == 4 ? 1 + n % 7 : n % 5 == 3 ? 2 + n % 3 : CG_MOST;
        cg_draw_b(&h, f);
        cg_submit(&h, f);
        if (n == 2 * CG_IN_FLIGHT)
            early = engine_counted();
    }
    late = engine_counted();
    if (frames > 2 * CG_IN_FLIGHT) {
        assert_int_equal(late.pipelines, early.pipelines);
        assert_int_equal(late.memories, early.memories);
        assert_int_equal(late.descriptor_pools, early.descriptor_pools);
    }
    for (int i = 0; i < CG_IN_FLIGHT; i++)
        cg_await(&h, &h.frames[i], tolerance);
    cg_host_close(&h);
}

static const wf_cg_params plain = {.size = sizeof plain, .max_iterations = CG_MOST};

static void test_frames_with_push_descriptors(void **state)
{
    (void)state;
    run_frames(ENGINE_REQUIRED, WF_TYPE_F32, &plain, FRAMES);
}

static void test_frames_without(void **state)
{
    (void)state;
    run_frames(ENGINE_NOTHING, WF_TYPE_F32, &plain, 30);
}

static void test_preconditioners(void **state)
{
    (void)state;
    for (uint32_t side = 1; side <= 3; side += 2) {
        const wf_cg_params params = {.size = sizeof params,
                                     .max_iterations = CG_MOST,
                                     .precondition = side == 1 ? WF_PRECONDITION_JACOBI
                                                               : WF_PRECONDITION_BLOCK_JACOBI,
                                     .block = side};
        run_frames(ENGINE_REQUIRED, WF_TYPE_F32, &params, 12);
    }
}

static void test_doubles(void **state)
{
    if (!test_has_type(*state, WF_TYPE_F64))
        skip();
    run_frames(ENGINE_REQUIRED, WF_TYPE_F64, &plain, 12);
}

/* In f32 to the accuracy of f64, on devices without f64 too. */
static void test_mixed(void **state)
{
    (void)state;
    static const wf_cg_params params[] = {
        {.size = sizeof plain, .max_iterations = CG_MOST, .mixed = true},
        {.size = sizeof plain,
         .max_iterations = CG_MOST,
         .mixed = true,
         .check_every = 3, /* rounded up to an even number */
         .precondition = WF_PRECONDITION_BLOCK_JACOBI,
         .block = 3}};
    run_frames(ENGINE_REQUIRED, WF_TYPE_F64, &params[0], 30);
    run_frames(ENGINE_NOTHING, WF_TYPE_F64, &params[0], 12);
    run_frames(ENGINE_REQUIRED, WF_TYPE_F64, &params[1], 12);
}

/* ------------------------------------------------------------------------------------- refusals */

static void expect_flags_refused(cg_host *h, uint32_t count, uint32_t flags, const char *text)
{
    const wf_bindings bindings = cg_bindings(h, &h->frames[0]);
    VkCommandBuffer commands = engine_begin(&h->e);
    test_last_error();
    test_expect_errors(true);
    assert_int_equal(wf_cg_record(h->cg, commands, h->frames[0].arena, &bindings, count, flags),
                     WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
    assert_non_null(strstr(test_last_error(), text));
    engine_finish(&h->e, commands);
}

static void test_refused_flags(void **state)
{
    (void)state;
    cg_host h;
    cg_host_open(&h, ENGINE_REQUIRED, WF_TYPE_F32, &plain);
    expect_flags_refused(&h, 5, WF_SOLVE_CONTINUE, "no solve was recorded");
    expect_flags_refused(&h, 5, 16, "flags 0x10");
    cg_draw_b(&h, &h.frames[0]);
    cg_solve_once(&h, &h.frames[0], CG_MOST - 4, 0);
    expect_flags_refused(&h, 5, WF_SOLVE_CONTINUE, "5 iterations after 116");
    expect_flags_refused(&h, 4, WF_SOLVE_CONTINUE | WF_SOLVE_WARM, "WF_SOLVE_CONDITIONAL alone");
    cg_solve_once(&h, &h.frames[0], 4, WF_SOLVE_CONTINUE);
    cg_host_close(&h);
}

static void expect_refused(cg_host *h, const wf_bindings *bindings, wf_arena *arena, uint32_t count,
                           wf_result code, const char *text)
{
    VkCommandBuffer commands = engine_begin(&h->e);
    test_last_error();
    test_expect_errors(true);
    assert_int_equal(wf_cg_record(h->cg, commands, arena, bindings, count, 0), code);
    test_expect_errors(false);
    assert_non_null(strstr(test_last_error(), text));
    engine_finish(&h->e, commands);
}

static void test_refusals(void **state)
{
    (void)state;
    cg_host h;
    cg_host_open(&h, ENGINE_REQUIRED, WF_TYPE_F32, &plain);
    const cg_frame *f = &h.frames[0];
    wf_bindings bindings = cg_bindings(&h, f);
    expect_refused(&h, &bindings, NULL, 5, WF_ERROR_INVALID_ARGUMENT, "an arena");
    expect_refused(&h, &bindings, f->arena, CG_MOST + 1, WF_ERROR_INVALID_ARGUMENT,
                   "there may be 1 to 120");
    bindings.items[WF_CG_STATE].bytes = 8;
    expect_refused(&h, &bindings, f->arena, 5, WF_ERROR_BINDING, "binding state has 8 bytes");
    bindings = cg_bindings(&h, f);
    bindings.items[WF_CG_X].bytes -= 4;
    expect_refused(&h, &bindings, f->arena, 5, WF_ERROR_BINDING, "binding x has");
    bindings.items[WF_CG_X] = bindings.items[WF_CG_STATE];
    bindings.items[WF_CG_X].bytes = 0;
    expect_refused(&h, &bindings, f->arena, 5, WF_ERROR_BINDING, "binding x has");
    cg_host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_with_push_descriptors),
        cmocka_unit_test(test_frames_without),
        cmocka_unit_test(test_preconditioners),
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_refused_flags),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
