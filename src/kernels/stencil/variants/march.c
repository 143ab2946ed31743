/* march: 2.5-D blocking in registers. */
#include "kernels/stencil/rows.h"

static const wfi_parameter parameters[] = {WFI_STENCIL_LOCAL_X(128), WFI_STENCIL_LOCAL_Y(1),
                                           WFI_STENCIL_MARCH(4)};

static const wfi_constraint constraints[] = {WFI_STENCIL_FITS, WFI_STENCIL_FITS_DISPATCH};

/* Columns of eight planes load two or one and a half for each where the stencil reaches far, and
 * twice as long ones a quarter or a sixth less (H200, 631x61x257, star of radius 4: 65.9 and 63.2
 * us; 1641x1328, box of radius 2: 59.4 and 53.5). Of f64 they were slower but for boxes in three
 * dimensions. */
static bool reaches_far(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool solid = p->dimensions == 3, box = wfi_stencil_is_wide_box(point);
    return (solid && box) ||
           (point->problem->type != WF_TYPE_F64 && (box || (solid && p->radius > 3)));
}

#define LONG_COLUMN_ITEMS 1024 /* of a compute unit */

/* In two dimensions columns of eight rows are slower than those of four where work-items are few
 * (H200, 1539x340, star of radius 2: 5.0 and 4.4 us a step), but for boxes of radius 2 and more. */
static void halve_flat_columns(wfi_point *point)
{
    if (point->problem->stencil.dimensions == 2 && !wfi_stencil_is_wide_box(point) &&
        wfi_point_value(point, STENCIL_ID_MARCH, 1) == 8 &&
        !wfi_stencil_has_items(point, LONG_COLUMN_ITEMS))
        wfi_point_set(point, STENCIL_ID_MARCH, 4);
}

#define LONG_BOX_ITEMS 3072 /* of a compute unit */

/* Boxes of radius 1 are faster in columns of 16 planes where work-items are many (H200, f32,
 * 319x628x557 447 us by 8 and 420 by 16, 429x202x153 59.3 and 55.4; 341x469x29 23.2 and 23.6). */
static void lengthen_box_columns(wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    wfi_point longer = *point;
    wfi_point_set(&longer, STENCIL_ID_MARCH, 16);
    if (p->shape == WF_STENCIL_BOX && p->radius == 1 && p->dimensions == 3 &&
        point->problem->type != WF_TYPE_F64 && wfi_stencil_has_items(&longer, LONG_BOX_ITEMS))
        *point = longer;
}

#define FAR_COLUMN 16       /* planes */
#define MANY_FAR_ITEMS 4096 /* of a compute unit, in such columns */
#define LEAST_GROUP_ITEMS 32u

/* Stars of radius 3 and 4: where work-items are few, work-groups of one subgroup end together
 * better, so that columns of 8 pay (H200, 881x24x128 of radius 4, mirrored: 21.1 us by 32x4 and
 * 16, 18.0 by 32x1 and 8; 274x57x172 of radius 4, six steps, 133 and 114). Not with a periodic
 * border (23x282x53 of f16, radius 3: 1.17 of the time), nor in shorter columns (207x52x18 of
 * radius 3 4.6 us by 32x4 and 2, 5.1 by 32x1). Where they are many, columns of 16 pay for radius 3,
 * too (538x147x784, two steps, 640 us by 8, 584 by 16). */
static void fit_far_star(wfi_point *point)
{
    wfi_point longer = *point;
    wfi_point_set(&longer, STENCIL_ID_MARCH, FAR_COLUMN);
    if (wfi_stencil_has_items(&longer, MANY_FAR_ITEMS)) {
        *point = longer;
    } else if (point->problem->stencil.border != WF_BORDER_PERIODIC) {
        const uint32_t lanes = point->caps->subgroup_size;
        wfi_point smaller = *point;
        wfi_stencil_fit_items(&smaller, lanes > LEAST_GROUP_ITEMS ? lanes : LEAST_GROUP_ITEMS, 32);
        wfi_point_set(&smaller, STENCIL_ID_MARCH, 8);
        if (wfi_stencil_has_items(&smaller, wfi_stencil_profile_of(point->caps)->unit_items))
            *point = smaller;
    }
}

static double fit(wfi_point *point)
{
    const wfi_stencil_profile *profile = wfi_stencil_profile_of(point->caps);
    if (wfi_stencil_goes_by_times(point)) {
        wfi_stencil_fit_by_times(point, 32, reaches_far(point) ? 16 : 8);
        halve_flat_columns(point);
        lengthen_box_columns(point);
        if (wfi_stencil_is_far_star(point))
            fit_far_star(point);
    } else {
        wfi_stencil_fit_group(point, 256, profile->march_width);
        wfi_point_set(point, STENCIL_ID_MARCH, 4);
        if (profile->least_groups)
            wfi_stencil_fit_long_columns(point);
        wfi_stencil_shorten_columns(point);
    }
    return wfi_stencil_fit_published(point, wfi_stencil_bytes(point) * 2.2) *
           wfi_stencil_register_cost(point);
}

const wfi_variant wfi_stencil_march = {
    WFI_STENCIL_ROW(march, parameters, constraints),
    .summary = "work-items march along the slowest axis with a star's planes in registers",
    .source = "Micikevicius, 3D finite difference computation on GPUs (GPGPU-2, 2009)",
    .fit = fit,
    .traffic = wfi_stencil_march_traffic,
};
