/* Plans that are made for a largest size and recorded with smaller ones: every variant, and a frame
 * loop that draws its sizes (sized.h). */
#include <string.h>

#include "allocations.h"
#include "core/device.h"
#include "engine.h"
#include "points.h"
#include "sized.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define FUNCTION(e, name) ((PFN_##name)engine_function((e), #name))

/* ------------------------------------------------------------------------------------- products */

enum { M = 72, N = 56, K = 88, BATCH = 3 };

static bool is_refused(wf_device *device, const wf_matmul_params *params)
{
    wf_plan *plan = NULL;
    test_expect_errors(true);
    const wf_result result = wf_matmul_plan(device, params, &plan);
    test_expect_errors(false);
    test_last_error();
    wf_plan_destroy(&plan);
    /* One of a dispatch for each output is TOO_LARGE. */
    return result == WF_ERROR_CONSTRAINT || result == WF_ERROR_UNSUPPORTED ||
           result == WF_ERROR_TOO_LARGE;
}

static void test_every_variant_of_products(void **state)
{
    wf_device *device = *state;
    test_random random = {test_seed()};
    const uint32_t each = test_quick() ? 5 : 1;
    uint32_t ran = 0;
    for (uint32_t i = 0; i < wf_family_variant_count(WF_FAMILY_MATMUL); i += each) {
        wf_variant_info info;
        assert_int_equal(wf_family_variant(WF_FAMILY_MATMUL, i, &info), WF_SUCCESS);
        const wf_constant split = {"split_k", 3};
        bool has_split = false;
        for (uint32_t n = 0; n < info.parameter_count; n++)
            has_split |= strcmp(info.parameters[n].name, "split_k") == 0;
        const wf_tuning tuning = {.size = sizeof tuning,
                                  .variant = info.name,
                                  .constants = &split,
                                  .constant_count = has_split && i % 2};
        const bool thin = strcmp(info.name, "matvec") == 0 || strcmp(info.name, "panel") == 0;
        const bool f32 = info.types & 1u << WF_TYPE_F32;
        for (uint32_t unit = 1; unit <= 8; unit *= 8) {
            const wf_matmul_params params = {.size = sizeof params,
                                             .m = thin && unit == 1 ? 7 : M,
                                             .n = thin && unit > 1 ? 8 : N,
                                             .k = K,
                                             .batch = unit == 1 ? BATCH : 0,
                                             .type = f32 ? WF_TYPE_F32 : WF_TYPE_F16,
                                             .output = WF_MATMUL_OUTPUT_SUMS,
                                             .tuning = &tuning,
                                             .transpose_a = (i + unit) % 2,
                                             .transpose_b = unit == 1,
                                             .beta = unit == 1 ? 2 : 0,
                                             .bias = unit > 1,
                                             .vary_m = unit,
                                             .vary_n = unit,
                                             .vary_k = unit,
                                             .vary_batch = unit == 1};
            if (is_refused(device, &params))
                continue;
            sized_product_run(device, &params, 4, &random);
            ran++;
        }
    }
    assert_true(ran >= 10 / each);
}

/* Copies of operands, stream-K, and both: what a recording leaves behind its own size, the next may
 * not read. */
static void test_packing_and_stream_k(void **state)
{
    wf_device *device = *state;
    const uint32_t units = device->caps.compute_units;
    test_random random = {test_seed()};
    for (uint32_t i = 0; i < 3; i++) {
        const wf_constant constants[] = {{"tile_m", 16},
                                         {"tile_n", 32},
                                         {"tile_k", 8},
                                         {"thread_m", 4},
                                         {"thread_n", 4},
                                         {"lanes_m", 2},
                                         {"lanes_n", 4},
                                         {"split_k", 1},
                                         {"vec4", 0},
                                         {"pack", i ? 3 : 0},
                                         {"stream_k", i == 1 ? 0 : 2}};
        const wf_tuning tuning = {.size = sizeof tuning,
                                  .variant = "vector",
                                  .constants = constants,
                                  .constant_count = sizeof constants / sizeof *constants};
        const wf_matmul_params params = {.size = sizeof params,
                                         .m = M,
                                         .n = N + 7,
                                         .k = K + 1,
                                         .tuning = &tuning,
                                         .transpose_a = i % 2,
                                         .transpose_b = i == 2,
                                         .beta = i % 2,
                                         .bias = i == 2,
                                         .vary_m = 1,
                                         .vary_n = 1,
                                         .vary_k = 1};
        sized_product p;
        device->caps.compute_units = 2; /* so that four tiles are a wave */
        wf_plan *copy = NULL;
        sized_product_open(&p, device, &params);
        assert_int_equal(wf_plan_copy(p.plan, &copy), WF_SUCCESS);
        for (int n = 0; n < 8; n++) {
            const wf_bindings bindings = sized_product_draw(&p, &random);
            assert_int_equal(wf_plan_run(n % 3 ? p.plan : copy, &bindings), WF_SUCCESS);
            sized_product_expect(&p);
        }
        wf_plan_destroy(&copy);
        sized_product_close(&p);
        device->caps.compute_units = units;
    }
}

static void test_types_of_products(void **state)
{
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64, WF_TYPE_F16};
    wf_device *device = *state;
    test_random random = {test_seed()};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (uint32_t rows = 0; rows < 2; rows++) {
            const wf_matmul_params params = {.size = sizeof params,
                                             .m = M,
                                             .n = N,
                                             .k = K,
                                             .type = types[i],
                                             .output = WF_MATMUL_OUTPUT_SUMS,
                                             .vary_m = 1,
                                             .vary_n = rows ? 0 : 1,
                                             .vary_k = rows ? 0 : 1};
            if (!is_refused(device, &params))
                sized_product_run(device, &params, 4, &random);
        }
}

/* ------------------------------------------------------------------------------------- stencils */

static void test_every_variant_of_stencils(void **state)
{
    wf_device *device = *state;
    test_random random = {test_seed()};
    const uint32_t each = test_quick() ? 5 : 1;
    uint32_t ran = 0;
    for (uint32_t i = 0; i < wf_family_variant_count(WF_FAMILY_STENCIL); i++)
        for (uint32_t n = 0; n < 6; n += each) {
            wf_variant_info info;
            assert_int_equal(wf_family_variant(WF_FAMILY_STENCIL, i, &info), WF_SUCCESS);
            const wf_tuning tuning = {.size = sizeof tuning, .variant = info.name};
            /* Of tiles in shared memory there are boxes in three dimensions alone. */
            const bool tiles = strcmp(info.name, "march_shared") == 0, solid = tiles || n < 3;
            const bool star = strncmp(info.name, "time", 4) == 0 || (!tiles && n % 2);
            const wf_stencil_params params = {
                .size = sizeof params,
                .nx = 44,
                .ny = 23,
                .nz = solid ? 17 : 0,
                .row_stride = 48,
                .radius = strcmp(info.name, "time_vector") == 0 ? 1 : 1 + n % 2,
                .shape = star ? WF_STENCIL_STAR : WF_STENCIL_BOX,
                .border = (wf_border)(n % 3),
                .steps = 3,
                .tuning = &tuning,
                .vary_x = n % 2 ? 4 : 1,
                .vary_y = 1,
                .vary_z = solid};
            sized_grid_run(device, &params, 3, &random);
            ran++;
        }
    assert_true(ran >= 25 / each);
}

/* --------------------------------------------------------------------------------------- errors */

static void expect_refusal(wf_plan *plan, const wf_bindings *bindings, const char *text)
{
    test_last_error();
    test_expect_errors(true);
    assert_int_equal(wf_plan_run(plan, bindings), WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
    const char *said = test_last_error();
    if (!strstr(said, text))
        fail_msg("'%s' does not say '%s'", said, text);
}

static void test_sizes_refused(void **state)
{
    wf_device *device = *state;
    test_random random = {test_seed()};
    sized_product p;
    wf_plan *plan = NULL;
    wf_matmul_params params = {.size = sizeof params, .m = 64, .n = 32, .k = 16, .vary_m = 4};
    sized_product_open(&p, device, &params);
    wf_bindings bindings = sized_product_draw(&p, &random);
    bindings.extent[0] = 68;
    expect_refusal(p.plan, &bindings, "over the 64");
    bindings.extent[0] = 62;
    expect_refusal(p.plan, &bindings, "no multiple of the plan's vary_m, 4");
    bindings.extent[0] = 60;
    bindings.extent[1] = 16;
    expect_refusal(p.plan, &bindings, "make it with vary_n");
    bindings.extent[1] = 32; /* its own size is no other size */
    assert_int_equal(wf_plan_run(p.plan, &bindings), WF_SUCCESS);
    sized_product_close(&p);
    test_expect_errors(true);
    params.m = 63;
    assert_int_equal(wf_matmul_plan(device, &params, &plan), WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(test_last_error(), "must be a multiple of vary_m"));
    test_expect_errors(false);
    params.vary_m = 0;
    sized_product_open(&p, device, &params);
    bindings = sized_product_draw(&p, &random);
    bindings.extent[0] = 8;
    expect_refusal(p.plan, &bindings, "the sizes of this plan are fixed");
    sized_product_close(&p);
}

static void test_grids_refused(void **state)
{
    wf_device *device = *state;
    test_random random = {test_seed()};
    const wf_stencil_params params = {.size = sizeof params,
                                      .nx = 16,
                                      .ny = 16,
                                      .row_stride = 16,
                                      .radius = 2,
                                      .vary_x = 1,
                                      .vary_y = 1};
    sized_grid g;
    sized_grid_open(&g, device, &params, &random);
    wf_bindings bindings = sized_grid_draw(&g, &random);
    bindings.extent[1] = 4;
    expect_refusal(g.plan, &bindings, "less than the 5 (2 radius + 1)");
    bindings.extent[1] = 5;
    bindings.extent[2] = 8;
    expect_refusal(g.plan, &bindings, "extent[2] is given, but this plan has 2 sizes");
    sized_grid_close(&g);
}

/* --------------------------------------------------------------------------------------- frames */

enum { IN_FLIGHT = 3, FRAMES = 2000, FEW_FRAMES = 200 };

typedef struct frame {
    VkCommandBuffer commands;
    VkFence fence;
    wf_arena *arena;
    sized_product p; /* with buffers of their own; the plan is the first frame's */
    sized_grid g;
    bool pending;
} frame;

static void await(engine *e, frame *f)
{
    if (!f->pending)
        return;
    assert_int_equal(FUNCTION(e, vkWaitForFences)(e->device, 1, &f->fence, VK_TRUE, UINT64_MAX),
                     VK_SUCCESS);
    assert_int_equal(FUNCTION(e, vkResetFences)(e->device, 1, &f->fence), VK_SUCCESS);
    sized_product_expect(&f->p);
    sized_grid_expect(&f->g);
    FUNCTION(e, vkFreeCommandBuffers)(e->device, e->pool, 1, &f->commands);
    assert_int_equal(wf_arena_reset(f->arena), WF_SUCCESS);
    f->pending = false;
}

static void submit(engine *e, frame *f, wf_plan *matmul, wf_plan *stencil, test_random *random)
{
    const wf_bindings matrices = sized_product_draw(&f->p, random),
                      cells = sized_grid_draw(&f->g, random);
    f->commands = engine_begin(e);
    test_count_allocations(true);
    assert_int_equal(wf_plan_record(matmul, f->commands, f->arena, &matrices), WF_SUCCESS);
    assert_int_equal(wf_plan_record(stencil, f->commands, f->arena, &cells), WF_SUCCESS);
    test_count_allocations(false);
    engine_submit(e, f->commands, f->fence);
    f->pending = true;
}

static void open_frame(engine *e, frame *f, wf_device *device, test_random *random)
{
    const wf_matmul_params product_ = {
        .size = sizeof product_, .m = 40, .n = 24, .k = 32, .vary_m = 1, .vary_n = 1, .vary_k = 1};
    const wf_stencil_params stencil = {.size = sizeof stencil,
                                       .nx = 40,
                                       .ny = 30,
                                       .row_stride = 40,
                                       .border = WF_BORDER_NEUMANN,
                                       .steps = 2,
                                       .vary_x = 1,
                                       .vary_y = 1};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    sized_product_open(&f->p, device, &product_);
    sized_grid_open(&f->g, device, &stencil, random);
    assert_int_equal(wf_arena_create(device, &f->arena), WF_SUCCESS);
    assert_int_equal(FUNCTION(e, vkCreateFence)(e->device, &fence, NULL, &f->fence), VK_SUCCESS);
}

/* The coefficients are those of the plan that is recorded. */
static void share_taps(frame *frames)
{
    for (int i = 1; i < IN_FLIGHT; i++)
        memcpy(frames[i].g.taps, frames[0].g.taps, sizeof frames[i].g.taps);
}

static void run_frames(engine_features features)
{
    test_random random = {test_seed()};
    wf_vulkan vulkan;
    engine e;
    frame frames[IN_FLIGHT] = {{0}};
    engine_calls early = {0};
    unsigned allocated = 0;
    engine_open(&e, features, &vulkan);
    vulkan.queue = VK_NULL_HANDLE;
    wf_device *device = engine_adopt(&vulkan);
    for (int i = 0; i < IN_FLIGHT; i++)
        open_frame(&e, &frames[i], device, &random);
    share_taps(frames);
    for (uint32_t n = 0; n < (test_quick() ? FEW_FRAMES : FRAMES); n++) {
        frame *f = &frames[n % IN_FLIGHT];
        await(&e, f);
        submit(&e, f, frames[0].p.plan, frames[0].g.plan, &random);
        if (n == 2 * IN_FLIGHT) {
            early = engine_counted();
            allocated = test_allocations();
        }
    }
    assert_int_equal(test_allocations(), allocated);
    const engine_calls late = engine_counted();
    assert_int_equal(late.pipelines, early.pipelines);
    assert_int_equal(late.memories, early.memories);
    assert_int_equal(late.buffers, early.buffers);
    assert_int_equal(late.descriptor_pools, early.descriptor_pools);
    for (int i = 0; i < IN_FLIGHT; i++)
        await(&e, &frames[i]);
    for (int i = 0; i < IN_FLIGHT; i++) {
        wf_arena_destroy(&frames[i].arena);
        FUNCTION(&e, vkDestroyFence)(e.device, frames[i].fence, NULL);
        sized_product_close(&frames[i].p);
        sized_grid_close(&frames[i].g);
    }
    wf_device_destroy(&device);
    engine_close(&e);
}

static void test_frames_with_push_descriptors(void **state)
{
    (void)state;
    run_frames(ENGINE_REQUIRED);
}

static void test_frames_without(void **state)
{
    (void)state;
    run_frames(ENGINE_NOTHING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_variant_of_products),
        cmocka_unit_test(test_packing_and_stream_k),
        cmocka_unit_test(test_types_of_products),
        cmocka_unit_test(test_every_variant_of_stencils),
        cmocka_unit_test(test_sizes_refused),
        cmocka_unit_test(test_grids_refused),
        cmocka_unit_test(test_frames_with_push_descriptors),
        cmocka_unit_test(test_frames_without),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
