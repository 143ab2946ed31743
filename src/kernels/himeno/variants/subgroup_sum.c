/* subgroup_sum: as naive, gosa summed without a tree of barriers. */
#include "kernels/himeno/rows.h"

static const wfi_parameter parameters[] = {WFI_HIMENO_LOCAL_X(32),   WFI_HIMENO_LOCAL_Y(4),
                                           WFI_HIMENO_LOCAL_Z(1),    WFI_HIMENO_PAD(1),
                                           WFI_HIMENO_INTERLEAVE(0), WFI_HIMENO_REVERSE};

static const wfi_constraint constraints[] = {WFI_HIMENO_FITS, WFI_HIMENO_SHORT_SUBGROUPS};

/* Of the variants that make one iteration a pass the fastest on tiny grids. */
static double fit(wfi_point *point)
{
    const wfi_himeno_profile *profile = wfi_himeno_profile_of(point->caps);
    const bool tiny = wfi_himeno_is_tiny(point);
    wfi_point_set(point, HIMENO_ID_PAD, profile->pad);
    wfi_point_set(point, HIMENO_ID_INTERLEAVE,
                  tiny ? profile->interleave_tiny : profile->interleave);
    wfi_point_set(point, HIMENO_ID_REVERSE, wfi_himeno_goes_back(point));
    if (tiny && profile->dispatch_gaps && point->caps->max_invocations >= 256) {
        const wfi_himeno_problem *p = &point->problem->himeno;
        const uint32_t x = wfi_power_at_least(p->ni - 2, 64);
        wfi_point_set(point, HIMENO_ID_LOCAL_X, x);
        wfi_point_set(point, HIMENO_ID_LOCAL_Y, wfi_power_at_least(p->nj - 2, 256 / x));
    }
    return wfi_himeno_least_bytes(point->problem) *
           (tiny ? profile->times.subgroup_sum_tiny : profile->times.subgroup_sum);
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
