/* The architecture table against figures that its sources print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/architectures.h"

static const wfi_architecture *of(uint32_t vendor, const char *name)
{
    wf_caps caps = {.size = sizeof caps, .vendor_id = vendor};
    snprintf(caps.name, sizeof caps.name, "%s", name);
    return wfi_architecture_of(&caps);
}

static void names_are_found(void **state)
{
    (void)state;
    const struct {
        uint32_t vendor;
        const char *device, *row;
    } cases[] = {
        {0x10de, "NVIDIA H100 80GB HBM3", "nvidia:sm90"},
        {0x10de, "NVIDIA A100-SXM4-80GB", "nvidia:sm80"},
        {0x10de, "NVIDIA A10", "nvidia:sm86"},
        {0x10de, "NVIDIA L40S", "nvidia:sm89"},
        {0x10de, "NVIDIA GeForce RTX 4090", "nvidia:sm89"},
        {0x10de, "NVIDIA GeForce GTX 1080 Ti", "nvidia:sm61"},
        {0x1002, "AMD Radeon Graphics (RADV NAVI31)", "amd:rdna3"},
        {0x1002, "AMD Radeon RX 6800 XT (RADV NAVI21)", "amd:rdna2"},
        {0x1002, "AMD Radeon RX 580 Series (RADV POLARIS10)", "amd:gcn4"},
        {0x1002, "AMD Unknown (RADV GFX1201)", "amd:rdna4"},
        {0x1002, "AMD Radeon RX Vega (RADV VEGA10)", "amd:gcn5"},
        {0x8086, "Intel(R) Arc(TM) A770 Graphics (DG2)", "intel:xe-hpg"},
        {0x8086, "Intel(R) UHD Graphics 630 (CFL GT2)", "intel:gen9"},
        {0x8086, "Intel(R) Graphics (LNL)", "intel:xe2"},
        {0x5143, "Turnip Adreno (TM) 650", "qualcomm:adreno65x"},
        {0x5143, "Adreno (TM) 740", "qualcomm:adreno7xx"},
        {0x5143, "Adreno (TM) 610", "qualcomm:adreno61x-small"},
        {0x13b5, "Mali-G710", "arm:valhall3"},
        {0x13b5, "Mali-G71", "arm:bifrost4"},
        {0x13b5, "Mali-G78 MP20", "arm:valhall1"},
        {0x106b, "Apple M1 Pro", "apple:m1"},
        {0x14e4, "V3D 7.1.7.0", "broadcom:v3d"},
        {0x1010, "PowerVR Rogue GE8320", "imagination:rogue"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const wfi_architecture *row = of(cases[i].vendor, cases[i].device);
        if (!row || strcmp(row->name, cases[i].row) != 0)
            fail_msg("%s: %s instead of %s", cases[i].device, row ? row->name : "none",
                     cases[i].row);
    }
    assert_null(of(0x10005, "llvmpipe (LLVM 19.1.7, 256 bits)"));
    assert_null(of(0x10de, "Something new"));
}

static void targets_are_found(void **state)
{
    (void)state;
    assert_string_equal(wfi_architecture_named("navi31")->name, "amd:rdna3");
    assert_string_equal(wfi_architecture_named("NAVI21")->name, "amd:rdna2");
    assert_string_equal(wfi_architecture_named("nvidia:sm90")->name, "nvidia:sm90");
    assert_null(wfi_architecture_named("navi"));
    assert_null(wfi_architecture_named(""));
}

static void rows_are_whole(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < wfi_architecture_count(); i++) {
        const wfi_architecture *a = wfi_architecture_get(i);
        const wfi_kernel_use most = {.group_size = a->wave, .registers = a->lane_registers};
        wfi_occupancy occupancy;
        assert_true(a->wave >= 4 && (a->wave & (a->wave - 1)) == 0);
        assert_true(*a->source && strchr(a->name, ':'));
        assert_ptr_equal(wfi_architecture_named(a->name), a);
        if (wfi_architecture_occupancy(a, NULL, &most, &occupancy))
            assert_true(occupancy.groups > 0); /* what a lane can have, a wave can have */
    }
    assert_null(wfi_architecture_get(wfi_architecture_count()));
}

static wfi_occupancy occupancy(const char *row, uint32_t group, uint32_t lanes, uint32_t registers,
                               uint32_t shared)
{
    const wfi_kernel_use use = {group, lanes, registers, shared};
    wfi_occupancy out;
    assert_true(wfi_architecture_occupancy(wfi_architecture_named(row), NULL, &use, &out));
    return out;
}

/* NVIDIA's occupancy calculator. */
static void nvidia_occupancy(void **state)
{
    (void)state;
    wfi_occupancy o = occupancy("nvidia:sm90", 256, 0, 32, 0);
    assert_int_equal(o.groups, 8);
    assert_int_equal(o.limiter, WFI_LIMITER_NONE);
    assert_true(o.fraction == 1.0);
    o = occupancy("nvidia:sm90", 256, 0, 128, 0);
    assert_int_equal(o.waves, 16);
    assert_int_equal(o.limiter, WFI_LIMITER_REGISTERS);
    o = occupancy("nvidia:sm90", 256, 0, 129, 0); /* 136 a lane: 3 warps a partition, 12 in all */
    assert_int_equal(o.waves, 8);
    o = occupancy("nvidia:sm90", 128, 0, 32, 49152); /* 49 KiB each of 228 */
    assert_int_equal(o.groups, 4);
    assert_int_equal(o.limiter, WFI_LIMITER_SHARED);
    o = occupancy("nvidia:sm90", 32, 0, 16, 0);
    assert_int_equal(o.waves, 32);
    assert_int_equal(o.limiter, WFI_LIMITER_GROUPS);
    o = occupancy("nvidia:sm86", 1024, 0, 32, 0); /* 48 warps: one group of 32 */
    assert_int_equal(o.waves, 32);
    assert_int_equal(o.limiter, WFI_LIMITER_GROUP_SIZE);
    o = occupancy("nvidia:sm90", 256, 0, 32, 300000);
    assert_int_equal(o.limiter, WFI_LIMITER_TOO_LARGE);
}

/* The register tables in AMD's and LLVM's documents: waves a SIMD. */
static void amd_occupancy(void **state)
{
    (void)state;
    const struct {
        const char *row;
        uint32_t lanes, registers, simd_waves;
    } cases[] = {
        {"amd:gcn5", 64, 24, 10},  {"amd:gcn5", 64, 28, 9},   {"amd:gcn5", 64, 84, 3},
        {"amd:gcn5", 64, 129, 1},  {"amd:gcn4", 64, 24, 8},   {"amd:rdna1", 32, 48, 20},
        {"amd:rdna2", 32, 64, 16}, {"amd:rdna2", 32, 65, 12}, {"amd:rdna2", 64, 64, 8},
        {"amd:rdna3", 32, 96, 16}, {"amd:rdna3", 32, 97, 12}, {"amd:rdna3", 32, 256, 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const wfi_occupancy o =
            occupancy(cases[i].row, cases[i].lanes, cases[i].lanes, cases[i].registers, 0);
        const uint32_t waves = cases[i].simd_waves * 4;
        /* One wave a group: the most groups a unit holds may come first. */
        assert_true(o.waves == waves || o.limiter == WFI_LIMITER_GROUPS);
        const wfi_occupancy four =
            occupancy(cases[i].row, cases[i].lanes * 4, cases[i].lanes, cases[i].registers, 0);
        assert_int_equal(four.waves, waves);
    }
}

/* Mesa's table for Apple: most registers in halves, and threads. */
static void apple_occupancy(void **state)
{
    (void)state;
    static const uint32_t printed[][2] = {{104, 1024}, {112, 896}, {128, 832}, {136, 768},
                                          {144, 704},  {160, 640}, {184, 576}, {208, 512},
                                          {232, 448},  {256, 384}};
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++)
        assert_int_equal(occupancy("apple:m1", 32, 0, printed[i][0] / 2, 0).waves * 32,
                         printed[i][1]);
}

static void small_gpus(void **state)
{
    (void)state;
    /* Valhall: 32 registers at full occupancy, 64 at half. */
    assert_int_equal(occupancy("arm:valhall1", 64, 0, 32, 16384).waves, 32);
    assert_int_equal(occupancy("arm:valhall1", 64, 0, 33, 16384).waves, 16);
    /* VideoCore: 4 threads with 32 registers, 2 with 64. */
    assert_int_equal(occupancy("broadcom:v3d", 16, 0, 32, 0).waves, 4);
    assert_int_equal(occupancy("broadcom:v3d", 16, 0, 33, 0).waves, 2);
    /* Adreno 650: 64 vec4 a lane over two waves: 8 vec4 leave 16 waves, 16 leave 8. */
    assert_int_equal(occupancy("qualcomm:adreno65x", 64, 0, 32, 0).waves, 16);
    assert_int_equal(occupancy("qualcomm:adreno65x", 64, 0, 64, 0).waves, 8);
    /* Intel: registers are the thread's own and set no limit. */
    assert_int_equal(occupancy("intel:gen9", 256, 16, 60, 0).waves, 48);
    assert_int_equal(occupancy("intel:xe-hpg", 512, 16, 60, 0).waves, 128);
    /* What the device itself says of its waves comes before the table, and where neither does,
     * nothing is said. */
    const wfi_kernel_use use = {64, 0, 20, 0};
    wf_caps caps = {.size = sizeof caps};
    wfi_occupancy out;
    const wfi_architecture *g710 = wfi_architecture_named("arm:valhall3");
    assert_false(wfi_architecture_occupancy(g710, NULL, &use, &out));
    assert_false(wfi_architecture_occupancy(g710, &caps, &use, &out));
    caps.unit_subgroups = 64;
    assert_true(wfi_architecture_occupancy(g710, &caps, &use, &out));
    assert_int_equal(out.waves, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found), cmocka_unit_test(targets_are_found),
        cmocka_unit_test(rows_are_whole),  cmocka_unit_test(nvidia_occupancy),
        cmocka_unit_test(amd_occupancy),   cmocka_unit_test(apple_occupancy),
        cmocka_unit_test(small_gpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
