/* subgroup_sum: as naive, gosa summed without a tree of barriers. */
#include "core/architectures.h"
#include "kernels/himeno/rows.h"

static const wfi_parameter parameters[] = {WFI_HIMENO_LOCAL_X(32),   WFI_HIMENO_LOCAL_Y(4),
                                           WFI_HIMENO_LOCAL_Z(1),    WFI_HIMENO_PAD(1),
                                           WFI_HIMENO_INTERLEAVE(0), WFI_HIMENO_REVERSE};

static const wfi_constraint constraints[] = {WFI_HIMENO_FITS, WFI_HIMENO_SHORT_SUBGROUPS};

/* Work-items of a compute unit: with more of them columns are faster. Of 17 grids of up to 500,000
 * cells on an H200 (bench/notes/himeno.md#few-items). */
#define FEW_ITEMS 3400

static bool has_few_items(const wfi_point *point)
{
    uint32_t groups[3], size[3];
    wfi_himeno_groups(point, (uint32_t)point->problem->himeno.nk - 2, groups);
    wfi_himeno_group_size(point, size);
    const double items = (double)size[0] * size[1] * size[2];
    return items * groups[0] * groups[1] * groups[2] <= FEW_ITEMS * wfi_units_of(point->caps);
}

/* Of the variants that make one iteration a pass the fastest on tiny grids and with few
 * work-items. */
static double fit(wfi_point *point)
{
    const wfi_himeno_profile *profile = wfi_himeno_profile_of(point->caps);
    const wfi_himeno_times *times = &profile->times;
    const bool tiny = wfi_himeno_is_tiny(point);
    wfi_point_set(point, HIMENO_ID_PAD, profile->pad);
    wfi_point_set(point, HIMENO_ID_INTERLEAVE,
                  tiny ? profile->interleave_tiny : profile->interleave);
    wfi_point_set(point, HIMENO_ID_REVERSE, wfi_himeno_goes_back(point));
    if (profile->dispatch_gaps && tiny && point->caps->max_invocations >= 256)
        wfi_himeno_fit_group(point, 1, 64, 32, 256);
    else if (profile->dispatch_gaps)
        wfi_himeno_fit_group(point, 1, 32, 32, 128);
    return wfi_himeno_least_bytes(point->problem) * (tiny ? times->subgroup_sum_tiny
                                                     : has_few_items(point)
                                                         ? times->subgroup_sum_few
                                                         : times->subgroup_sum);
}

const wfi_variant wfi_himeno_subgroup_sum = {
    WFI_HIMENO_ROW(subgroup, parameters, constraints),
    .name = "subgroup_sum",
    .summary = "as naive, with gosa summed by subgroup reductions",
    .source = "",
    .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT,
    .traits = WFI_HIMENO_SUBGROUP_SUMS,
    .shared_bytes = wfi_himeno_shared_sums,
    .constants = wfi_himeno_subgroup_constants,
    .fit = fit,
    .traffic = wfi_himeno_memory_traffic,
    .build = wfi_himeno_build,
};
