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

/* What a driver tells of its compute unit is of half an RDNA unit: RADV tells 2 SIMDs of 16 waves.
 * */
static void told_units(void **state)
{
    wf_occupancy got;
    wf_caps caps = {.vendor_id = 0x1002, .unit_subgroups = 32};
    const wf_kernel_info product = {
        .group_size = {128, 1, 1}, .shared_bytes = 16640, .subgroup_size = 64, .registers = 228};
    const wf_kernel_info plain = {.group_size = {64, 1, 1}, .subgroup_size = 64, .registers = 24};
    (void)state;
    snprintf(caps.name, sizeof caps.name, "AMD Radeon RX 7900 XTX (RADV NAVI31)");
    assert_int_equal(wf_kernel_occupancy(&caps, &product, &got), WF_SUCCESS);
    assert_int_equal(got.subgroups, 12); /* 240 registers by 64 lanes: 3 of 49152 words, 4 SIMDs */
    assert_int_equal(got.most_subgroups, 64);
    assert_string_equal(got.limited_by, "registers");
    snprintf(caps.name, sizeof caps.name, "AMD Radeon RX Vega (RADV VEGA10)");
    caps.unit_subgroups = 40; /* 4 SIMDs of 10 waves */
    assert_int_equal(wf_kernel_occupancy(&caps, &plain, &got), WF_SUCCESS);
    assert_int_equal(got.subgroups, 40);
    assert_int_equal(got.most_subgroups, 40);
    assert_string_equal(got.limited_by, "nothing");
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

/* Without a device: each limit by itself. */
static void architectures(void **state)
{
    const wf_kernel_info kernel = {
        .group_size = {16, 16, 1}, .shared_bytes = 9288, .registers = 20};
    wf_architecture a = {.size = sizeof a};
    wf_occupancy o;
    uint32_t index = 0;
    (void)state;
    assert_int_equal(wf_architecture_find("Fermi", &index), WF_SUCCESS);
    assert_int_equal(wf_architecture_describe(index, &a), WF_SUCCESS);
    assert_string_equal(a.name, "nvidia:sm20");
    assert_string_equal(a.unit, "multiprocessor");
    assert_int_equal(a.most_subgroups, 48);
    assert_int_equal(a.most_groups, 8);
    assert_int_equal(a.registers, 32768);
    assert_int_equal(a.item_registers, 63);
    assert_int_equal(a.shared_bytes, 49152);
    assert_int_equal(wf_architecture_occupancy(index, &kernel, &o), WF_SUCCESS);
    assert_int_equal(o.by_subgroups, 6); /* 48 of 8 */
    assert_int_equal(o.by_groups, 8);
    assert_int_equal(o.by_registers, 6); /* 20 x 32 = 640 of 16384: 25 a half, 50 of 8 */
    assert_int_equal(o.by_shared, 5);
    check(o, 40, "shared memory");
    assert_int_equal(wf_architecture_find("nothing", &index), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_architecture_describe(wf_architecture_count(), &a),
                     WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_architecture_occupancy(wf_architecture_count(), &kernel, &o),
                     WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_architecture_find("arm:valhall3", &index), WF_SUCCESS);
    assert_int_equal(wf_architecture_occupancy(index, &kernel, &o), WF_ERROR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(told_units),
        cmocka_unit_test(unknown_devices),
        cmocka_unit_test(architectures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
