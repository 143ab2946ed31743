/* Dispatches that would take too long are cut into pieces, which give the same results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/families.h"
#include "core/device.h"
#include "harness.h"
#include "plan/plan.h"
#include "tune/trial.h"

#define SHORT 1e-9 /* every dispatch is cut into as many pieces as possible */

static int setup(void **state)
{
    const wf_device_params params = {.size = sizeof params, .dispatch_seconds = SHORT};
    wf_device *device = NULL;
    if (wf_device_create(&params, &device) != WF_SUCCESS)
        return -1;
    *state = device;
    return 0;
}

/* Verifies every variant that the model may choose, at the model's values; under an emulator at the
 * defaults. */
static void verify_all(wf_device *device, const wf_tune_params *params)
{
    wfi_trial trial;
    uint32_t verified = 0;
    assert_int_equal(wfi_trial_open(device, params, &trial), WF_SUCCESS);
    const wfi_family *family = wfi_family_get(trial.problem.family);
    for (uint32_t i = 0; i < family->variant_count; i++) {
        wf_constant constants[WF_MAX_PARAMETERS];
        wfi_point point = {
            .caps = &device->caps, .problem = &trial.problem, .variant = family->variants[i]};
        wfi_runner runner;
        bool right = false;
        wfi_point_defaults(&point);
        if (point.variant->fit(&point) < 0)
            continue;
        if (test_emulated())
            wfi_point_defaults(&point);
        if (!wfi_point_legal(&point, NULL))
            continue;
        const wf_tuning tuning = wfi_point_tuning(&point, constants);
        assert_int_equal(wfi_runner_open(&trial, &tuning, &runner), WF_SUCCESS);
        if (runner.plan)
            assert_true(wfi_plan_expected_seconds(runner.plan) > SHORT);
        assert_int_equal(wfi_runner_verify(&runner, &right), WF_SUCCESS);
        if (!right)
            fail_msg("%s %s is wrong in parts", family->name, family->variants[i]->name);
        wfi_runner_close(&runner);
        verified++;
    }
    assert_true(verified > 1);
    wfi_trial_close(&trial);
}

static void products_in_parts(void **state)
{
    const wf_matmul_params product = {.size = sizeof product, .m = 150, .n = 170, .k = 61};
    const wf_tune_params params = {.size = sizeof params, .matmul = &product, .seed = 1};
    verify_all(*state, &params);
}

static void sparse_products_in_parts(void **state)
{
    enum { ROWS = 900 };
    static uint32_t offsets[ROWS + 1], columns[ROWS * 12];
    static float values[ROWS * 12];
    test_random random = {test_seed()};
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t at = offsets[row];
        for (uint32_t i = 0; i < row % 13; i++, at++) {
            columns[at] = test_random_below(&random, ROWS);
            values[at] = (float)test_random_uniform(&random);
        }
        offsets[row + 1] = at;
    }
    const wf_spmv_params matrix = {.size = sizeof matrix,
                                   .rows = ROWS,
                                   .columns = ROWS,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = values};
    const wf_tune_params params = {.size = sizeof params, .spmv = &matrix, .seed = 1};
    verify_all(*state, &params);
}

static void grids_in_parts(void **state)
{
    const wf_himeno_params grid = {.size = sizeof grid, .ni = 50, .nj = 37, .nk = 29};
    const wf_tune_params params = {.size = sizeof params, .himeno = &grid, .seed = 1};
    verify_all(*state, &params);
}

static void stencils_in_parts(void **state)
{
    static const double coefficients[] = {0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    const wf_stencil_params stencil = {.size = sizeof stencil,
                                       .nx = 50,
                                       .ny = 37,
                                       .nz = 29,
                                       .border = WF_BORDER_PERIODIC,
                                       .coefficients = coefficients,
                                       .steps = 3};
    const wf_tune_params params = {.size = sizeof params, .stencil = &stencil, .seed = 1};
    verify_all(*state, &params);
}

/* Dispatches of the vector family are cut when the plan is made. The sum of these is exact. */
static void vectors_in_parts(void **state)
{
    enum { COUNT = 100003 };
    static float x[COUNT], y[COUNT];
    test_random random = {test_seed()};
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
        x[i] = (float)test_random_below(&random, 16) - 7;
        y[i] = (float)test_random_below(&random, 16) - 8;
        sum += (double)x[i] * y[i];
    }
    for (int operation = 0; operation <= WF_VECTOR_DOT; operation++) {
        const bool dot = operation == WF_VECTOR_DOT;
        const wf_vector_params params = {.size = sizeof params,
                                         .operation = (wf_vector_operation)operation,
                                         .count = COUNT,
                                         .alpha = 2};
        wf_plan_info info = {.size = sizeof info};
        wf_buffer *buffers[4] = {NULL};
        wf_plan *plan = NULL;
        static float out[COUNT];
        assert_int_equal(wf_vector_plan(*state, &params, &plan), WF_SUCCESS);
        assert_int_equal(wf_plan_describe(plan, &info), WF_SUCCESS);
        assert_true(info.dispatches > 3);
        for (int i = 0; i < 4; i++) {
            const uint64_t bytes = i < 2 ? sizeof x : i == 2 ? 4 : wf_plan_workspace(plan) + 4;
            assert_int_equal(wf_buffer_create(*state, bytes, WF_MEMORY_DEVICE, &buffers[i]),
                             WF_SUCCESS);
            test_poison(buffers[i]);
        }
        assert_int_equal(wf_buffer_write(buffers[0], 0, x, sizeof x), WF_SUCCESS);
        assert_int_equal(wf_buffer_write(buffers[1], 0, y, sizeof y), WF_SUCCESS);
        const wf_bindings bindings = {
            .size = sizeof bindings,
            .items = {{.buffer = buffers[0]}, {.buffer = buffers[1]}, {.buffer = buffers[2]}},
            .workspace = {.buffer = buffers[3]}};
        assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
        assert_int_equal(wf_buffer_read(buffers[dot ? 2 : 1], 0, out, dot ? 4 : sizeof out),
                         WF_SUCCESS);
        for (size_t i = 0; i < (dot ? 1 : COUNT); i++)
            assert_true(out[i] == (float)(dot                           ? 2 * sum
                                          : operation == WF_VECTOR_AXPY ? y[i] + 2 * x[i]
                                                                        : x[i] + 2 * y[i]));
        wf_plan_destroy(&plan);
        for (int i = 0; i < 4; i++)
            wf_buffer_destroy(&buffers[i]);
    }
}

/* Counts dispatches that are recorded whole though they have several work-groups, and pieces. */
static struct {
    PFN_vkCmdDispatch whole_fn;
    PFN_vkCmdDispatchBase part_fn;
    uint32_t whole, parts;
} recorded;

static VKAPI_ATTR void VKAPI_CALL count_whole(VkCommandBuffer command_buffer, uint32_t x,
                                              uint32_t y, uint32_t z)
{
    recorded.whole += (uint64_t)x * y * z > 1;
    recorded.whole_fn(command_buffer, x, y, z);
}

static VKAPI_ATTR void VKAPI_CALL count_part(VkCommandBuffer command_buffer, uint32_t base_x,
                                             uint32_t base_y, uint32_t base_z, uint32_t x,
                                             uint32_t y, uint32_t z)
{
    recorded.parts++;
    recorded.part_fn(command_buffer, base_x, base_y, base_z, x, y, z);
}

static void watch(wf_device *device)
{
    recorded.whole_fn = device->fn.vkCmdDispatch;
    recorded.part_fn = device->fn.vkCmdDispatchBase;
    recorded.whole = recorded.parts = 0;
    device->fn.vkCmdDispatch = count_whole;
    device->fn.vkCmdDispatchBase = count_part;
}

static void watch_no_more(wf_device *device)
{
    device->fn.vkCmdDispatch = recorded.whole_fn;
    device->fn.vkCmdDispatchBase = recorded.part_fn;
}

static wf_device *open_unbounded(void)
{
    const wf_device_params params = {.size = sizeof params, .dispatch_seconds = -1};
    wf_device *device = NULL;
    assert_int_equal(wf_device_create(&params, &device), WF_SUCCESS);
    return device;
}

enum { MOST_ROWS = 3000 };

/* A tridiagonal matrix, and values of either type for it. */
static struct {
    uint32_t offsets[MOST_ROWS + 1], columns[3 * MOST_ROWS];
    float narrow[3 * MOST_ROWS];
    double wide[3 * MOST_ROWS];
} system_of;

static wf_spmv_params make_system(uint32_t rows, wf_type type, const wf_tuning *tuning)
{
    uint32_t n = 0;
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t c = row ? row - 1 : 0; c <= row + 1 && c < rows; c++, n++) {
            system_of.columns[n] = c;
            system_of.wide[n] = c == row ? 2.5 : -1;
            system_of.narrow[n] = (float)system_of.wide[n];
        }
        system_of.offsets[row + 1] = n;
    }
    const bool wide = type == WF_TYPE_F64;
    return (wf_spmv_params){.size = sizeof(wf_spmv_params),
                            .rows = rows,
                            .columns = rows,
                            .row_offsets = system_of.offsets,
                            .column_indices = system_of.columns,
                            .values = wide ? (void *)system_of.wide : system_of.narrow,
                            .type = type,
                            .tuning = tuning};
}

/* A product that leaves partial sums of the dot product must be one dispatch. Where it would take
 * too long, it is cut and leaves none, and the solve has the same solution. */
static void solves_in_parts(void **state)
{
    enum { ROWS = 300 };
    static float b[ROWS], x[ROWS];
    const wf_tuning sliced = {.size = sizeof sliced, .variant = "sliced"};
    const wf_spmv_params matrix = make_system(ROWS, WF_TYPE_F32, &sliced);
    const wf_cg_params params = {.size = sizeof params, .matrix = &matrix};
    wf_device *other = open_unbounded();
    wf_cg_result result;
    for (uint32_t row = 0; row < ROWS; row++)
        b[row] = (float)(row % 5) - 1.5f;
    assert_int_equal(wf_cg_solve(*state, &params, b, x, &result), WF_SUCCESS);
    assert_int_equal(result.status, WF_CG_CONVERGED);
    assert_true(!result.fused && result.true_residual < 1e-5);
    assert_int_equal(wf_cg_solve(other, &params, b, x, &result), WF_SUCCESS);
    assert_true(result.fused && result.true_residual < 1e-5);
    wf_device_destroy(&other);
}

/* The vector kernels of solves, with and without a preconditioner, and those of refinement in mixed
 * precision: cut into pieces they give the same bits after as many iterations. */
static void vectors_of_solves_in_parts(void **state)
{
    static double b64[MOST_ROWS], whole[MOST_ROWS], parts[MOST_ROWS];
    static float b32[MOST_ROWS];
    const wf_tuning row = {.size = sizeof row, .variant = "row"};
    wf_device *other = open_unbounded();
    test_random random = {test_seed()};
    for (uint32_t i = 0; i < MOST_ROWS; i++)
        b64[i] = b32[i] = (float)test_random_uniform(&random);
    for (int kind = 0; kind < 3; kind++) {
        const bool mixed = kind == 2;
        const wf_spmv_params matrix =
            make_system(MOST_ROWS, mixed ? WF_TYPE_F64 : WF_TYPE_F32, &row);
        const wf_cg_params params = {.size = sizeof params,
                                     .matrix = &matrix,
                                     .precondition = kind == 1 ? WF_PRECONDITION_BLOCK_JACOBI
                                                               : WF_PRECONDITION_NONE,
                                     .mixed = mixed};
        const void *b = mixed ? (const void *)b64 : b32;
        wf_cg_result first, second;
        assert_int_equal(wf_cg_solve(other, &params, b, whole, &first), WF_SUCCESS);
        watch(*state);
        assert_int_equal(wf_cg_solve(*state, &params, b, parts, &second), WF_SUCCESS);
        watch_no_more(*state);
        assert_int_equal(recorded.whole, 0);
        assert_true(recorded.parts > 2 * second.iterations);
        assert_int_equal(second.status, WF_CG_CONVERGED);
        assert_int_equal(first.iterations, second.iterations);
        assert_memory_equal(whole, parts, MOST_ROWS * (mixed ? sizeof *b64 : sizeof *b32));
    }
    wf_device_destroy(&other);
}

/* Laplace's sweeps, steps and residuals: cut into pieces they give the same bits after as many
 * iterations. */
static void laplace_in_parts(void **state)
{
    enum { NX = 70, NY = 53, ITERATIONS = 40 };
    static float whole[NX * NY], parts[NX * NY];
    wf_device *device = *state, *other = open_unbounded();
    test_random random = {test_seed()};
    for (int method = WF_LAPLACE_SOR; method <= WF_LAPLACE_JACOBI; method++) {
        const wf_laplace_params params = {.size = sizeof params,
                                          .nx = NX,
                                          .ny = NY,
                                          .method = (wf_laplace_method)method,
                                          .tolerance = 1e-30,
                                          .max_iterations = ITERATIONS,
                                          .check_every = ITERATIONS / 2};
        wf_laplace_result first = {.size = sizeof first}, second = first;
        for (size_t i = 0; i < NX * NY; i++)
            whole[i] = parts[i] = (float)test_random_uniform(&random);
        assert_int_equal(wf_laplace_solve(other, &params, whole, &first), WF_SUCCESS);
        watch(device);
        assert_int_equal(wf_laplace_solve(device, &params, parts, &second), WF_SUCCESS);
        watch_no_more(device);
        assert_int_equal(recorded.whole, 0);
        assert_true(recorded.parts >= 2 * (NY - 2)); /* a residual has a work-group a row */
        assert_int_equal(second.iterations, ITERATIONS);
        assert_memory_equal(whole, parts, sizeof whole);
        assert_true(first.residual >= second.residual && first.residual <= second.residual);
    }
    wf_device_destroy(&other);
}

/* Plans learn their time from what ran; without a bound nothing is cut or learned. */
static void predictions_learn(void **state)
{
    wf_device *device = *state, *other = open_unbounded();
    assert_true(device->slowness_bits > 0); /* of a double, > 0 as it is */
    assert_true(!(other->dispatch_seconds > 0));
    wf_device_destroy(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_in_parts),
        cmocka_unit_test(sparse_products_in_parts),
        cmocka_unit_test(grids_in_parts),
        cmocka_unit_test(stencils_in_parts),
        cmocka_unit_test(vectors_in_parts),
        cmocka_unit_test(solves_in_parts),
        cmocka_unit_test(vectors_of_solves_in_parts),
        cmocka_unit_test(laplace_in_parts),
        cmocka_unit_test(predictions_learn),
    };
    return cmocka_run_group_tests(tests, setup, test_device_teardown);
}
