/* vector: as march, several cells a work-item. */
#include "kernels/stencil/rows.h"

static const wfi_parameter parameters[] = {WFI_STENCIL_LOCAL_X(128), WFI_STENCIL_LOCAL_Y(1),
                                           WFI_STENCIL_MARCH(4)};

static const wfi_constraint constraints[] = {WFI_STENCIL_FITS, WFI_STENCIL_FITS_DISPATCH};

/* By times (H200). */
static void fit_by_times(wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool star = p->shape == WF_STENCIL_STAR;
    const uint32_t narrow = 64 / wfi_stencil_width(point);
    if (p->dimensions == 2)
        wfi_stencil_fit_by_times(point, narrow, p->radius == 1 ? 2 : 8);
    else
        wfi_stencil_fit_by_times(point, narrow, star && p->radius < 3 ? 8 : 16);
}

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

/* In two dimensions, whose work-groups are a row: whether a row has fewer vectors than a subgroup
 * has lanes (H200, 64x6106, star of radius 3: 26.2 us, `march` 17.0). */
static bool is_narrow(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    return p->dimensions == 2 && wfi_stencil_goes_by_times(point) &&
           p->nx <= (uint64_t)wfi_stencil_width(point) * (point->caps->subgroup_size - 1);
}

/* Over the bytes of the grid. Where rows do not start where vectors do, cells are loaded one by
 * one, which pays where neighbouring cells share most of what they load (H200, over `march`: stars
 * of f16 and radius 2 in two dimensions 1.04 times, of radius 4 1.16; of f32 there 0.73). */
static double cost_of_loads(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool f16 = point->problem->type == WF_TYPE_F16, star = p->shape == WF_STENCIL_STAR;
    const wfi_stencil_profile *profile = wfi_stencil_profile_of(point->caps);
    const bool wide = p->radius > 3 && !wfi_stencil_goes_by_times(point);
    const bool shares =
        profile->shares_cells &&
        (p->dimensions == 2 ? star && (wide || (f16 && p->radius > 1)) : f16 && p->radius > 3);
    if (is_narrow(point))
        return 3;
    return wfi_stencil_rows_hold_vectors(point) || shares || profile->loads_count ? 2 : 3;
}

static double fit(wfi_point *point)
{
    const wfi_stencil_profile *profile = wfi_stencil_profile_of(point->caps);
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool flat = p->dimensions == 2, f64 = point->problem->type == WF_TYPE_F64;
    /* These an H100 was searched for on 512^3 (bench/notes/stencil.md#machine-code). */
    const bool searched = !flat && wfi_stencil_rows_hold_vectors(point) &&
                          (p->shape == WF_STENCIL_STAR || p->radius == 1);
    if (wfi_stencil_goes_by_times(point) && !searched) {
        fit_by_times(point);
    } else {
        wfi_stencil_fit_group(point, flat && f64 ? profile->flat_f64_items : 256, 64);
        wfi_point_set(point, STENCIL_ID_MARCH, flat && p->radius == 1 ? 2 : 4);
        if (profile->least_groups)
            wfi_stencil_fit_long_columns(point);
        else if (!flat)
            set_solid_columns(point);
        wfi_stencil_shorten_columns(point);
    }
    return wfi_stencil_fit_published(point, wfi_stencil_bytes(point) * cost_of_loads(point)) *
           wfi_stencil_register_cost(point);
}

const wfi_variant wfi_stencil_vector = {
    WFI_STENCIL_ROW(vector, parameters, constraints),
    .summary = "as march, with several cells a work-item and vector loads",
    .source = "",
    .traits = WFI_STENCIL_VECTORS,
    .fit = fit,
    .traffic = wfi_stencil_march_traffic,
};
