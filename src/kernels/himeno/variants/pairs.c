/* pairs: as march4, for drivers of processors, whose loads cost by their number. */
#include "kernels/himeno/rows.h"

static const wfi_parameter parameters[] = {
    WFI_HIMENO_LOCAL_X(32),   WFI_HIMENO_LOCAL_Y(4), WFI_HIMENO_MARCH(8), WFI_HIMENO_PAD(32),
    WFI_HIMENO_INTERLEAVE(0), WFI_HIMENO_REVERSE,    WFI_HIMENO_OWN_SUMS};

static const wfi_constraint constraints[] = {WFI_HIMENO_FITS, WFI_HIMENO_SHORT_MARCH,
                                             WFI_HIMENO_PADDED_VECTORS};

/* Long columns have the fewest loads, where there are enough of them for all cores. */
static double fit(wfi_point *point)
{
    const wfi_himeno_profile *profile = wfi_himeno_profile_of(point->caps);
    wfi_himeno_fit_columns(point, 4);
    if (profile->pairs_march && wfi_himeno_inner_cells(point->problem) > WFI_HIMENO_SMALL_CELLS)
        wfi_point_set(point, HIMENO_ID_MARCH, profile->pairs_march);
    return wfi_himeno_least_bytes(point->problem) * profile->times.pairs;
}

const wfi_variant wfi_himeno_pairs = {
    WFI_HIMENO_ROW(pairs, parameters, constraints),
    .name = "pairs",
    .summary = "as march4, with loads of 64-bit words, which CPU drivers make one by one",
    .source = "",
    .needs = WFI_NEEDS_INT64,
    .traits = WFI_HIMENO_VECTORS,
    .shared_bytes = wfi_himeno_shared_sums,
    .fit = fit,
    .traffic = wfi_himeno_march_traffic,
    .build = wfi_himeno_build,
};
