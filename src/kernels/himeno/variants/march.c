/* march: 2.5-D blocking in registers. */
#include "kernels/himeno/rows.h"
#include "profiles/published.h"

static const wfi_parameter parameters[] = {
    WFI_HIMENO_LOCAL_X(32),   WFI_HIMENO_LOCAL_Y(4), WFI_HIMENO_MARCH(8), WFI_HIMENO_PAD(32),
    WFI_HIMENO_INTERLEAVE(0), WFI_HIMENO_REVERSE,    WFI_HIMENO_OWN_SUMS};

static const wfi_constraint constraints[] = {WFI_HIMENO_FITS, WFI_HIMENO_SHORT_MARCH};

#define NARROW_ROW 16    /* cells that are updated of a row */
#define NARROW_TIME 0.84 /* less than other variants' there: it takes 0.83 to 0.9 of their time */

/* Whether rows are so narrow that vectors of four would leave a subgroup in pieces of many rows
 * (H200, in us by what was chosen and by this: 17x53x555 8.0 and 6.6, 17x313x148 10.5 and 9.2,
 * 16x151x386 14.1 and 12.7, 17x626x119 24.5 and 21.3; bench/notes/himeno.md#narrow). */
static bool has_narrow_rows(const wfi_point *point)
{
    return wfi_himeno_profile_of(point->caps)->dispatch_gaps &&
           !wfi_has_published_units(point->caps) && !wfi_himeno_is_tiny(point) &&
           wfi_himeno_inner_cells(point->problem) < WFI_HIMENO_SMALL_CELLS &&
           point->problem->himeno.ni - 2 <= NARROW_ROW;
}

static void fit_narrow(wfi_point *point)
{
    wfi_point_set(point, HIMENO_ID_LOCAL_X, NARROW_ROW);
    wfi_point_set(point, HIMENO_ID_LOCAL_Y, 8);
    wfi_point_set(point, HIMENO_ID_MARCH, 4);
    wfi_point_set(point, HIMENO_ID_PAD, 1);
    wfi_point_set(point, HIMENO_ID_INTERLEAVE, 0);
    wfi_point_set(point, HIMENO_ID_REVERSE, 1);
}

static double fit(wfi_point *point)
{
    const wfi_himeno_profile *profile = wfi_himeno_profile_of(point->caps);
    wfi_himeno_fit_columns(point, 1);
    if (profile->march_alone) {
        wfi_point_set(point, HIMENO_ID_LOCAL_Y, point->caps->max_invocations < 256 ? 2 : 4);
        wfi_point_set(point, HIMENO_ID_MARCH, profile->march_alone);
    }
    if (has_narrow_rows(point)) {
        fit_narrow(point);
        return wfi_himeno_least_bytes(point->problem) * NARROW_TIME;
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
