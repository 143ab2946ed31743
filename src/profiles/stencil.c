#include "profiles/stencil.h"

#include "core/architectures.h"

/* Measured on an H100, and assumed of every GPU: long columns leave units idle on small grids
 * (bench/notes/stencil.md#small-grids: twice the time), and in two dimensions short ones are faster
 * (bench/notes/stencil.md#machine-code). */
static const wfi_stencil_profile gpu = {.unit_items = 512,
                                        .march_width = 64,
                                        .flat_f64_items = 128,
                                        .fast_shared = true,
                                        .shares_cells = true};

/* By the statistics of Mesa's compiler (ANV 25.0), which spills where a work-item makes several
 * steps in a pass; nobody has timed it. */
static const wfi_stencil_profile intel = {
    .unit_items = 512, .march_width = 64, .flat_f64_items = 128, .most_f64_radius = 2};

/* Likewise (Turnip 25.0, of Adreno 630, where wider boxes spill with planes in registers); assumed
 * of Mali. */
static const wfi_stencil_profile mobile = {.unit_items = 512,
                                           .march_width = 64,
                                           .flat_f64_items = 128,
                                           .most_box_radius = 1,
                                           .fast_shared = true};

/* Likewise (Turnip 25.0, of Adreno 730, 740 and 750): boxes of every radius, border and type keep
 * their planes in at most 188 of the 192 registers of a work-item. */
static const wfi_stencil_profile adreno7 = {
    .unit_items = 512, .march_width = 64, .flat_f64_items = 128, .fast_shared = true};

/* Likewise (V3DV 25.0): planes in registers spill, and so do several cells a work-item. */
static const wfi_stencil_profile videocore = {
    .unit_items = 512, .march_width = 64, .flat_f64_items = 128, .few_registers = true};

/* Processors gain by long columns, of which planes stay in registers or caches
 * (bench/notes/tune.md#time-first). */
#define PROCESSOR .least_groups = 16, .star_march = 256, .flat_f64_items = 256

/* Measured on SwiftShader, and assumed of all drivers for processors but llvmpipe: narrow
 * work-groups are faster (bench/notes/tune.md#time-first), and wide stars by several cells a
 * work-item (bench/notes/stencil.md#processors-f64). */
static const wfi_stencil_profile cpu = {PROCESSOR, .box_march = 32, .march_width = 8,
                                        .shares_cells = true};

/* Measured on lavapipe, which is faster with the work-groups of GPUs, and asks of each lane of each
 * load whether it is inside the buffer (bench/notes/stencil.md#processors-drawn). Of f64 short
 * columns are faster (bench/notes/stencil.md#processors-f64). */
static const wfi_stencil_profile llvmpipe = {PROCESSOR, .box_march = 256, .march_width = 64,
                                             .f64_march = 8, .loads_count = true};

static const wfi_stencil_profile *const profiles[WFI_PROFILE_KINDS] = {
    [WFI_PROFILE_OTHER] = &gpu,           [WFI_PROFILE_CPU] = &cpu,
    [WFI_PROFILE_NVIDIA] = &gpu,          [WFI_PROFILE_AMD] = &gpu,
    [WFI_PROFILE_INTEL] = &intel,         [WFI_PROFILE_MOBILE] = &mobile,
    [WFI_PROFILE_VIDEOCORE] = &videocore,
};

static bool is_adreno7(const wf_caps *caps)
{
    const wfi_architecture *architecture = wfi_architecture_of(caps);
    return architecture && architecture == wfi_architecture_named("qualcomm:adreno7xx");
}

/* Models ask for each point: only phones' GPUs are looked up among the architectures. */
const wfi_stencil_profile *wfi_stencil_profile_of(const wf_caps *caps)
{
    const wfi_profile_kind kind = wfi_profile_kind_of(caps);
    if (kind == WFI_PROFILE_MOBILE && is_adreno7(caps))
        return &adreno7;
    return kind == WFI_PROFILE_CPU && caps->driver_id == VK_DRIVER_ID_MESA_LLVMPIPE
               ? &llvmpipe
               : profiles[kind];
}
