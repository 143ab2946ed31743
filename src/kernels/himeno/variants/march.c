/* march: 2.5-D blocking in registers. */
#include "kernels/himeno/rows.h"

static const wfi_parameter parameters[] = {
    WFI_HIMENO_LOCAL_X(32),   WFI_HIMENO_LOCAL_Y(4), WFI_HIMENO_MARCH(8), WFI_HIMENO_PAD(32),
    WFI_HIMENO_INTERLEAVE(0), WFI_HIMENO_REVERSE,    WFI_HIMENO_OWN_SUMS};

static const wfi_constraint constraints[] = {WFI_HIMENO_FITS, WFI_HIMENO_SHORT_MARCH};

static double fit(wfi_point *point)
{
    const wfi_himeno_profile *profile = wfi_himeno_profile_of(point->caps);
    wfi_himeno_fit_columns(point, 1);
    if (profile->march_alone) {
        wfi_point_set(point, HIMENO_ID_LOCAL_Y, point->caps->max_invocations < 256 ? 2 : 4);
        wfi_point_set(point, HIMENO_ID_MARCH, profile->march_alone);
    }
    return wfi_himeno_least_bytes(point->problem) * profile->times.march;
}

const wfi_variant wfi_himeno_march = {
    WFI_HIMENO_ROW(march, parameters, constraints),
    .name = "march",
    .summary = "work-items march along k with three planes of p in registers",
    .source = WFI_HIMENO_MICIKEVICIUS,
    .shared_bytes = wfi_himeno_shared_sums,
    .fit = fit,
    .traffic = wfi_himeno_march_traffic,
    .build = wfi_himeno_build,
};
