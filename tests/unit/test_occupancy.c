/* What wf_kernel_occupancy says of devices by their names; the tables have a test of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "wavefit/wavefit.h"

static wf_occupancy of(uint32_t vendor, const char *name, uint32_t items, uint64_t shared,
                       uint32_t subgroup, uint32_t registers)
{
    wf_occupancy occupancy;
    wf_caps caps = {.device_type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, .vendor_id = vendor};
    const wf_kernel_info kernel = {.group_size = {items, 1, 1},
                                   .shared_bytes = shared,
                                   .subgroup_size = subgroup,
                                   .registers = registers};
    snprintf(caps.name, sizeof caps.name, "%s", name);
    assert_int_equal(wf_kernel_occupancy(&caps, &kernel, &occupancy), WF_SUCCESS);
    return occupancy;
}

static void check(wf_occupancy got, uint32_t subgroups, const char *limit)
{
    assert_int_equal(got.subgroups, subgroups);
    assert_string_equal(got.limited_by, limit);
    assert_non_null(got.source);
}

static void limits(void **state)
{
    static const char h100[] = "NVIDIA H100 80GB HBM3";
    (void)state;
    check(of(0x10de, h100, 256, 0, 32, 32), 64, "nothing");
    check(of(0x10de, h100, 256, 0, 32, 128), 16, "registers");
    check(of(0x10de, h100, 128, 49152, 32, 32), 16, "shared memory");
    check(of(0x10de, h100, 32, 0, 32, 32), 32, "work-groups a unit");
    check(of(0x10de, "NVIDIA GeForce RTX 3080", 1024, 0, 32, 32), 32, "work-group size");
    check(of(0x1002, "AMD Radeon RX 7900 XTX (RADV NAVI31)", 256, 0, 32, 120), 48, "registers");
    assert_int_equal(
        of(0x1002, "AMD Radeon RX 7900 XTX (RADV NAVI31)", 256, 0, 32, 120).counted_units, 2);
    assert_int_equal(of(0x10de, h100, 256, 0, 32, 32).counted_units, 1);
}

static void unknown_devices(void **state)
{
    wf_occupancy occupancy;
    const wf_caps caps = {.device_type = VK_PHYSICAL_DEVICE_TYPE_CPU, .name = "llvmpipe"};
    const wf_kernel_info kernel = {.group_size = {64, 1, 1}};
    (void)state;
    assert_int_equal(wf_kernel_occupancy(&caps, &kernel, &occupancy), WF_ERROR_UNSUPPORTED);
    assert_int_equal(wf_kernel_occupancy(NULL, &kernel, &occupancy), WF_ERROR_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(unknown_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
