/* How recorded solves end: dispatches behind the end that have no work-groups, solves in chunks,
 * conditional rendering, and what is no system to solve. */
#include <math.h>
#include <string.h>

#include "recorded_cg.h"
#include "solve/cg.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const wf_cg_params plain = {.size = sizeof plain, .max_iterations = CG_MOST};

/* Whether the host sees the sizes of dispatches: memory of CPU drivers is unified. */
static bool sizes_seen(const cg_host *h)
{
    return wf_buffer_mapped(h->cg->c.scalars) != NULL;
}

/* Sizes of the dispatches as the device left them: along x, and whether all along y are there. */
static uint32_t groups_left(const cg_host *h, bool *others)
{
    const wfi_cg *c = &h->cg->c;
    const uint32_t *words = wf_buffer_mapped(c->scalars);
    uint32_t sum = 0;
    *others = true;
    for (uint32_t i = 0; i < c->sizes; i++) {
        sum += words[c->sizes_at + 3 * i];
        *others = *others && words[c->sizes_at + 3 * i + 1] > 0;
    }
    return sum;
}

static void test_nothing_runs_behind_the_end(void **state)
{
    (void)state;
    cg_host h;
    bool others;
    cg_host_open(&h, ENGINE_REQUIRED, WF_TYPE_F32, &plain);
    cg_frame *f = &h.frames[0];
    cg_draw_b(&h, f);
    cg_solve_once(&h, f, 3, 0); /* too few iterations to converge */
    assert_int_equal(cg_state(&h, f).iterations, 3);
    if (sizes_seen(&h))
        assert_true(groups_left(&h, &others) >= h.cg->c.sizes && others);
    cg_solve_once(&h, f, CG_MOST, 0);
    const uint32_t taken = cg_state(&h, f).iterations;
    assert_int_equal(cg_state(&h, f).status, WF_CG_CONVERGED);
    assert_true(taken > 3 && taken < CG_MOST - 1);
    if (sizes_seen(&h)) {
        assert_int_equal(groups_left(&h, &others), 0);
        assert_true(others);
    }
    cg_solve_once(&h, f, CG_MOST, WF_SOLVE_WARM); /* there is nothing left to do */
    assert_true(cg_state(&h, f).iterations <= 1);
    cg_expect(&h, f, 1e-6);
    cg_host_close(&h);
}

/* A solve in chunks, each recorded and executed by itself, gives the bits of one that is recorded
 * whole. */
static void test_chunks(void **state)
{
    enum { CHUNK = 7 };
    (void)state;
    cg_host h;
    float whole[CG_ROWS];
    cg_host_open(&h, ENGINE_REQUIRED, WF_TYPE_F32, &plain);
    cg_frame *f = &h.frames[0];
    const char *x = (const char *)wf_buffer_mapped(f->x) + h.align;
    cg_draw_b(&h, f);
    cg_solve_once(&h, f, CG_MOST, 0);
    memcpy(whole, x, sizeof whole);
    const wf_solve_state expected = cg_state(&h, f);
    uint32_t made = CHUNK;
    cg_solve_once(&h, f, CHUNK, 0);
    for (; made < expected.iterations; made += CHUNK) {
        assert_int_equal(cg_state(&h, f).status, WF_CG_MAX_ITERATIONS);
        assert_memory_not_equal(x, whole, sizeof whole);
        f->iterations = made;
        cg_expect(&h, f, 1e-6);
        cg_solve_once(&h, f, CHUNK, WF_SOLVE_CONTINUE | (made % 2 ? WF_SOLVE_CONDITIONAL : 0));
    }
    assert_true(made >= 3 * CHUNK);
    for (int i = 0; i < 2; i++) { /* the second finds nothing to do */
        const wf_solve_state told = cg_state(&h, f);
        assert_memory_equal(&told, &expected, sizeof told);
        assert_memory_equal(x, whole, sizeof whole);
        memset(wf_buffer_mapped(f->x), 255, CG_ROWS * sizeof(float) + 2 * h.align);
        cg_solve_once(&h, f, CHUNK, WF_SOLVE_CONTINUE);
    }
    assert_memory_equal(x, whole, sizeof whole);
    cg_host_close(&h);
}

/* Whether iterations are blocks of conditional rendering, and what their condition is. */
static void test_condition(void **state)
{
    (void)state;
    cg_host h;
    cg_host_open(&h, ENGINE_REQUIRED, WF_TYPE_F32, &plain);
    const bool offered = wf_device_caps(h.device)->conditional_rendering;
    cg_frame *f = &h.frames[0];
    uint32_t *words = wf_buffer_mapped(h.cg->c.scalars);
    const unsigned before = engine_counted().conditions;
    cg_draw_b(&h, f);
    cg_solve_once(&h, f, 3, 0);
    assert_int_equal(engine_counted().conditions, before);
    cg_solve_once(&h, f, 3, WF_SOLVE_CONDITIONAL);
    assert_int_equal(engine_counted().conditions, before + (offered ? 3 + 1 : 0));
    assert_int_equal(cg_state(&h, f).iterations, 3);
    if (offered && words) { /* the first word of the sizes */
        const uint32_t groups = words[h.cg->c.sizes_at];
        words[h.cg->c.sizes_at] = 0;
        cg_solve_once(&h, f, 4, WF_SOLVE_CONTINUE | WF_SOLVE_CONDITIONAL);
        assert_int_equal(cg_state(&h, f).iterations, 3);
        words[h.cg->c.sizes_at] = groups;
        cg_solve_once(&h, f, 2, WF_SOLVE_CONTINUE | WF_SOLVE_CONDITIONAL);
        assert_int_equal(cg_state(&h, f).iterations, 9);
    }
    cg_host_close(&h);
    cg_host_open(&h, ENGINE_NOTHING, WF_TYPE_F32, &plain);
    assert_false(wf_device_caps(h.device)->conditional_rendering);
    const unsigned without = engine_counted().conditions;
    cg_draw_b(&h, &h.frames[0]);
    cg_solve_once(&h, &h.frames[0], 3, WF_SOLVE_CONDITIONAL); /* which is not there */
    assert_int_equal(cg_state(&h, &h.frames[0]).iterations, 3);
    assert_int_equal(engine_counted().conditions, without);
    cg_host_close(&h);
}

/* What only solves in mixed precision have. */
static void test_mixed_ends(void **state)
{
    (void)state;
    const wf_cg_params params = {
        .size = sizeof params, .max_iterations = CG_MOST, .mixed = true, .tolerance = 1e-12};
    cg_host h;
    bool others;
    cg_host_open(&h, ENGINE_REQUIRED, WF_TYPE_F64, &params);
    cg_frame *f = &h.frames[0];
    cg_draw_b(&h, f);
    for (uint32_t indirect = 0; indirect < 2; indirect++) {
        const uint32_t way = indirect ? 0 : WF_SOLVE_CONDITIONAL;
        cg_solve_once(&h, f, CG_MOST, way);
        cg_expect(&h, f, 1e-12);
        const wf_solve_state cold = cg_state(&h, f);
        assert_int_equal(cold.status, WF_CG_CONVERGED);
        assert_true(cold.refinements >= 2 && cold.iterations < CG_MOST);
        if (sizes_seen(&h))
            assert_int_equal(groups_left(&h, &others), 0);
        cg_solve_once(&h, f, CG_MOST, way | WF_SOLVE_WARM); /* there is nothing left to do */
        assert_int_equal(cg_state(&h, f).iterations, 0);
        assert_int_equal(cg_state(&h, f).refinements, 0);
        cg_expect(&h, f, 1e-12);
    }
    for (uint32_t i = 0; i < CG_ROWS;
         i++) /* the squares of the residual would be less than any f32 */
        cg_put_element(&h, f->b, i, cg_element(&h, f->b, i) * 1e-16);
    cg_solve_once(&h, f, CG_MOST, 0);
    cg_expect(&h, f, 1e-12);
    assert_int_equal(cg_state(&h, f).status, WF_CG_CONVERGED);
    VkCommandBuffer commands = engine_begin(&h.e);
    const wf_bindings bindings = cg_bindings(&h, f);
    test_expect_errors(true);
    assert_int_equal(wf_cg_record(h.cg, commands, f->arena, &bindings, 8, WF_SOLVE_CONTINUE),
                     WF_ERROR_UNSUPPORTED);
    test_expect_errors(false);
    engine_finish(&h.e, commands);
    memset(wf_buffer_mapped(f->b), 0, CG_ROWS * 8 + 2 * h.align);
    cg_solve_once(&h, f, CG_MOST, WF_SOLVE_WARM);
    assert_int_equal(cg_state(&h, f).status, WF_CG_CONVERGED);
    for (uint32_t i = 0; i < CG_ROWS; i++)
        assert_true(cg_element(&h, f->x, i) == 0);
    cg_put_element(&h, f->b, 7, INFINITY);
    cg_solve_once(&h, f, CG_MOST, 0);
    assert_int_equal(cg_state(&h, f).status, WF_CG_NOT_FINITE);
    cg_host_close(&h);
}

static void test_zero_and_not_finite(void **state)
{
    (void)state;
    cg_host h;
    cg_host_open(&h, ENGINE_REQUIRED, WF_TYPE_F32, &plain);
    cg_frame *f = &h.frames[0];
    float *b = (float *)((char *)wf_buffer_mapped(f->b) + h.align),
          *x = (float *)((char *)wf_buffer_mapped(f->x) + h.align);
    memset(b, 0, CG_ROWS * sizeof *b);
    for (uint32_t i = 0; i < CG_ROWS; i++)
        x[i] = 3;
    cg_solve_once(&h, f, CG_MOST, WF_SOLVE_WARM);
    assert_int_equal(cg_state(&h, f).status, WF_CG_CONVERGED);
    assert_int_equal(cg_state(&h, f).iterations, 0);
    for (uint32_t i = 0; i < CG_ROWS; i++)
        assert_true(cg_element(&h, f->x, i) == 0);
    b[5] = INFINITY;
    cg_solve_once(&h, f, CG_MOST, 0);
    assert_int_equal(cg_state(&h, f).status, WF_CG_NOT_FINITE);
    cg_host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_runs_behind_the_end),
        cmocka_unit_test(test_mixed_ends),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_condition),
        cmocka_unit_test(test_zero_and_not_finite),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
