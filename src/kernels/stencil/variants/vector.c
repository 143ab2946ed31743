/* vector: as march, several cells a work-item. */
#include "kernels/stencil/rows.h"

static const wfi_parameter parameters[] = {WFI_STENCIL_LOCAL_X(128), WFI_STENCIL_LOCAL_Y(1),
                                           WFI_STENCIL_MARCH(4)};

static const wfi_constraint constraints[] = {WFI_STENCIL_FITS, WFI_STENCIL_FITS_DISPATCH,
                                             WFI_STENCIL_ROWS_HOLD_VECTORS};

/* Columns in three dimensions are long where planes beyond their ends are many or much work. */
static void set_solid_columns(wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool star = p->shape == WF_STENCIL_STAR;
    if (star && p->radius > 2) {
        wfi_stencil_fit_group(point, 128, 32);
        wfi_point_set(point, STENCIL_ID_MARCH, 32);
    } else if (star && p->radius == 2) {
        wfi_point_set(point, STENCIL_ID_MARCH, 8);
    } else if (star && point->problem->type == WF_TYPE_F16) {
        wfi_stencil_fit_group(point, 128, 32);
        wfi_point_set(point, STENCIL_ID_MARCH, 16);
    } else if (!star && p->radius == 1) {
        wfi_point_set(point, STENCIL_ID_MARCH, 16);
    }
}

static double fit(wfi_point *point)
{
    const wfi_stencil_profile *profile = wfi_stencil_profile_of(point->caps);
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool flat = p->dimensions == 2, f64 = point->problem->type == WF_TYPE_F64;
    wfi_stencil_fit_group(point, flat && f64 ? profile->flat_f64_items : 256, 64);
    wfi_point_set(point, STENCIL_ID_MARCH, flat && p->radius == 1 ? 2 : 4);
    if (profile->least_groups)
        wfi_stencil_fit_long_columns(point);
    else if (!flat)
        set_solid_columns(point);
    wfi_stencil_shorten_columns(point);
    return wfi_stencil_fit_published(point, wfi_stencil_bytes(point) * 2 *
                                                wfi_stencil_register_cost(point));
}

const wfi_variant wfi_stencil_vector = {
    WFI_STENCIL_ROW(vector, parameters, constraints),
    .summary = "as march, with several cells a work-item and vector loads",
    .source = "",
    .traits = WFI_STENCIL_VECTORS,
    .fit = fit,
    .traffic = wfi_stencil_march_traffic,
};
