/* The table of driver faults: what matches, what is taken away, and what a self-test overrides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/quirks.h"
#include "core/volk.h"

static wf_caps device(uint32_t driver, uint32_t vendor, const char *name, uint32_t subgroup)
{
    wf_caps caps = {.size = sizeof caps,
                    .driver_id = driver,
                    .vendor_id = vendor,
                    .subgroup_size = subgroup,
                    .subgroup_min = subgroup,
                    .subgroup_max = subgroup,
                    .subgroup_operations = 0xff,
                    .cooperative_matrix = true,
                    .cooperative_matrix2 = true,
                    .cooperative_shape_count = 3};
    snprintf(caps.name, sizeof caps.name, "%s", name);
    return caps;
}

/* A device made to match a row in every member, and no more. */
static wf_caps device_of(const wfi_quirk *q)
{
    wf_caps caps = device(q->driver_id, q->vendor_id, q->name_piece ? q->name_piece : "any",
                          q->subgroup_size ? q->subgroup_size : 8);
    caps.driver_version = q->version_first;
    return caps;
}

static void rows_match_their_devices_only(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < wfi_quirk_count(); i++) {
        const wfi_quirk *q = wfi_quirk_get(i);
        const wf_caps right = device_of(q);
        wf_caps wrong = right;
        assert_true(q->faults && q->driver_id && *q->what && *q->instead && *q->test);
        assert_non_null(strchr(q->reference, '/'));
        assert_true(wfi_quirk_matches(q, &right));
        assert_int_equal(wfi_quirks_known(&right) & q->faults, q->faults);
        wrong.driver_id = VK_DRIVER_ID_MESA_LLVMPIPE;
        assert_false(wfi_quirk_matches(q, &wrong));
        wrong = right;
        wrong.vendor_id ^= 1;
        assert_int_equal(wfi_quirk_matches(q, &wrong), q->vendor_id == 0);
        wrong = right;
        wrong.subgroup_size = wrong.subgroup_min = 32;
        assert_int_equal(wfi_quirk_matches(q, &wrong), !q->subgroup_size && !q->most_subgroup_min);
        wrong = right;
        strcpy(wrong.name, "?");
        assert_int_equal(wfi_quirk_matches(q, &wrong), !q->name_piece);
    }
    assert_null(wfi_quirk_get(wfi_quirk_count()));
}

static void versions_bound_a_row(void **state)
{
    (void)state;
    const wfi_quirk q = {.driver_id = 7, .version_first = 10, .version_fixed = 20, .faults = 1};
    wf_caps caps = device(7, 1, "x", 32);
    const struct {
        uint32_t version;
        bool matches;
    } cases[] = {{9, false}, {10, true}, {19, true}, {20, false}};
    for (size_t i = 0; i < 4; i++) {
        caps.driver_version = cases[i].version;
        assert_int_equal(wfi_quirk_matches(&q, &caps), cases[i].matches);
    }
}

static void faults_take_away(void **state)
{
    (void)state;
    const wf_caps offered = device(VK_DRIVER_ID_MOLTENVK, 0x1002, "AMD Radeon Pro 5500M", 64);
    wf_caps caps;
    wfi_quirks_apply(&offered, wfi_quirks_known(&offered), &caps);
    assert_int_equal(caps.faults, WF_FAULT_SHUFFLE | WF_FAULT_SUBGROUP_ARITHMETIC);
    assert_int_equal(caps.subgroup_operations &
                         (VK_SUBGROUP_FEATURE_SHUFFLE_BIT |
                          VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT |
                          VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_CLUSTERED_BIT),
                     0);
    assert_true(caps.subgroup_operations & VK_SUBGROUP_FEATURE_BASIC_BIT);
    assert_true(caps.cooperative_matrix);

    wf_quirk text;
    assert_true(wf_caps_quirk(&caps, 0, &text));
    assert_non_null(strstr(text.what, "64"));
    assert_false(wf_caps_quirk(&caps, 1, &text));

    const wf_caps intel =
        device(VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA, 0x8086, "Intel(R) Graphics (DG1)", 8);
    wfi_quirks_apply(&intel, wfi_quirks_known(&intel), &caps);
    assert_false(caps.cooperative_matrix || caps.cooperative_matrix2);
    assert_int_equal(caps.cooperative_shape_count, 0);
    assert_int_equal(caps.subgroup_operations, 0xff);
    const wf_caps adreno = device(VK_DRIVER_ID_MESA_TURNIP, 0x5143, "FD740", 128);
    wfi_quirks_apply(&adreno, wfi_quirks_known(&adreno), &caps);
    assert_int_equal(caps.faults, WF_FAULT_FULL_SUBGROUPS);
    assert_int_equal(caps.subgroup_operations, 0xff);
    assert_true(wf_caps_quirk(&caps, 0, &text));
    assert_non_null(strstr(text.what, "128"));
    const wf_caps xe2 =
        device(VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA, 0x8086, "Intel(R) Graphics (LNL)", 16);
    assert_int_equal(wfi_quirks_known(&xe2), 0);
}

static void self_test_overrides_both_ways(void **state)
{
    (void)state;
    const wf_caps offered = device(VK_DRIVER_ID_MOLTENVK, 0x1002, "AMD Radeon Pro 5500M", 64);
    const uint32_t known = wfi_quirks_known(&offered);
    const wfi_self_test fine = {.tested = WF_FAULT_SHUFFLE},
                        worse = {.tested = WF_FAULT_COOPERATIVE_MATRIX | WF_FAULT_SHUFFLE,
                                 .failed = WF_FAULT_COOPERATIVE_MATRIX};
    wf_caps caps;
    assert_int_equal(wfi_quirks_resolve(known, NULL), known);
    wfi_quirks_apply(&offered, wfi_quirks_resolve(known, &fine), &caps);
    assert_true(caps.subgroup_operations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT);
    assert_false(caps.subgroup_operations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT);
    wfi_quirks_apply(&offered, wfi_quirks_resolve(known, &worse), &caps);
    assert_false(caps.cooperative_matrix);
    assert_true(caps.subgroup_operations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_match_their_devices_only),
        cmocka_unit_test(versions_bound_a_row),
        cmocka_unit_test(faults_take_away),
        cmocka_unit_test(self_test_overrides_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
