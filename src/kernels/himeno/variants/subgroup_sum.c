/* subgroup_sum: as naive, gosa summed without a tree of barriers. */
#include "core/architectures.h"
#include "kernels/himeno/rows.h"

static const wfi_parameter parameters[] = {WFI_HIMENO_LOCAL_X(32),   WFI_HIMENO_LOCAL_Y(4),
                                           WFI_HIMENO_LOCAL_Z(1),    WFI_HIMENO_PAD(1),
                                           WFI_HIMENO_INTERLEAVE(0), WFI_HIMENO_REVERSE};

static const wfi_constraint constraints[] = {WFI_HIMENO_FITS, WFI_HIMENO_SHORT_SUBGROUPS};

/* Where caches hold the arrays, columns are faster if a compute unit has more work-items than this
 * (17 grids of up to 500,000 cells on an H200, bench/notes/himeno.md#few-items). */
#define FEW_ITEMS 3400

static bool has_few_items(const wfi_point *point, const uint32_t groups[3], const uint32_t size[3])
{
    const double items = (double)size[0] * size[1] * size[2];
    return items * groups[0] * groups[1] * groups[2] <= FEW_ITEMS * wfi_units_of(point->caps);
}

/* Beyond caches columns are slower if at least this share of this variant's work-items has a
 * cell. */
#define LEAST_BUSY 0.8

/* Whether the variant is faster than columns on a grid that is not tiny. */
static bool outruns_columns(const wfi_point *point)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    uint32_t groups[3], size[3];
    wfi_himeno_groups(point, (uint32_t)p->nk - 2, groups);
    wfi_himeno_group_size(point, size);
    const double covered = (double)groups[0] * size[0] * groups[1] * size[1];
    return has_few_items(point, groups, size) ||
           (wfi_himeno_is_beyond_caches(point) &&
            (p->ni - 2.0) * (p->nj - 2.0) >= LEAST_BUSY * covered);
}

static void fit_group(wfi_point *point, bool tiny)
{
    const uint64_t rows = point->problem->himeno.nj - 2;
    const bool large = point->caps->max_invocations >= 256;
    if (tiny && large) {
        wfi_himeno_fit_group(point, 1, 64, 32, 256);
        return;
    }
    /* Beyond caches groups have eight rows, unless groups of four have a tenth fewer
     * work-items. */
    const bool tall = large && wfi_himeno_is_beyond_caches(point) &&
                      !wfi_saves_a_tenth(wfi_round_up(rows, 4), wfi_round_up(rows, 8));
    wfi_himeno_fit_group(point, 1, 32, 32, tall ? 256 : 128);
}

/* This variant is the fastest of those that make one iteration a pass on tiny grids, where
 * work-items are few, and where caches do not hold the arrays. */
static double fit(wfi_point *point)
{
    const wfi_himeno_profile *profile = wfi_himeno_profile_of(point->caps);
    const wfi_himeno_times *times = &profile->times;
    const bool tiny = wfi_himeno_is_tiny(point);
    wfi_point_set(point, HIMENO_ID_PAD, profile->pad);
    wfi_point_set(point, HIMENO_ID_INTERLEAVE,
                  tiny ? profile->interleave_tiny : profile->interleave);
    if (profile->dispatch_gaps)
        fit_group(point, tiny);
    wfi_point_set(point, HIMENO_ID_REVERSE, wfi_himeno_goes_back(point));
    const double time = tiny                     ? times->subgroup_sum_tiny
                        : outruns_columns(point) ? times->subgroup_sum_small
                                                 : times->subgroup_sum;
    return wfi_himeno_least_bytes(point->problem) * time;
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
