/* Calls that block for long stop when the application asks, return what they have done so far, and
 * leave the device usable. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness.h"
#include "plan/object.h"

#define SIDE 12
#define ROWS (SIDE * SIDE)
#define NEVER UINT32_MAX

static uint32_t asked, allowed = NEVER; /* after so many calls the application says stop */

static const wf_timing *watched; /* or it says stop once this has three samples */

static bool cancelled(void *user)
{
    assert_ptr_equal(user, &asked);
    return asked++ >= allowed || (watched && watched->count == 3);
}

static void stop_after(uint32_t times)
{
    asked = 0;
    allowed = times;
    test_expect_errors(times != NEVER);
}

static int setup(void **state)
{
    wf_device_params params = test_device_params();
    wf_device *device = NULL;
    params.cancelled = cancelled;
    params.cancelled_user = &asked;
    if (wf_device_create(&params, &device) != WF_SUCCESS)
        return -1;
    *state = device;
    return asked; /* 0, since opening a device does not ask */
}

static void measuring_stops(void **state)
{
    wf_device *device = *state;
    const wf_matmul_params product = {.size = sizeof product, .m = 8, .n = 8, .k = 8};
    const wf_measure_params measure = {.size = sizeof measure, .repeat = 50};
    const wf_peak_params small = {.size = sizeof small, .bytes = 1 << 16};
    wf_bindings bindings = {.size = sizeof bindings};
    wf_buffer *buffer[3];
    wf_plan *plan = NULL;
    wf_timing *timing = malloc(sizeof *timing);
    double rate;
    assert_non_null(timing);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(wf_buffer_create(device, 256, WF_MEMORY_DEVICE, &buffer[i]), WF_SUCCESS);
        bindings.items[i].buffer = buffer[i];
    }
    assert_int_equal(wf_matmul_plan(device, &product, &plan), WF_SUCCESS);
    /* A device that raises its clock is warmed up first, for as long as that takes. */
    *timing = (wf_timing){0};
    watched = timing;
    stop_after(UINT32_MAX - 1);
    assert_int_equal(wf_plan_measure(plan, &bindings, &measure, timing), WF_ERROR_CANCELLED);
    watched = NULL;
    assert_int_equal(timing->count, 3); /* samples taken before the stop are kept */
    stop_after(1);
    assert_int_equal(wf_plan_measure(plan, &bindings, &measure, timing), WF_ERROR_CANCELLED);
    assert_int_equal(asked, 2);
    assert_int_equal(timing->count, 0);
    stop_after(0);
    assert_int_equal(wf_device_fma_rate(device, WF_TYPE_F32, &rate), WF_ERROR_CANCELLED);
    for (uint32_t i = 0; i < wf_peak_count(); i++) {
        wf_peak peak;
        const wf_result result = wf_peak_measure(device, i, &small, &peak);
        if (result != WF_ERROR_UNSUPPORTED)
            assert_int_equal(result, WF_ERROR_CANCELLED);
    }
    stop_after(NEVER);
    assert_int_equal(wf_plan_measure(plan, &bindings, &measure, timing), WF_SUCCESS);
    assert_int_equal(timing->count, 50);
    free(timing);
    wf_plan_destroy(&plan);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffer[i]);
}

/* A long plan takes a submission for each step and can stop between them; its result is right. */
static void long_plans_stop(void **state)
{
    enum { STEPS = 5, SIDE_X = 33, SIDE_Y = 21, CELLS = SIDE_X * SIDE_Y };
    static const double coefficients[] = {0.2, 0.1, 0.2, 0.3, 0.1};
    static float in[CELLS], out[CELLS];
    const wf_tuning tuning = {.size = sizeof tuning, .variant = "naive"};
    const wf_stencil_params stencil = {.size = sizeof stencil,
                                       .nx = SIDE_X,
                                       .ny = SIDE_Y,
                                       .coefficients = coefficients,
                                       .steps = STEPS,
                                       .tuning = &tuning};
    const wf_measure_params measure = {.size = sizeof measure, .repeat = 2, .warm = true};
    wf_bindings bindings = {.size = sizeof bindings};
    wf_buffer *buffer[3];
    wf_plan *plan = NULL;
    wf_check check;
    test_random random = {test_seed()};
    wf_timing *timing = malloc(sizeof *timing);
    assert_non_null(timing);
    for (int i = 0; i < CELLS; i++)
        in[i] = (float)test_random_uniform(&random);
    for (int i = 0; i < 3; i++)
        assert_int_equal(wf_buffer_create(*state, sizeof in, WF_MEMORY_DEVICE, &buffer[i]),
                         WF_SUCCESS);
    bindings.items[WF_STENCIL_IN].buffer = buffer[0];
    bindings.items[WF_STENCIL_OUT].buffer = buffer[1];
    bindings.workspace.buffer = buffer[2];
    assert_int_equal(wf_buffer_write(buffer[0], 0, in, sizeof in), WF_SUCCESS);
    assert_int_equal(wf_stencil_plan(*state, &stencil, &plan), WF_SUCCESS);
    assert_int_equal(plan->step_count, STEPS);
    stop_after(NEVER);
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    assert_int_equal(asked, 0); /* a short plan never asks */
    for (int known = 0; known < 2; known++) {
        plan->submit_seconds = 1e-12;
        plan->seconds = known ? plan->seconds : 0;
        assert_int_equal(wf_buffer_fill(buffer[1], 0, sizeof out, UINT32_MAX), WF_SUCCESS);
        stop_after(NEVER);
        assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
        assert_int_equal(asked, STEPS - 1);
        assert_int_equal(wf_buffer_read(buffer[1], 0, out, sizeof out), WF_SUCCESS);
        assert_int_equal(wf_stencil_check(&stencil, in, out, 0, test_seed(), &check), WF_SUCCESS);
        assert_true(check.error_over_bound <= 1);
        stop_after(2);
        assert_int_equal(wf_plan_run(plan, &bindings), WF_ERROR_CANCELLED);
        assert_int_equal(asked, 3);
    }
    stop_after(NEVER);
    assert_int_equal(wf_buffer_fill(buffer[1], 0, sizeof out, UINT32_MAX), WF_SUCCESS);
    assert_int_equal(wf_plan_measure(plan, &bindings, &measure, timing), WF_SUCCESS);
    /* Five executions: a first run, two that size a batch, and two samples. */
    assert_int_equal(asked, STEPS - 1 + 4 * STEPS);
    assert_true(timing->count == 2 && timing->batch == 1 && timing->median_us > 0);
    assert_int_equal(wf_buffer_read(buffer[1], 0, out, sizeof out), WF_SUCCESS);
    assert_int_equal(wf_stencil_check(&stencil, in, out, 0, test_seed(), &check), WF_SUCCESS);
    assert_true(check.error_over_bound <= 1);
    stop_after(STEPS + 2);
    assert_int_equal(wf_plan_measure(plan, &bindings, &measure, timing), WF_ERROR_CANCELLED);
    stop_after(NEVER);
    free(timing);
    wf_plan_destroy(&plan);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffer[i]);
}

static void himeno_stops(void **state)
{
    const wf_himeno_params grid = {.size = sizeof grid, .ni = 12, .nj = 11, .nk = 10};
    enum { CELLS = 12 * 11 * 10, MOST = 100000 };
    static float p[CELLS], gosa;
    wf_himeno *himeno = NULL;
    wf_check check;
    double seconds, gosa_error;
    bool gpu_clock;
    assert_int_equal(wf_himeno_create(*state, &grid, &himeno), WF_SUCCESS);
    assert_int_equal(wf_himeno_start(himeno), WF_SUCCESS);
    stop_after(2);
    assert_int_equal(wf_himeno_run(himeno, MOST, &gosa, &seconds, &gpu_clock), WF_ERROR_CANCELLED);
    stop_after(NEVER);
    assert_int_equal(wf_himeno_start(himeno), WF_SUCCESS);
    assert_int_equal(wf_himeno_run(himeno, 4, &gosa, &seconds, &gpu_clock), WF_SUCCESS);
    assert_int_equal(wf_himeno_read(himeno, p), WF_SUCCESS);
    assert_int_equal(wf_himeno_check(&grid, NULL, 4, p, gosa, 0, test_seed(), &check, &gosa_error),
                     WF_SUCCESS);
    assert_true(check.error_over_bound <= 1 && gosa_error <= 1);
    wf_himeno_destroy(&himeno);
}

/* The 5-point Poisson matrix. */
static wf_spmv_params poisson(void)
{
    static uint32_t offsets[ROWS + 1], columns[5 * ROWS];
    static float values[5 * ROWS];
    uint32_t at = 0;
    for (int row = 0; row < ROWS; row++) {
        const int neighbours[] = {row - SIDE, row % SIDE ? row - 1 : -1, row,
                                  (row + 1) % SIDE ? row + 1 : -1, row + SIDE};
        for (int i = 0; i < 5; i++)
            if (neighbours[i] >= 0 && neighbours[i] < ROWS) {
                columns[at] = (uint32_t)neighbours[i];
                values[at++] = i == 2 ? 4.0f : -1.0f;
            }
        offsets[row + 1] = at;
    }
    return (wf_spmv_params){.size = sizeof(wf_spmv_params),
                            .rows = ROWS,
                            .columns = ROWS,
                            .row_offsets = offsets,
                            .column_indices = columns,
                            .values = values};
}

/* Analysing and converting a large matrix takes long. Nothing is left of a plan that was stopped
 * meanwhile, and the next plan is right. */
static void sparse_plans_stop(void **state)
{
    static const char *const variants[] = {"lanes", "sliced", "quads"};
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        const wf_tuning tuning = {.size = sizeof tuning, .variant = variants[v]};
        wf_spmv_params params = poisson();
        wf_plan *plan = NULL;
        params.tuning = &tuning;
        stop_after(NEVER);
        test_expect_errors(true); /* not every device runs variant quads */
        const bool offered = wf_spmv_plan(*state, &params, &plan) == WF_SUCCESS;
        const uint32_t asks = asked;
        wf_plan_destroy(&plan);
        assert_true(!offered || asks > 1);
        for (uint32_t n = 0; offered && n < asks; n++) {
            stop_after(n);
            assert_int_equal(wf_spmv_plan(*state, &params, &plan), WF_ERROR_CANCELLED);
            assert_int_equal(asked, n + 1);
            assert_null(plan);
        }
    }
    stop_after(NEVER);
}

typedef struct watch {
    uint32_t calls, stop_at, last;
    bool by_device; /* the device's callback stops the solve, when it is asked the second time */
    double residual;
} watch;

static bool follow(void *user, uint32_t iterations, double residual)
{
    watch *w = user;
    if (w->by_device && w->calls == 0)
        stop_after(1);
    w->last = iterations;
    w->residual = residual;
    return ++w->calls != w->stop_at;
}

static void solves_stop(void **state)
{
    enum { MOST = 40 };
    static float b[ROWS], x[ROWS];
    static double whole[MOST], part[MOST];
    const wf_spmv_params matrix = poisson();
    test_random random = {test_seed()};
    watch w = {0};
    wf_cg_params params = {.size = sizeof params,
                           .matrix = &matrix,
                           .max_iterations = MOST,
                           .check_every = 5,
                           .tolerance = 1e-7,
                           .history = whole,
                           .progress = follow,
                           .user = &w};
    wf_cg_result all, cut;
    for (int i = 0; i < ROWS; i++)
        b[i] = (float)test_random_uniform(&random);
    assert_int_equal(wf_cg_solve(*state, &params, b, x, &all), WF_SUCCESS);
    assert_true(all.iterations > 20 && w.calls >= 4);
    params.history = part;
    for (int by_device = 0; by_device < 2; by_device++) {
        memset(x, 0xff, sizeof x);
        w = (watch){.stop_at = by_device ? 0 : 2, .by_device = by_device};
        test_expect_errors(true);
        assert_int_equal(wf_cg_solve(*state, &params, b, x, &cut), WF_ERROR_CANCELLED);
        stop_after(NEVER);
        /* The iterations of the batch that was already submitted count. */
        assert_int_equal(w.last, 10);
        assert_int_equal(cut.iterations, 15);
        assert_true(fabs(w.residual - whole[9]) <= 1e-6 * whole[9]);
        assert_memory_equal(part, whole, cut.iterations * sizeof *part);
        assert_true(fabs(cut.residual - whole[14]) <= 1e-6 * whole[14]);
        /* x is the result of the last iteration, not the initial guess. */
        assert_true(cut.true_residual < whole[14] * 1.01 + 1e-6 &&
                    cut.true_residual > whole[14] * 0.99 - 1e-6);
        assert_non_null(cut.product.variant);
    }
}

static void refinements_stop(void **state)
{
    static double values[5 * ROWS], b[ROWS], x[ROWS], history[200];
    wf_spmv_params matrix = poisson();
    watch w = {.stop_at = 3};
    const wf_cg_params params = {.size = sizeof params,
                                 .matrix = &matrix,
                                 .max_iterations = 200,
                                 .check_every = 10,
                                 .history = history,
                                 .mixed = true,
                                 .progress = follow,
                                 .user = &w};
    wf_cg_result cut;
    for (uint32_t i = 0; i < matrix.row_offsets[ROWS]; i++)
        values[i] = (double)((const float *)matrix.values)[i];
    matrix.values = values;
    matrix.type = WF_TYPE_F64;
    for (int i = 0; i < ROWS; i++)
        b[i] = 1 + i % 7;
    memset(x, 0xff, sizeof x);
    test_expect_errors(true);
    assert_int_equal(wf_cg_solve(*state, &params, b, x, &cut), WF_ERROR_CANCELLED);
    test_expect_errors(false);
    assert_true(cut.iterations >= 30 && isfinite(cut.residual));
    for (uint32_t i = 0; i < cut.iterations; i++)
        assert_true(history[i] > 0);
    assert_true(fabs(cut.true_residual - cut.residual) <= 1e-4 * cut.residual);
}

static void laplace_stops(void **state)
{
    enum { WIDE = 65, HIGH = 33 };
    static float u[HIGH * WIDE];
    for (int by_device = 0; by_device < 2; by_device++) {
        watch w = {.stop_at = by_device ? 0 : 2, .by_device = by_device};
        const wf_laplace_params params = {.size = sizeof params,
                                          .nx = WIDE,
                                          .ny = HIGH,
                                          .method = WF_LAPLACE_JACOBI,
                                          .tolerance = 1e-6,
                                          .check_every = 2,
                                          .progress = follow,
                                          .user = &w};
        wf_laplace_result cut = {.size = sizeof cut};
        memset(u, 0, sizeof u);
        for (int x = 0; x < WIDE; x++)
            u[x] = 1;
        test_expect_errors(true);
        assert_int_equal(wf_laplace_solve(*state, &params, u, &cut), WF_ERROR_CANCELLED);
        stop_after(NEVER);
        assert_int_equal(cut.status, WF_LAPLACE_CANCELLED);
        assert_true(w.calls == 2 && cut.iterations >= w.last && w.last > 0);
        assert_true(fabs(cut.true_residual - cut.residual) <= 1e-3 * cut.residual);
        assert_true(u[WIDE + 1] > 0); /* u holds the result of the iterations done */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measuring_stops),  cmocka_unit_test(long_plans_stop),
        cmocka_unit_test(himeno_stops),     cmocka_unit_test(solves_stop),
        cmocka_unit_test(refinements_stop), cmocka_unit_test(sparse_plans_stop),
        cmocka_unit_test(laplace_stops),
    };
    return cmocka_run_group_tests(tests, setup, test_device_teardown);
}
