/* planes: 2.5-D blocking through shared memory. Its kernel is that of time with one iteration a
 * pass. */
#include "kernels/himeno/rows.h"

static const wfi_parameter parameters[] = {
    WFI_HIMENO_LOCAL_X(32),   WFI_HIMENO_LOCAL_Y(4), WFI_HIMENO_MARCH(8), WFI_HIMENO_PAD(32),
    WFI_HIMENO_INTERLEAVE(0), WFI_HIMENO_REVERSE,    WFI_HIMENO_OWN_SUMS};

static const wfi_constraint constraints[] = {WFI_HIMENO_FITS, WFI_HIMENO_SHORT_MARCH};

static void constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    (void)point;
    wfi_pipeline_constant(desc, HIMENO_ID_STEPS, 1);
}

static double fit(wfi_point *point)
{
    wfi_himeno_fit_columns(point, 1);
    return wfi_himeno_least_bytes(point->problem) *
           wfi_himeno_profile_of(point->caps)->times.planes;
}

const wfi_variant wfi_himeno_planes = {
    WFI_HIMENO_ROW(time, parameters, constraints),
    .name = "planes",
    .summary = "work-items march along k with three planes of p in shared memory (2.5-D blocking)",
    .source = WFI_HIMENO_MICIKEVICIUS,
    .shared_bytes = wfi_himeno_shared_planes,
    .constants = constants,
    .fit = fit,
    .traffic = wfi_himeno_planes_traffic,
    .build = wfi_himeno_build,
};
