/* Dispatches that would take too long go in parts, and the results stay what they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/device.h"
#include "harness.h"
#include "kernels/plan.h"
#include "tune/trial.h"

#define SHORT 1e-9 /* everything goes in as many parts as it has */

static int setup(void **state)
{
    const wf_device_params params = {.size = sizeof params, .dispatch_seconds = SHORT};
    wf_device *device = NULL;
    if (wf_device_create(&params, &device) != WF_SUCCESS)
        return -1;
    *state = device;
    return 0;
}

/* Every variant that the model would take, at its choice of values. */
static void verify_all(wf_device *device, const wf_tune_params *params)
{
    wfi_trial trial;
    uint32_t verified = 0;
    assert_int_equal(wfi_trial_open(device, params, &trial), WF_SUCCESS);
    const wfi_family *family = wfi_family_get(trial.problem.family);
    for (uint32_t i = 0; i < family->variant_count; i++) {
        wf_constant constants[WF_MAX_PARAMETERS];
        wfi_point point = {
            .caps = &device->caps, .problem = &trial.problem, .variant = &family->variants[i]};
        wfi_runner runner;
        bool right = false;
        wfi_point_defaults(&point);
        if (point.variant->fit(&point) < 0 || !wfi_point_legal(&point, NULL))
            continue;
        const wf_tuning tuning = wfi_point_tuning(&point, constants);
        assert_int_equal(wfi_runner_open(&trial, &tuning, &runner), WF_SUCCESS);
        if (runner.plan)
            assert_true(wfi_plan_expected_seconds(runner.plan) > SHORT);
        assert_int_equal(wfi_runner_verify(&runner, &right), WF_SUCCESS);
        if (!right)
            fail_msg("%s %s is wrong in parts", family->name, family->variants[i].name);
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

/* What ran teaches how long things take; without a bound nothing is split or learned. */
static void predictions_learn(void **state)
{
    wf_device *device = *state;
    assert_true(device->slowness > 0);
    const wf_device_params unbounded = {.size = sizeof unbounded, .dispatch_seconds = -1};
    wf_device *other = NULL;
    assert_int_equal(wf_device_create(&unbounded, &other), WF_SUCCESS);
    assert_true(!(other->dispatch_seconds > 0));
    wf_device_destroy(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_in_parts), cmocka_unit_test(sparse_products_in_parts),
        cmocka_unit_test(grids_in_parts),    cmocka_unit_test(stencils_in_parts),
        cmocka_unit_test(predictions_learn),
    };
    return cmocka_run_group_tests(tests, setup, test_device_teardown);
}
