/* Every ceiling either gives a number or says what the device lacks; statistics come with plans. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "harness.h"

static void every_ceiling(void **state)
{
    wf_device *device = *state;
    const wf_peak_params params = {
        .size = sizeof params, .budget_seconds = 0.01, .bytes = 1 << 20, .warm = true};
    for (uint32_t i = 0; i < wf_peak_count(); i++) {
        wf_peak_info info;
        wf_peak peak;
        assert_int_equal(wf_peak_describe(i, &info), WF_SUCCESS);
        test_expect_errors(true);
        test_last_error();
        const wf_result result = wf_peak_measure(device, i, &params, &peak);
        test_expect_errors(false);
        if (result == WF_ERROR_UNSUPPORTED) {
            const char *reason = test_last_error();
            assert_true(strlen(reason) > 10);
            printf("  %s: %s\n", info.name, reason);
            continue;
        }
        assert_int_equal(result, WF_SUCCESS);
        printf("  %s: %.4g %s\n", info.name, peak.value, info.unit);
        assert_true(isfinite(peak.value) && peak.value > 0);
        assert_true(peak.count > 0);
        if (info.over_bytes)
            assert_int_equal(peak.bytes, 1 << 20);
    }
}

static void features_decide(void **state)
{
    wf_device *device = *state;
    const wf_caps *caps = wf_device_caps(device);
    const struct {
        const char *name;
        bool offered;
    } needs[] = {{"fma_f32", true},
                 {"fma_f64", caps->f64},
                 {"fma_f16", caps->f16_arithmetic},
                 {"matrix_f16", caps->cooperative_matrix},
                 {"matrix_f16_f32", caps->cooperative_matrix},
                 {"matrix_bf16", caps->bf16_cooperative},
                 {"atomic_i32", true},
                 {"atomic_f32", true},
                 {"atomic_one_f64", caps->f64_atomic_add || (caps->f64 && caps->int64_atomics)},
                 {"shuffle", (caps->subgroup_operations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) != 0}};
    const wf_peak_params params = {.size = sizeof params, .budget_seconds = 0.01, .warm = true};
    for (size_t n = 0; n < sizeof needs / sizeof *needs; n++)
        for (uint32_t i = 0; i < wf_peak_count(); i++) {
            wf_peak_info info;
            wf_peak peak;
            wf_peak_describe(i, &info);
            if (strcmp(info.name, needs[n].name) != 0)
                continue;
            test_expect_errors(true);
            assert_int_equal(wf_peak_measure(device, i, &params, &peak),
                             needs[n].offered ? WF_SUCCESS : WF_ERROR_UNSUPPORTED);
            test_expect_errors(false);
        }
}

static void bad_parameters(void **state)
{
    wf_peak peak;
    wf_peak_info info;
    const wf_peak_params params = {.size = 1};
    test_expect_errors(true);
    assert_int_equal(wf_peak_measure(*state, wf_peak_count(), NULL, &peak),
                     WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_peak_measure(*state, 0, &params, &peak), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_peak_measure(NULL, 0, NULL, &peak), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_peak_describe(wf_peak_count(), &info), WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
}

static void plans_tell_their_kernel(void **state)
{
    const wf_constant constants[] = {{"local_x", 8}, {"local_y", 4}};
    const wf_tuning tuning = {
        .size = sizeof tuning, .variant = "naive", .constants = constants, .constant_count = 2};
    const wf_matmul_params params = {
        .size = sizeof params, .m = 40, .n = 80, .k = 8, .tuning = &tuning};
    wf_plan_info info = {.size = sizeof info};
    wf_plan *plan = NULL;
    assert_int_equal(wf_matmul_plan(*state, &params, &plan), WF_SUCCESS);
    assert_int_equal(wf_plan_describe(plan, &info), WF_SUCCESS);
    assert_int_equal(info.kernel.group_size[0], 8);
    assert_int_equal(info.kernel.group_size[1], 4);
    assert_int_equal(info.kernel.groups, 100);
    assert_int_equal(info.kernel.shared_bytes, 0);
    assert_int_equal(info.kernel.statistic_count, 0); /* the device was made without them */
    wf_plan_destroy(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_ceiling),
        cmocka_unit_test(features_decide),
        cmocka_unit_test(bad_parameters),
        cmocka_unit_test(plans_tell_their_kernel),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
