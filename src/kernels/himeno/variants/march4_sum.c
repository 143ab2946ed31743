/* march4_sum: as march4, gosa summed without a tree of barriers. */
#include "kernels/himeno/rows.h"

static const wfi_parameter parameters[] = {WFI_HIMENO_LOCAL_X(32),   WFI_HIMENO_LOCAL_Y(4),
                                           WFI_HIMENO_MARCH(8),      WFI_HIMENO_PAD(32),
                                           WFI_HIMENO_INTERLEAVE(0), WFI_HIMENO_REVERSE};

static const wfi_constraint constraints[] = {WFI_HIMENO_FITS, WFI_HIMENO_SHORT_MARCH,
                                             WFI_HIMENO_PADDED_VECTORS, WFI_HIMENO_SHORT_SUBGROUPS};

/* Faster than march4 on small grids that are not tiny, where an iteration's barriers count. */
static double fit(wfi_point *point)
{
    const wfi_himeno_times *times = &wfi_himeno_profile_of(point->caps)->times;
    const double cells = wfi_himeno_inner_cells(point->problem);
    const bool small = !wfi_himeno_is_tiny(point) && cells < WFI_HIMENO_SMALL_CELLS;
    wfi_himeno_fit_columns(point, 4);
    return wfi_himeno_least_bytes(point->problem) *
           (small ? times->march4_sum_small : times->march4_sum);
}

const wfi_variant wfi_himeno_march4_sum = {
    WFI_HIMENO_ROW(march4_subgroup, parameters, constraints),
    .name = "march4_sum",
    .summary = "as march4, with gosa summed by subgroup reductions",
    .source = "",
    .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT,
    .traits = WFI_HIMENO_VECTORS | WFI_HIMENO_SUBGROUP_SUMS,
    .shared_bytes = wfi_himeno_shared_sums,
    .constants = wfi_himeno_subgroup_constants,
    .fit = fit,
    .traffic = wfi_himeno_march_traffic,
    .build = wfi_himeno_build,
};
