#include "profiles/himeno.h"

/* Measured on an H100 (bench/notes/himeno.md), and assumed of every GPU. Its big cache joins the
 * planes of neighbouring work-groups, so that columns pay only on grids whose planes outgrow it, or
 * to have fewer work-groups on small ones. Subgroup sums need no tree of barriers, which is 15 % of
 * a pass on tiny grids and 3 % at size S. */
#define GPU                                                                                        \
    .pad = 32, .interleave = 65536, .interleave_tiny = 64, .dispatch_gaps = true,                  \
    .caches_planes = true
#define GPU_TIMES                                                                                  \
    .naive = 2.0, .naive_tiny = 0.9, .subgroup_sum = 1.1, .subgroup_sum_tiny = 0.85,               \
    .subgroup_sum_small = 0.96, .march4_sum = 1.3, .march4_sum_small = 0.97, .pairs = 1.6,         \
    .texels = 10, .planes = 1.5
static const wfi_himeno_profile gpu = {
    GPU,
    .fast_shared = true,
    .columns = {{128, 32, 2, 2}, {256, 32, 4, 1}, {128, 64, 16, 16}},
    .times = {GPU_TIMES, .march = 1.2},
};

/* By the statistics of RADV's compiler (25.0), which spills with 64 registers, and data sheets: a
 * work-group processor has 8.0 bytes a clock on a 7900 XTX, 5.7 on a 6900 XT. */
static const wfi_himeno_profile amd = {
    GPU,
    .fast_shared = true,
    .deep_registers = 72,
    .unit_bytes = 8,
    .columns = {{128, 32, 2, 2}, {256, 32, 4, 1}, {128, 64, 16, 16}},
    .times = {GPU_TIMES, .march = 1.2},
};

/* By the statistics of Mesa's compiler (ANV 25.0), which spills where a work-item makes several
 * iterations in a pass; nobody has timed it. */
static const wfi_himeno_profile intel = {
    GPU,
    .fast_shared = false,
    .columns = {{128, 32, 2, 2}, {256, 32, 4, 1}, {128, 64, 16, 16}},
    .times = {GPU_TIMES, .march = 1.2},
};

/* Likewise (V3DV 25.0): four cells a work-item spill, one does not. */
static const wfi_himeno_profile videocore = {
    GPU,
    .columns = {{128, 32, 2, 2}, {256, 32, 4, 1}, {128, 64, 16, 16}},
    .times = {GPU_TIMES, .march = 0.8},
};

/* A processor pays for each work-group, for each barrier in it and for each load, and its shared
 * memory is ordinary memory. Long columns of `pairs` have the fewest loads. */
#define PROCESSOR                                                                                  \
    .pad = 4, .interleave = 32, .interleave_tiny = 32, .slow_barriers = true, .pairs_march = 32,   \
    .columns = {{256, 64, 8, 8}, {256, 64, 8, 8}, {256, 64, 8, 8}}
#define PROCESSOR_TIMES                                                                            \
    .naive = 2.0, .naive_tiny = 2.0, .subgroup_sum = 2.0, .subgroup_sum_tiny = 2.0,                \
    .subgroup_sum_small = 2.0, .march4_sum = 1.3, .march4_sum_small = 1.3, .pairs = 0.8,           \
    .planes = 4

/* Measured on SwiftShader, and assumed of all drivers for processors but llvmpipe: vectors gain
 * nothing, and long columns keep most of their planes (bench/notes/himeno.md#all-sizes). */
static const wfi_himeno_profile cpu = {PROCESSOR, .march_alone = 64,
                                       .times = {PROCESSOR_TIMES, .march = 0.75, .texels = 10}};

/* Measured on lavapipe: `pairs` is 1.26 times as fast as march4 at size M, and llvmpipe fetches a
 * texel of four words for less than it loads one word, so that `texels` is 2 to 2.5 times as fast
 * as `pairs`. */
static const wfi_himeno_profile llvmpipe = {
    PROCESSOR, .times = {PROCESSOR_TIMES, .march = 1.2, .texels = 0.5}};

static const wfi_himeno_profile *const profiles[WFI_PROFILE_KINDS] = {
    [WFI_PROFILE_OTHER] = &gpu,           [WFI_PROFILE_CPU] = &cpu,
    [WFI_PROFILE_NVIDIA] = &gpu,          [WFI_PROFILE_AMD] = &amd,
    [WFI_PROFILE_INTEL] = &intel,         [WFI_PROFILE_MOBILE] = &gpu,
    [WFI_PROFILE_VIDEOCORE] = &videocore,
};

const wfi_himeno_profile *wfi_himeno_profile_of(const wf_caps *caps)
{
    const wfi_profile_kind kind = wfi_profile_kind_of(caps);
    return kind == WFI_PROFILE_CPU && caps->driver_id == VK_DRIVER_ID_MESA_LLVMPIPE
               ? &llvmpipe
               : profiles[kind];
}
