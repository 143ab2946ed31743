/* The architecture table against figures that its sources print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/families.h"
#include "plan/family.h"
#include "model/occupancy.h"
#include "model/peaks.h"

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
        {0x10de, "NVIDIA TITAN X (Pascal)", "nvidia:sm61"},
        {0x10de, "NVIDIA GeForce GTX TITAN X", "nvidia:sm52"},
        {0x10de, "Tesla P100-PCIE-16GB", "nvidia:sm60"},
        {0x10de, "NVIDIA GeForce GTX 750 Ti", "nvidia:sm50"},
        {0x10de, "Tesla K80", "nvidia:sm37"},
        {0x10de, "Tesla K20c", "nvidia:sm35"},
        {0x10de, "GeForce GTX 680", "nvidia:sm30"},
        {0x1002, "AMD Radeon Graphics (RADV NAVI31)", "amd:rdna3"},
        {0x1002, "AMD Radeon RX 6800 XT (RADV NAVI21)", "amd:rdna2"},
        {0x1002, "AMD Radeon RX 580 Series (RADV POLARIS10)", "amd:gcn4"},
        {0x1002, "AMD Unknown (RADV GFX1201)", "amd:rdna4"},
        {0x1002, "AMD Radeon RX Vega (RADV VEGA10)", "amd:gcn5"},
        {0x1002, "AMD Radeon R9 Fury Series (RADV FIJI)", "amd:gcn3"},
        {0x1002, "AMD Radeon 8060S (RADV GFX1151)", "amd:rdna3"},
        {0x1002, "AMD Radeon 890M Graphics (RADV GFX1150)", "amd:rdna3-small"},
        {0x8086, "Intel(R) Arc(TM) A770 Graphics (DG2)", "intel:xe-hpg"},
        {0x8086, "Intel(R) UHD Graphics 630 (CFL GT2)", "intel:gen9-gt2"},
        {0x8086, "Intel(R) HD Graphics 530", "intel:gen9-gt2"},
        {0x8086, "Intel(R) UHD Graphics 605 (GLK 3x6)", "intel:gen9"},
        {0x8086, "Intel(R) HD Graphics 510 (SKL GT1)", "intel:gen9"},
        {0x8086, "Intel(R) Graphics (LNL)", "intel:xe2"},
        {0x5143, "Turnip Adreno (TM) 650", "qualcomm:adreno65x"},
        {0x5143, "Adreno (TM) 740", "qualcomm:adreno7xx"},
        {0x5143, "Adreno (TM) 610", "qualcomm:adreno61x-small"},
        {0x13b5, "Mali-G710", "arm:valhall3"},
        {0x13b5, "Mali-G71", "arm:bifrost4"},
        {0x13b5, "Mali-G78 MP20", "arm:valhall1"},
        {0x106b, "Apple M1 Pro", "apple:m1"},
        {0x14e4, "V3D 7.1.7.0", "broadcom:v3d7"},
        {0x14e4, "V3D 4.2.14.0", "broadcom:v3d"},
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

/* Whatever device was asked for before: by the same object, of a name that ends otherwise, and of
 * another vendor. */
static void devices_take_turns(void **state)
{
    (void)state;
    static const struct {
        uint32_t vendor;
        const char *device, *row; /* NULL: none */
    } cases[] = {
        {0x10de, "Tesla K20c", "nvidia:sm35"},
        {0x10de, "Tesla K20d", "nvidia:sm35"},
        {0x1002, "Tesla K20d", NULL},
        {0x10de, "Tesla K20d", "nvidia:sm35"},
        {0x10de, "", NULL},
        {0, "", NULL},
        {0x10de, "Tesla K80", "nvidia:sm37"},
        {0x13b5, "Mali-G71", "arm:bifrost4"},
        {0x13b5, "Mali-G710", "arm:valhall3"},
        {0x13b5, "Mali-G71", "arm:bifrost4"},
    };
    wf_caps caps = {.size = sizeof caps};
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            caps.vendor_id = cases[i].vendor;
            snprintf(caps.name, sizeof caps.name, "%s", cases[i].device);
            const wfi_architecture *row = wfi_architecture_of(&caps);
            if (cases[i].row ? !row || strcmp(row->name, cases[i].row) != 0 : row != NULL)
                fail_msg("%s: %s", cases[i].device, row ? row->name : "none");
        }
}

/* Each GPU that the tool compiles for without having it is found by the target's name, as by what
 * its driver calls the device. */
static void targets_of_the_tool_are_found(void **state)
{
    static const char *const names[] = {
#define TARGET(name, driver, shim, environment) name,
#include "tool/cli/targets.def"
#undef TARGET
    };
    static const char *const devices[][2] = {{"nvk:turing", "NVIDIA GeForce RTX 2080 (NVK TU104)"},
                                             {"nvk:ampere", "NVIDIA GeForce RTX 3090 (NVK GA102)"},
                                             {"adreno:630", "Turnip Adreno (TM) 630"},
                                             {"adreno:730", "Turnip Adreno (TM) 730"},
                                             {"adreno:740", "Turnip Adreno (TM) 740"},
                                             {"adreno:750", "Turnip Adreno (TM) 750"},
                                             {"mali:g310", "Mali-G310"},
                                             {"mali:g610", "Mali-G610"},
                                             {"v3d:42", "V3D 4.2.14.0"},
                                             {"v3d:71", "V3D 7.1.7.0"},
                                             {"intel:bmg", "Intel(R) Graphics (BMG)"}};
    static const uint32_t vendors[] = {0x10de, 0x10de, 0x5143, 0x5143, 0x5143, 0x5143,
                                       0x13b5, 0x13b5, 0x14e4, 0x14e4, 0x8086};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!wfi_architecture_named(names[i]))
            fail_msg("%s: nothing is found", names[i]);
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        assert_ptr_equal(wfi_architecture_named(devices[i][0]), of(vendors[i], devices[i][1]));
    assert_null(wfi_architecture_named("v3d:"));
    assert_null(wfi_architecture_named("mali:g999"));
}

static void targets_are_found(void **state)
{
    (void)state;
    assert_string_equal(wfi_architecture_named("navi31")->name, "amd:rdna3");
    assert_string_equal(wfi_architecture_named("NAVI21")->name, "amd:rdna2");
    assert_string_equal(wfi_architecture_named("nvidia:sm90")->name, "nvidia:sm90");
    const char *const named[][2] = {
        {"Fermi", "nvidia:sm20"},        {"gtx480", "nvidia:sm20"},
        {"C2075", "nvidia:sm20"},        {"kepler", "nvidia:sm35"},
        {"K20", "nvidia:sm35"},          {"Tesla K80", "nvidia:sm37"},
        {"H100", "nvidia:sm90"},         {"nvidia:h100", "nvidia:sm90"},
        {"sm86", "nvidia:sm86"},         {"RTX 4090", "nvidia:sm89"},
        {"RDNA3", "amd:rdna3"},          {"rdna 2", "amd:rdna2"},
        {"amd:polaris10", "amd:gcn4"},   {"gcn5", "amd:gcn5"},
        {"RX 7900 XTX", "amd:rdna3"},    {"intel:dg2", "intel:xe-hpg"},
        {"intel:skl", "intel:gen9-gt2"}, {"A770", "intel:xe-hpg"},
        {"B580", "intel:xe2"},           {"gen9", "intel:gen9"},
        {"intel:xe-lp", "intel:xe-lp"},  {"RDNA", "amd:rdna1"},
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        const wfi_architecture *row = wfi_architecture_named(named[i][0]);
        if (!row || strcmp(row->name, named[i][1]) != 0)
            fail_msg("%s: %s", named[i][0], row ? row->name : "none");
    }
    assert_null(wfi_architecture_named("nvidia:navi31"));
    assert_null(wfi_architecture_named("gt430"));
    assert_null(wfi_architecture_named("amd:"));
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
        const uint32_t waves = cases[i].simd_waves * 4;
        /* One wave a group takes no barrier, and four waves are one a SIMD. */
        assert_int_equal(
            occupancy(cases[i].row, cases[i].lanes, cases[i].lanes, cases[i].registers, 0).waves,
            waves);
        assert_int_equal(
            occupancy(cases[i].row, cases[i].lanes * 4, cases[i].lanes, cases[i].registers, 0)
                .waves,
            waves);
    }
}

/* Whole sums, worked by hand from the limits that the sources print. */
static void worked_by_hand(void **state)
{
    (void)state;
    const struct {
        const char *row;
        uint32_t group, lanes, registers, shared, groups, waves, most;
        wfi_limiter limiter;
    } cases[] = {
        /* GCN 3, Fiji: 256 registers a lane of 4 SIMDs, in steps of 4. 65 -> 68: 3 waves a SIMD,
         * 12 a unit, 3 groups of 4. */
        {"fiji", 256, 64, 65, 0, 3, 12, 40, WFI_LIMITER_REGISTERS},
        /* 2 waves a group, 16 barriers: 16 groups, 32 of 40 waves; one wave needs no barrier. */
        {"fiji", 128, 64, 24, 0, 16, 32, 40, WFI_LIMITER_GROUPS},
        {"fiji", 64, 64, 24, 0, 40, 40, 40, WFI_LIMITER_NONE},
        /* GCN 5: 84 registers leave 3 waves a SIMD, 12 groups of one. 20000 bytes -> 20480 of
         * 65536: 3 groups of 4 waves. */
        {"amd:gcn5", 64, 64, 84, 0, 12, 12, 40, WFI_LIMITER_REGISTERS},
        {"amd:gcn5", 256, 64, 24, 20000, 3, 12, 40, WFI_LIMITER_SHARED},
        /* RDNA 2: 1024 registers of 32 lanes, in steps of 16 (8 for 64 lanes). 88 x 64 = 5632 of
         * 32768 words: 5 a SIMD, 20 a unit, 5 groups of 4. */
        {"navi21", 256, 64, 88, 0, 5, 20, 64, WFI_LIMITER_REGISTERS},
        /* 2 waves a group, 32 barriers: 32 groups are 64 waves. */
        {"navi21", 64, 32, 32, 0, 32, 64, 64, WFI_LIMITER_NONE},
        {"navi21", 32, 32, 64, 0, 64, 64, 64, WFI_LIMITER_NONE},
        /* RDNA 3: 1536 registers of 32 lanes, in steps of 24 (12 for 64 lanes). 228 x 64 = 14592
         * of 49152 words: 3 a SIMD, 12 a unit, 6 groups of 2. */
        {"navi31", 128, 64, 228, 16640, 6, 12, 64, WFI_LIMITER_REGISTERS},
        /* 40000 bytes -> 40448 of 131072: 3 groups of 8. */
        {"navi31", 256, 32, 96, 40000, 3, 24, 64, WFI_LIMITER_SHARED},
        /* RDNA 3 of the smaller kind: 1024 registers: 228 -> 232 x 64 = 14848 of 32768: 2 a SIMD.
         * */
        {"navi33", 128, 64, 228, 16640, 4, 8, 64, WFI_LIMITER_REGISTERS},
        {"gfx1151", 128, 64, 228, 16640, 6, 12, 64, WFI_LIMITER_REGISTERS},
        /* RDNA 4: 128 -> 144 x 32 = 4608 of 49152 words: 10 a SIMD, 40 a unit, 5 groups of 8. */
        {"amd:rdna4", 256, 32, 128, 0, 5, 40, 64, WFI_LIMITER_REGISTERS},
        /* Fermi, a GTX 480: Himeno's groups of 256 with a tile of 258 x 3 x 3 floats, 9288 -> 9344
         * of 49152 bytes: 5 groups of 8 of 48 warps, the 83 % of its text. */
        {"GTX 480", 256, 32, 20, 9288, 5, 40, 48, WFI_LIMITER_SHARED},
        /* A C2075: 6 warps a group are best: 8 groups, all 48 warps. 1 warp: 8 groups. */
        {"C2075", 192, 32, 20, 0, 8, 48, 48, WFI_LIMITER_NONE},
        {"C2075", 32, 32, 20, 0, 8, 8, 48, WFI_LIMITER_GROUPS},
        /* 25 x 32 -> 832 of 16384 words: 19 a half, 38 warps, 4 groups of 8. */
        {"Fermi", 256, 32, 25, 0, 4, 32, 48, WFI_LIMITER_REGISTERS},
        /* Kepler, a K20: 16 groups of a warp, 512 of 2048 threads, the 25 % of its text; 4 warps a
         * group are all 64. */
        {"Kepler", 32, 32, 30, 0, 16, 16, 64, WFI_LIMITER_GROUPS},
        {"K20", 128, 32, 30, 0, 16, 64, 64, WFI_LIMITER_NONE},
        /* 41 -> 48 x 32 = 1536 of 16384 words: 10 a part, 40 warps, 10 groups of 4. */
        {"K20", 128, 32, 41, 0, 10, 40, 64, WFI_LIMITER_REGISTERS},
        /* A K80 has twice the registers: 128 x 32 = 4096 of 32768: 8 a part, 4 groups of 8. */
        {"K80", 256, 32, 128, 0, 4, 32, 64, WFI_LIMITER_REGISTERS},
        /* Maxwell: 20480 of 98304 bytes: 4 groups of 4. */
        {"GTX 980", 128, 32, 32, 20480, 4, 16, 64, WFI_LIMITER_SHARED},
        /* Pascal, a P100 of two halves: 64 x 32 = 2048 of 32768: 16 a half, 4 groups of 8. */
        {"P100", 256, 32, 64, 0, 4, 32, 64, WFI_LIMITER_REGISTERS},
        {"nvidia:sm61", 256, 32, 64, 0, 4, 32, 64, WFI_LIMITER_REGISTERS},
        /* GCN 4: 8 waves a SIMD. 65 -> 68 x 64 = 4352 of 16384: 3 a SIMD, 3 groups of 4. */
        {"polaris10", 256, 64, 65, 0, 3, 12, 32, WFI_LIMITER_REGISTERS},
        /* CDNA 2: 129 -> 136 x 64 = 8704 of 32768: 3 a SIMD. */
        {"MI250", 256, 64, 129, 0, 3, 12, 32, WFI_LIMITER_REGISTERS},
        /* RDNA 1: 20 waves a SIMD; 60 -> 64 x 32 = 2048 of 32768: 16, 64 of 80, 8 groups of 8. */
        {"navi10", 256, 32, 60, 0, 8, 64, 80, WFI_LIMITER_REGISTERS},
        /* Gen9: 8 engines of 7 threads: 3 groups of 16 threads; 30000 -> 30720 of 65536: 2; groups
         * of one thread: 16. */
        {"gen9", 256, 16, 0, 0, 3, 48, 56, WFI_LIMITER_GROUP_SIZE},
        {"gen9", 256, 16, 0, 30000, 2, 32, 56, WFI_LIMITER_SHARED},
        {"gen9", 16, 16, 0, 0, 16, 16, 56, WFI_LIMITER_GROUPS},
        /* Xe-LP: 16 engines of 7: 3 groups of 32 threads of 8 lanes. */
        {"xe-lp", 256, 8, 0, 0, 3, 96, 112, WFI_LIMITER_GROUP_SIZE},
        /* Xe-HPG: 128 threads of 1024 words; 129 x 8 = 1032 take twice that, and half the threads
         * are left. */
        {"A770", 256, 8, 128, 0, 4, 128, 128, WFI_LIMITER_NONE},
        {"A770", 256, 8, 129, 0, 2, 64, 128, WFI_LIMITER_REGISTERS},
        /* Xe2: 64 threads of 2048 words. */
        {"B580", 256, 16, 128, 0, 4, 64, 64, WFI_LIMITER_NONE},
        {"B580", 256, 16, 129, 0, 2, 32, 64, WFI_LIMITER_REGISTERS},
        {"B580", 512, 16, 64, 50000, 2, 64, 64, WFI_LIMITER_NONE},
        /* Volta: 65 -> 72 x 32 = 2304 of 16384: 7 a partition, 28, 3 groups of 8. */
        {"nvidia:sm70", 256, 32, 65, 0, 3, 24, 64, WFI_LIMITER_REGISTERS},
        /* Turing: 32 warps and 16 groups; 20480 bytes of 65536: 3 groups of 4. */
        {"nvidia:sm75", 32, 32, 32, 0, 16, 16, 32, WFI_LIMITER_GROUPS},
        {"nvidia:sm75", 128, 32, 32, 20480, 3, 12, 32, WFI_LIMITER_SHARED},
        /* Ampere A100: 81920 + 1024 bytes of 167936: 2 groups of 8. */
        {"nvidia:sm80", 256, 32, 32, 81920, 2, 16, 64, WFI_LIMITER_SHARED},
        /* Ada: 48 warps: 1 group of 32. 24 groups of 1. */
        {"nvidia:sm89", 1024, 32, 32, 0, 1, 32, 48, WFI_LIMITER_GROUP_SIZE},
        {"nvidia:sm89", 32, 32, 32, 0, 24, 24, 48, WFI_LIMITER_GROUPS},
        /* Hopper: 218 -> 224 x 32 = 7168 of 16384: 2 a partition, 8, 1 group of 8. */
        {"nvidia:sm90", 256, 32, 218, 24832, 1, 8, 64, WFI_LIMITER_REGISTERS},
        /* Blackwell, B200 (as Hopper) and RTX 50 (as Ada): 40 x 32 = 1280: 12 a partition. */
        {"nvidia:sm100", 256, 32, 40, 0, 6, 48, 64, WFI_LIMITER_REGISTERS},
        {"nvidia:sm120", 256, 32, 40, 0, 6, 48, 48, WFI_LIMITER_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const wfi_occupancy o = occupancy(cases[i].row, cases[i].group, cases[i].lanes,
                                          cases[i].registers, cases[i].shared);
        if (o.groups != cases[i].groups || o.waves != cases[i].waves ||
            o.most_waves != cases[i].most || o.limiter != cases[i].limiter)
            fail_msg("%s, groups of %u: %u groups, %u of %u waves, limiter %d", cases[i].row,
                     cases[i].group, o.groups, o.waves, o.most_waves, (int)o.limiter);
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
    /* VideoCore: a processor has 4 threads with 32 registers, 2 with 64; a work-group of 256 is 16
     * of the threads of all. */
    assert_int_equal(occupancy("broadcom:v3d", 16, 0, 32, 0).waves, 32);
    assert_int_equal(occupancy("broadcom:v3d", 16, 0, 33, 0).waves, 16);
    assert_int_equal(occupancy("broadcom:v3d", 256, 0, 33, 0).groups, 1);
    assert_int_equal(occupancy("broadcom:v3d7", 256, 0, 32, 0).groups, 3);
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

/* What the models take from the table. */
static wf_caps gpu(uint32_t vendor, const char *name)
{
    wf_caps caps = {.size = sizeof caps,
                    .device_type = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
                    .vendor_id = vendor,
                    .max_invocations = 1024,
                    .max_group_size = {1024, 1024, 64},
                    .max_groups = {65535, 65535, 65535},
                    .max_shared_bytes = 49152,
                    .max_push_bytes = 128,
                    .max_storage_buffers = 16,
                    .max_storage_range = UINT32_MAX,
                    .max_buffer = UINT32_MAX,
                    .max_allocation = UINT32_MAX,
                    .available_bytes = UINT64_C(8) << 30,
                    .storage_alignment = 16,
                    .subgroup_size = 32,
                    .f64 = true,
                    .compute_units = 8};
    snprintf(caps.name, sizeof caps.name, "%s", name);
    return caps;
}

static void units_are_told(void **state)
{
    (void)state;
    const wf_caps h100 = gpu(0x10de, "NVIDIA H100 80GB HBM3"), mali = gpu(0x13b5, "Mali-G78");
    wf_caps v3d = gpu(0x14e4, "V3D 7.1.7.0");
    wf_caps unknown = gpu(0x10de, "Something new");
    assert_int_equal(wfi_unit_of(&h100).items, 2048);
    assert_int_equal(wfi_unit_of(&h100).lane_registers, 255);
    assert_false(wfi_unit_of(&h100).shared_is_memory);
    assert_int_equal(wfi_unit_of(&mali).items, 512);
    assert_true(wfi_unit_of(&mali).shared_is_memory);
    assert_int_equal(wfi_unit_of(&v3d).items, 12 * 4 * 16);
    v3d.compute_units = 0;
    assert_int_equal(wfi_units_of(&v3d), 1);
    assert_int_equal(wfi_unit_of(&unknown).items, 0);
    unknown.unit_subgroups = 24; /* what the device says itself */
    assert_int_equal(wfi_unit_of(&unknown).items, 24 * 32);
    assert_int_equal(wfi_units_of(&unknown), 8); /* likewise */
    unknown.compute_units = 0;
    unknown.device_type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    assert_int_equal(wfi_units_of(&unknown), 32);
    unknown.device_type = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    assert_int_equal(wfi_units_of(&unknown), 8);
}

static wfi_point fit(const wf_caps *caps, const wfi_problem *problem, const char *variant,
                     double *time)
{
    const wfi_family *family = wfi_family_get(problem->family);
    wfi_point point = {.caps = caps,
                       .problem = problem,
                       .variant = family->variants[wfi_variant_find(family, variant)]};
    wfi_point_defaults(&point);
    *time = point.variant->fit(&point);
    return point;
}

static uint32_t value(const wfi_point *point, const char *name)
{
    return wfi_point_get(point, wfi_parameter_find(point->variant, name));
}

/* A work-item's sums stay in registers, in f64 too, and where there are many they are used. */
static void tiles_fit_registers(void **state)
{
    (void)state;
    const struct {
        uint32_t vendor;
        const char *device;
        uint32_t registers;
        /* 64 sums a work-item in f32, of `vector`, which needs registers besides, and `register`,
         * whose blocks of 8 x 8 spill on Xe2 */
        bool large, large_register;
    } cases[] = {{0x10de, "NVIDIA H100 80GB HBM3", 255, true, true},
                 {0x1002, "AMD Radeon RX 7900 XTX (RADV NAVI31)", 256, true, true},
                 {0x5143, "Adreno (TM) 740", 192, false, true},
                 {0x8086, "Intel(R) Arc(TM) A770 Graphics (DG2)", 128, false, false},
                 {0x13b5, "Mali-G78", 64, false, false},
                 {0x14e4, "V3D 7.1.7.0", 64, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int wide = 0; wide < 4; wide++) {
            /* Blocks of 16 sums in f64 spill where a work-item has 128 registers. */
            if (wide == 1 && cases[i].registers <= 128)
                continue;
            const wf_caps caps = gpu(cases[i].vendor, cases[i].device);
            const wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                                         .type = wide % 2 ? WF_TYPE_F64 : WF_TYPE_F32,
                                         .matmul = wfi_matmul_plain(4096, 4096, 4096)};
            double time;
            const wfi_point p = fit(&caps, &problem, wide < 2 ? "vector" : "register", &time);
            const uint32_t m = value(&p, "thread_m"), n = value(&p, "thread_n");
            if (!(time > 0) || !wfi_point_legal(&p, NULL))
                fail_msg("%s: no %s%s", cases[i].device, wide < 2 ? "vector" : "register",
                         wide % 2 ? " in f64" : "");
            if ((m * n + m + n) * (wide % 2 ? 2 : 1) > cases[i].registers)
                fail_msg("%s: %u x %u sums a work-item", cases[i].device, m, n);
            if (wide % 2 == 0)
                assert_true((m * n >= 64) == (wide ? cases[i].large_register : cases[i].large));
        }
}

/* Several iterations a pass live from shared memory that is faster than memory. */
static void shared_memory_must_be_some(void **state)
{
    (void)state;
    const wfi_problem himeno = {.family = WF_FAMILY_HIMENO, .himeno = {257, 129, 129}};
    const wfi_problem grid = {.family = WF_FAMILY_STENCIL,
                              .stencil = {.nx = 4096,
                                          .ny = 4096,
                                          .nz = 1,
                                          .row_stride = 4096,
                                          .dimensions = 2,
                                          .radius = 1,
                                          .steps = 8}};
    const struct {
        uint32_t vendor;
        const char *device;
        bool pays;
    } cases[] = {{0x10de, "NVIDIA H100 80GB HBM3", true},
                 {0x10de, "Something new", true},
                 {0x13b5, "Mali-G78", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const wf_caps caps = gpu(cases[i].vendor, cases[i].device);
        double time, single;
        fit(&caps, &himeno, "time", &time);
        fit(&caps, &himeno, "march4", &single);
        assert_true((time < single) == cases[i].pays);
        fit(&caps, &grid, "time", &time);
        fit(&caps, &grid, "vector", &single);
        assert_true((time < single) == cases[i].pays);
    }
}

/* The least set of writes and copies: what the device has under way. */
static void written_sets_have_a_least(void **state)
{
    (void)state;
    wf_caps caps = gpu(0x10de, "NVIDIA H100 80GB HBM3");
    caps.compute_units = 132;
    assert_int_equal(wfi_peak_least_written(&caps), 2 * 132 * 2048 * 16);
    assert_int_equal(wfi_peak_groups(&caps), 132 * 8 * 4);
    caps = gpu(0x14e4, "V3D 7.1.7.0");
    assert_int_equal(wfi_peak_least_written(&caps), 2 * 8 * 768 * 16);
    caps.device_type = VK_PHYSICAL_DEVICE_TYPE_CPU;
    assert_int_equal(wfi_peak_least_written(&caps), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(devices_take_turns),
        cmocka_unit_test(targets_are_found),
        cmocka_unit_test(targets_of_the_tool_are_found),
        cmocka_unit_test(rows_are_whole),
        cmocka_unit_test(nvidia_occupancy),
        cmocka_unit_test(amd_occupancy),
        cmocka_unit_test(worked_by_hand),
        cmocka_unit_test(apple_occupancy),
        cmocka_unit_test(small_gpus),
        cmocka_unit_test(units_are_told),
        cmocka_unit_test(tiles_fit_registers),
        cmocka_unit_test(shared_memory_must_be_some),
        cmocka_unit_test(written_sets_have_a_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
