/* march4: as march, four cells a work-item. */
#include "kernels/himeno/rows.h"

static const wfi_parameter parameters[] = {
    WFI_HIMENO_LOCAL_X(32),   WFI_HIMENO_LOCAL_Y(4), WFI_HIMENO_MARCH(8), WFI_HIMENO_PAD(32),
    WFI_HIMENO_INTERLEAVE(0), WFI_HIMENO_REVERSE,    WFI_HIMENO_OWN_SUMS};

static const wfi_constraint constraints[] = {WFI_HIMENO_FITS, WFI_HIMENO_SHORT_MARCH,
                                             WFI_HIMENO_PADDED_VECTORS};

/* The times of other variants are over this one's. */
static double fit(wfi_point *point)
{
    wfi_himeno_fit_columns(point, 4);
    return wfi_himeno_least_bytes(point->problem);
}

const wfi_variant wfi_himeno_march4 = {
    WFI_HIMENO_ROW(march4, parameters, constraints),
    .name = "march4",
    .summary = "as march, with four cells a work-item and vec4 loads",
    .source = "",
    .traits = WFI_HIMENO_VECTORS,
    .shared_bytes = wfi_himeno_shared_sums,
    .fit = fit,
    .traffic = wfi_himeno_march_traffic,
    .build = wfi_himeno_build,
};
