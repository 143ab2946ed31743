/* Host-only parts of core: timestamp arithmetic, statistics, device selection, hashes, names. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/pipeline_cache.h"
#include "core/select.h"
#include "core/timing.h"

static void timestamps_wrap(void **state)
{
    (void)state;
    assert_int_equal(wfi_ticks_between(10, 25, 64), 15);
    assert_int_equal(wfi_ticks_between(UINT64_MAX - 4, 5, 64), 10);
    const uint64_t top = (UINT64_C(1) << 36) - 3;
    assert_int_equal(wfi_ticks_between(top, 4, 36), 7);
    assert_int_equal(wfi_ticks_between(5, 4, 32), UINT32_MAX);
}

static void quartiles_interpolate(void **state)
{
    (void)state;
    wf_timing timing = {.count = 4, .samples_us = {4, 1, 3, 2}};
    wfi_timing_summarise(&timing);
    assert_float_equal(timing.min_us, 1, 0);
    assert_float_equal(timing.q1_us, 1.75, 1e-12);
    assert_float_equal(timing.median_us, 2.5, 1e-12);
    assert_float_equal(timing.q3_us, 3.25, 1e-12);
    assert_float_equal(timing.spread, 0.6, 1e-12);
    /* the samples keep their order */
    assert_float_equal(timing.samples_us[0], 4, 0);
    wf_timing one = {.count = 1, .samples_us = {7}};
    wfi_timing_summarise(&one);
    assert_float_equal(one.median_us, 7, 0);
    assert_float_equal(one.spread, 0, 0);
}

static char logged[1024];

static void keep(void *user, wf_log_level level, const char *text)
{
    (void)user;
    (void)level;
    snprintf(logged, sizeof logged, "%s", text);
}

static const wf_caps three[] = {
    {.name = "llvmpipe (LLVM)", .device_type = VK_PHYSICAL_DEVICE_TYPE_CPU, .uuid = {1, 2, 0xab}},
    {.name = "Alpha GPU 7", .device_type = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU},
    {.name = "Alpha GPU 9", .device_type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU},
};

static wf_result select_three(const char *selector, uint32_t *index)
{
    const wfi_log log = {keep, NULL};
    logged[0] = '\0';
    *index = 99;
    return wfi_select(&log, three, 3, selector, index);
}

static void selects_device(void **state)
{
    (void)state;
    uint32_t index;
    assert_int_equal(select_three(NULL, &index), WF_SUCCESS);
    assert_int_equal(index, 2); /* discrete first */
    assert_int_equal(select_three("1", &index), WF_SUCCESS);
    assert_int_equal(index, 1);
    assert_int_equal(select_three("LLVMPIPE", &index), WF_SUCCESS);
    assert_int_equal(index, 0);
    assert_int_equal(select_three("gpu 9", &index), WF_SUCCESS);
    assert_int_equal(index, 2);
    assert_int_equal(select_three("0102AB00-0000-0000-0000-000000000000", &index), WF_SUCCESS);
    assert_int_equal(index, 0);
}

static void refuses_selector(void **state)
{
    (void)state;
    uint32_t index;
    assert_int_equal(select_three("3", &index), WF_ERROR_NO_DEVICE);
    assert_non_null(strstr(logged, "Alpha GPU 7"));
    assert_int_equal(select_three("beta", &index), WF_ERROR_NO_DEVICE);
    assert_int_equal(select_three("alpha", &index), WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(logged, "matches 2 devices"));
    assert_int_equal(select_three("ffffffffffffffffffffffffffffffff", &index), WF_ERROR_NO_DEVICE);
    assert_int_equal(index, 99);
}

static void hash_is_fnv1a(void **state)
{
    (void)state;
    /* test vectors of the FNV authors */
    assert_true(wfi_hash("", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(wfi_hash("foobar", 6) == UINT64_C(0x85944171f73967e8));
}

static void every_code_has_a_name(void **state)
{
    (void)state;
    for (int code = WF_ERROR_DEVICE_CLOSED; code <= WF_SUCCESS; code++)
        assert_string_not_equal(wf_result_string((wf_result)code), "unknown result");
    assert_string_equal(wf_result_string((wf_result)77), "unknown result");
    assert_int_equal(wf_type_size(WF_TYPE_BF16), 2);
    assert_string_equal(wf_type_name(WF_TYPE_F64), "f64");
    assert_string_equal(wf_type_name((wf_type)-1), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timestamps_wrap), cmocka_unit_test(quartiles_interpolate),
        cmocka_unit_test(selects_device),  cmocka_unit_test(refuses_selector),
        cmocka_unit_test(hash_is_fnv1a),   cmocka_unit_test(every_code_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
