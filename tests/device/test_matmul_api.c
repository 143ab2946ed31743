/* Products by the public API: parameters and bindings that are refused, kernels for products that
 * are described alone, and measuring. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "matmul_case.h"

static void refuses_bad_requests(void **state)
{
    wf_plan *plan = NULL;
    wf_matmul_params params = {.size = sizeof params, .m = 4, .n = 4, .k = 4, .lda = 3};
    const wf_constant odd[] = {{"tile_m", 30}, {"thread_m", 4}}, unknown = {"tile_q", 8};
    wf_tuning tuning = {.size = sizeof tuning, .variant = "nothing"};
    test_expect_errors(true);
    assert_int_equal(wf_matmul_plan(*state, &params, &plan), WF_ERROR_INVALID_ARGUMENT);
    params.lda = 0;
    params.type = WF_TYPE_I8;
    params.activation = WF_ACTIVATION_GELU;
    assert_int_equal(wf_matmul_plan(*state, &params, &plan), WF_ERROR_UNSUPPORTED);
    params.activation = WF_ACTIVATION_NONE;
    params.type = WF_TYPE_F32;
    params.tuning = &tuning;
    assert_int_equal(wf_matmul_plan(*state, &params, &plan), WF_ERROR_UNKNOWN_VARIANT);
    tuning = (wf_tuning){sizeof tuning, "register", &unknown, 1, false, 0};
    assert_int_equal(wf_matmul_plan(*state, &params, &plan), WF_ERROR_UNKNOWN_VARIANT);
    tuning = (wf_tuning){sizeof tuning, "register", odd, 2, false, 0};
    assert_int_equal(wf_matmul_plan(*state, &params, &plan), WF_ERROR_CONSTRAINT);
    assert_non_null(strstr(test_last_error(), "multiple of thread_m"));
    test_expect_errors(false);
    assert_null(plan);
}

static void refuse(wf_device *device, const wf_matmul_params *params, wf_result code,
                   const char *word)
{
    wf_plan *plan = NULL;
    test_expect_errors(true);
    assert_int_equal(wf_matmul_plan(device, params, &plan), code);
    test_expect_errors(false);
    assert_null(plan);
    assert_non_null(strstr(test_last_error(), word));
}

static void says_what_is_wrong(void **state)
{
    const double half = 0.5;
    const wf_matmul_params good = {.size = sizeof good, .m = 8, .n = 8, .k = 8};
    wf_matmul_params bad = good;
    bad.ldb = 7;
    refuse(*state, &bad, WF_ERROR_INVALID_ARGUMENT, "ldb is 7");
    bad = good;
    bad.batch = 2;
    bad.stride_c = 63;
    refuse(*state, &bad, WF_ERROR_INVALID_ARGUMENT, "overlap");
    bad.stride_c = WF_STRIDE_SHARED;
    refuse(*state, &bad, WF_ERROR_INVALID_ARGUMENT, "shared");
    bad = good;
    bad.type = WF_TYPE_I8;
    bad.alpha = &half;
    refuse(*state, &bad, WF_ERROR_INVALID_ARGUMENT, "whole numbers");
    bad = good;
    bad.batch = UINT64_C(1) << 31;
    bad.stride_a = UINT64_C(1) << 40;
    refuse(*state, &bad, WF_ERROR_TOO_LARGE, "matrix a");
    bad = good;
    bad.activation = (wf_activation)9;
    refuse(*state, &bad, WF_ERROR_INVALID_ARGUMENT, "activation");
}

/* Without sizes: all of each buffer. */
static wf_bindings bindings_of(const matmul_case *p)
{
    return (wf_bindings){.size = sizeof(wf_bindings),
                         .items = {{.buffer = p->buffers[WF_MATMUL_A]},
                                   {.buffer = p->buffers[WF_MATMUL_B]},
                                   {.buffer = p->buffers[WF_MATMUL_C]}}};
}

static void refuses_bad_bindings(void **state)
{
    matmul_case p = {.params = {.m = 16, .n = 16, .k = 16}};
    wf_plan *plan = NULL;
    test_random random = {test_seed()};
    matmul_case_make(&p, *state, &random);
    assert_int_equal(wf_matmul_plan(*state, &p.params, &plan), WF_SUCCESS);
    wf_bindings bindings = bindings_of(&p);
    test_expect_errors(true);
    bindings.items[1].buffer = NULL;
    assert_int_equal(wf_plan_run(plan, &bindings), WF_ERROR_BINDING);
    assert_non_null(strstr(test_last_error(), "B is missing"));
    bindings = bindings_of(&p);
    bindings.items[0].bytes = 100;
    assert_int_equal(wf_plan_run(plan, &bindings), WF_ERROR_BINDING);
    bindings = bindings_of(&p);
    bindings.items[0].offset = 4 * wf_device_caps(*state)->storage_alignment * 1024;
    assert_int_equal(wf_plan_run(plan, &bindings), WF_ERROR_BINDING);
    bindings = bindings_of(&p);
    bindings.items[0].offset = 2;
    assert_int_equal(wf_plan_run(plan, &bindings), WF_ERROR_BINDING);
    bindings = bindings_of(&p);
    bindings.items[2].buffer = p.buffers[WF_MATMUL_A];
    assert_int_equal(wf_plan_run(plan, &bindings), WF_ERROR_BINDING);
    assert_non_null(strstr(test_last_error(), "overlap"));
    test_expect_errors(false);
    wf_plan_destroy(&plan);
    matmul_case_free(&p);
}

/* The kernel that a description gets is the plan's, with what it has to do and to move. */
static void descriptions_are_of_what_plans_are(void **state)
{
    const wf_tuning tuning = {.size = sizeof tuning, .variant = "naive"};
    test_random random = {test_seed()};
    for (uint32_t i = 0; i < 8; i++) {
        wf_matmul_params params = {.size = sizeof params,
                                   .m = 6 + test_random_below(&random, 90),
                                   .n = 6 + test_random_below(&random, 90),
                                   .k = 6 + test_random_below(&random, 90),
                                   .tuning = &tuning,
                                   .transpose_a = i & 1,
                                   .transpose_b = (i & 2) != 0,
                                   .beta = i & 4 ? 2 : 0,
                                   .batch = 1 + test_random_below(&random, 3)};
        wf_matmul_params beside = params;
        beside.m = beside.n = beside.k = 7; /* is not looked at, as is the type */
        beside.type = WF_TYPE_I8;
        wf_problem problem = {.size = sizeof problem,
                              .family = WF_FAMILY_MATMUL,
                              .extent = {params.m, params.n, params.k},
                              .matmul = &beside};
        wf_plan_info planned = {.size = sizeof planned}, described = {.size = sizeof described};
        wf_plan *plan = NULL;
        assert_int_equal(wf_matmul_plan(*state, &params, &plan), WF_SUCCESS);
        assert_int_equal(wf_plan_describe(plan, &planned), WF_SUCCESS);
        assert_int_equal(wf_kernel_compile(*state, &problem, &tuning, &described), WF_SUCCESS);
        assert_string_equal(described.variant, planned.variant);
        assert_true(described.flops == planned.flops);
        assert_true(described.least_bytes == planned.least_bytes);
        assert_true(described.requested_bytes == planned.requested_bytes);
        wf_plan_destroy(&plan);
        problem.extent[i & 2 ? 2 : 1] = 5; /* elements of a row of B, as it is stored */
        beside.ldb = 5;
        assert_int_equal(wf_kernel_compile(*state, &problem, &tuning, &described), WF_SUCCESS);
        beside.ldb = 4;
        test_expect_errors(true);
        assert_int_equal(wf_kernel_compile(*state, &problem, &tuning, &described),
                         WF_ERROR_INVALID_ARGUMENT);
        test_expect_errors(false);
        assert_non_null(strstr(test_last_error(), "ldb is 4"));
    }
}

static void measures(void **state)
{
    matmul_case p = {.params = {.m = 64, .n = 64, .k = 64, .tuning = matmul_any_variant()}};
    wf_plan *plan = NULL;
    wf_timing timing;
    test_random random = {test_seed()};
    matmul_case_make(&p, *state, &random);
    const wf_bindings bindings = bindings_of(&p);
    wf_measure_params measure = {.size = sizeof measure, .repeat = 6};
    assert_int_equal(wf_matmul_plan(*state, &p.params, &plan), WF_SUCCESS);
    assert_int_equal(wf_plan_measure(plan, &bindings, &measure, &timing), WF_SUCCESS);
    assert_int_equal(timing.count, 6);
    assert_true(timing.median_us > 0 && timing.min_us <= timing.median_us);
    assert_int_equal(timing.gpu_clock, wf_device_caps(*state)->timestamp_valid_bits > 0);
    measure.cold = true;
    assert_int_equal(wf_plan_measure(plan, &bindings, &measure, &timing), WF_SUCCESS);
    assert_true(timing.cold && timing.batch == 1);
    wf_plan_destroy(&plan);
    matmul_case_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_bad_requests),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(refuses_bad_bindings),
        cmocka_unit_test(descriptions_are_of_what_plans_are),
        cmocka_unit_test(measures),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
