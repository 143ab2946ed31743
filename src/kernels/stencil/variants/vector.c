/* vector: as march, several cells a work-item. */
#include "kernels/stencil/rows.h"

static const wfi_parameter parameters[] = {WFI_STENCIL_LOCAL_X(128), WFI_STENCIL_LOCAL_Y(1),
                                           WFI_STENCIL_MARCH(4)};

static const wfi_constraint constraints[] = {WFI_STENCIL_FITS, WFI_STENCIL_FITS_DISPATCH};

#define MOST_LONG_ITEMS 2048 /* of a compute unit */

/* Boxes of radius 1, whose cells have nine products of a few loads: columns of 8 are faster where
 * work-items are enough for them, but not where they are many (H200, 2440x2061 12.0 us by columns
 * of 2, 9.9 by 8; 1972x1929 of f16, six steps, 61.6 and 55.3; 3620x4666 41.0 and 44.1). */
static void fit_flat_by_times(wfi_point *point, uint32_t most_x)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool box = p->shape == WF_STENCIL_BOX;
    wfi_stencil_fit_by_times(point, most_x, box || p->radius > 1 ? 8 : 2);
    if (box && p->radius == 1 && wfi_stencil_has_items(point, MOST_LONG_ITEMS))
        wfi_point_set(point, STENCIL_ID_MARCH, 2);
}

/* By times (H200). */
static void fit_by_times(wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const uint32_t narrow = 64 / wfi_stencil_width(point);
    if (p->dimensions == 2)
        fit_flat_by_times(point, narrow);
    else
        wfi_stencil_fit_by_times(point, narrow,
                                 p->shape == WF_STENCIL_STAR && p->radius < 3 ? 8 : 16);
}

#define LEAST_LANES 16

/* Work-groups of so many as wide as `most_x`; in three dimensions smaller and narrower ones where
 * over a tenth fewer work-items then cover a row (H200, 80x22x124 of f64, a star of radius 3: 5.6
 * us by 32x4, 4.9 by 16x8; 636x110x26 of radius 1 in three steps 18.2 by 64x4, 17.2 by 32x4). */
static void fit_lanes(wfi_point *point, uint32_t items, uint32_t most_x)
{
    const wfi_stencil_axes a = wfi_stencil_axes_of(&point->problem->stencil);
    const uint64_t row = wfi_stencil_row_items(point);
    wfi_stencil_fit_group(point, items, most_x);
    if (a.flat || !wfi_stencil_goes_by_times(point))
        return;
    const uint32_t wide = wfi_point_value(point, STENCIL_ID_LOCAL_X, 1);
    uint32_t x = wide;
    for (uint32_t less = x / 2; less >= LEAST_LANES; less /= 2)
        if (10 * wfi_round_up(row, less) < 9 * wfi_round_up(row, x))
            x = less;
    if (x < wide)
        wfi_stencil_fit_group(point, wfi_stencil_items_by_times(point), x);
}

#define LONG_COLUMN_ITEMS 4096 /* of a compute unit */

/* Boxes of radius 1: in f32 columns of 8 planes end together better where work-items are few for
 * columns of 16 (H200, 120x274x187 24.3 us by 16 and 19.5 by 8, 340x144x391 63.6 and 57.2,
 * 376x502x554 264 and 275), as long as groups of 128 fill the device. */
static void set_box_columns(wfi_point *point)
{
    wfi_point shorter = *point;
    wfi_point_set(point, STENCIL_ID_MARCH, 16);
    if (point->problem->type != WF_TYPE_F32 || !wfi_stencil_goes_by_times(point) ||
        wfi_stencil_has_items(point, LONG_COLUMN_ITEMS))
        return;
    fit_lanes(&shorter, wfi_stencil_items_by_times(point), 32);
    wfi_point_set(&shorter, STENCIL_ID_MARCH, 8);
    if (wfi_stencil_has_items(&shorter, wfi_stencil_profile_of(point->caps)->unit_items))
        *point = shorter;
}

/* Columns in three dimensions are long where planes beyond their ends are many or much work; of f64
 * and a radius over 2 columns of 8 were faster (H200, 1022x56x244, radius 4: 127 and 104 us a step,
 * radius 3: 89 and 80). */
static void set_solid_columns(wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool star = p->shape == WF_STENCIL_STAR;
    if (star && p->radius > 2) {
        const bool f64 = point->problem->type == WF_TYPE_F64;
        fit_lanes(point, wfi_stencil_items_by_times(point), 32);
        wfi_point_set(point, STENCIL_ID_MARCH, f64 && wfi_stencil_goes_by_times(point) ? 8 : 32);
    } else if (star && p->radius == 2) {
        wfi_point_set(point, STENCIL_ID_MARCH, 8);
    } else if (star && point->problem->type == WF_TYPE_F16) {
        fit_lanes(point, 128, 32);
        wfi_point_set(point, STENCIL_ID_MARCH, 16);
    } else if (!star && p->radius == 1) {
        set_box_columns(point);
    }
}

/* Whether a row leaves too many lanes without a vector. In two dimensions, whose work-groups are a
 * row, it has fewer vectors than a subgroup has lanes (H200, 64x6106, star of radius 3: 26.2 us,
 * `march` 17.0); in three at most half as many as there are work-items along it (16x754x180,
 * periodic star of radius 3: 39.8 us for two steps, `march` 29.3; 16x300x200, a star of radius 1:
 * 5.2 both). */
static bool is_narrow(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const uint64_t width = wfi_stencil_width(point);
    if (!wfi_stencil_goes_by_times(point))
        return false;
    return p->dimensions == 2 ? p->nx <= width * (point->caps->subgroup_size - 1)
                              : 2 * p->nx <= width * WFI_STENCIL_LEAST_X;
}

#define NARROW_ROW 128 /* cells */

/* Whether `march` is faster in three dimensions where each load costs the same. In f64 it is for
 * stars with a mirrored or periodic border that have radius 4, or radius 2 or 3 and narrow rows. In
 * f32 it is where rows are no whole vectors, for stars of radius 4 and for periodic borders whose
 * rows are half as narrow (bench/notes/stencil.md#processors-f64). */
static bool marches_on_processors(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool star = p->shape == WF_STENCIL_STAR;
    if (!wfi_stencil_profile_of(point->caps)->loads_count || p->dimensions == 2)
        return false;
    if (point->problem->type == WF_TYPE_F64)
        return star && p->border != WF_BORDER_DIRICHLET &&
               (p->radius > 3 || (p->radius > 1 && p->nx < NARROW_ROW));
    return point->problem->type == WF_TYPE_F32 && !wfi_stencil_rows_hold_vectors(point) &&
           ((star && p->radius > 3) || (p->border == WF_BORDER_PERIODIC && p->nx < NARROW_ROW / 2));
}

/* Where cells share what they load: less than `march` has, and more than `naive` where cells are
 * few (H200, 139x16x173 of f16, a star of radius 4: 6.9 us a step, `naive` 4.9). */
#define SHARED_COST 2.15

static bool is_processor(const wfi_point *point)
{
    return wfi_stencil_profile_of(point->caps)->least_groups > 0;
}

/* Whether neighbouring cells share enough of what they load in two dimensions, on devices where
 * that pays. */
static bool shares_a_row(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool f16 = point->problem->type == WF_TYPE_F16, times = wfi_stencil_goes_by_times(point);
    if (p->shape == WF_STENCIL_BOX)
        return p->radius > 1 && is_processor(point);
    return (p->radius > 1 && f16 && !times) || (p->radius > 2 && is_processor(point)) ||
           (p->radius > 3 && (f16 || !times));
}

/* Likewise in three. */
static bool shares_a_plane(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool f16 = point->problem->type == WF_TYPE_F16;
    return p->shape == WF_STENCIL_BOX ? p->radius > 3 && f16
                                      : p->radius > 2 && (f16 || is_processor(point));
}

/* Over the bytes of the grid. Where rows do not start where vectors do, cells are loaded one by
 * one, which pays where neighbouring cells share most of what they load (H200, over `march`: stars
 * of f16 and radius 4 in two dimensions 1.16 times, of radius 3 0.85 to 1.02; in three of radius 3
 * 1.16 to 1.35) and no place is asked for, as with a periodic border (radius 4 in three dimensions
 * 0.87, in two 0.71). On processors that holds of every type (SwiftShader, f32: stars of radius 3
 * in three dimensions 1.03 to 1.26, in two 0.89 to 1.33; boxes of radius 2 in two 1.4 to 1.6;
 * bench/notes/stencil.md#processors-f64). */
static double cost_of_loads(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const wfi_stencil_profile *profile = wfi_stencil_profile_of(point->caps);
    const bool wraps = p->border == WF_BORDER_PERIODIC && wfi_stencil_goes_by_times(point),
               shares = profile->shares_cells && !wraps &&
                        (p->dimensions == 2 ? shares_a_row(point) : shares_a_plane(point));
    if (is_narrow(point) || marches_on_processors(point))
        return 3;
    if (wfi_stencil_rows_hold_vectors(point) || profile->loads_count)
        return 2;
    return shares ? SHARED_COST : 3;
}

#define SHORT_COLUMN_ITEMS 128
#define WIDE_ROW 512

/* Whether columns of f64 are short where the profile has some that are. Grids of two dimensions
 * whose rows are narrow are faster in long ones, and so are boxes of radius 2 and more in three,
 * which load fewer planes in them. */
static bool has_short_columns(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    return point->problem->type == WF_TYPE_F64 &&
           wfi_stencil_profile_of(point->caps)->f64_march > 0 &&
           (p->dimensions == 2 ? p->nx >= NARROW_ROW
                               : p->shape == WF_STENCIL_STAR || p->radius == 1);
}

/* The longest are twice as long for stars that reach far over narrower rows in two dimensions, and
 * in three for boxes and for stars of radius 3 and 4 (bench/notes/stencil.md#processors-f64). */
static void fit_short_columns(wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool longer = p->dimensions == 2 ? p->radius > 1 && p->nx < WIDE_ROW
                                           : p->shape == WF_STENCIL_BOX || p->radius > 2;
    const uint32_t march = wfi_stencil_profile_of(point->caps)->f64_march;
    wfi_stencil_fit_group(point, SHORT_COLUMN_ITEMS, SHORT_COLUMN_ITEMS);
    wfi_point_set(point, STENCIL_ID_MARCH,
                  wfi_even_column(wfi_stencil_axes_of(p).nk, longer ? 2 * march : march));
}

#define FAR_ITEMS 64 /* of a work-group */
/* Of a compute unit, each with four cells: of radius 4, whose columns load more beyond their ends,
 * and of radius 3. */
#define LEAST_ITEMS_OF_4 256
#define LEAST_ITEMS_OF_3 512

/* Whether a star of radius 3 or 4 keeps its work-groups: where long columns fill the device, those
 * of 32, which were searched for on 512^3, or, of cells that are loaded one by one, those of 16
 * (H200, 287x72x647 of f16, radius 3: 305 us for five steps by 16x8 and 16, 352 by 8x8 and 8); and
 * where rows have vectors for 32 lanes, but columns of 8 at most fill it (100x42x478 of radius 4
 * 11.8 us by 32x4, 15.0 by 16x4; 936x27x66 of radius 3 17.5 and 21.0). */
static bool keeps_lanes(const wfi_point *point)
{
    const bool whole = wfi_stencil_rows_hold_vectors(point);
    wfi_point longer = *point;
    fit_lanes(&longer, wfi_stencil_items_by_times(point), 32);
    wfi_point_set(&longer, STENCIL_ID_MARCH, whole ? 32 : 16);
    if (wfi_stencil_has_items(&longer, whole ? LONG_COLUMN_ITEMS : LONG_COLUMN_ITEMS / 4))
        return true;
    wfi_stencil_shorten_columns(&longer);
    return whole && wfi_point_value(&longer, STENCIL_ID_LOCAL_X, 1) == 32 &&
           wfi_point_value(&longer, STENCIL_ID_MARCH, 1) <= 8;
}

/* Stars of radius 3 and 4 that are computed in f32: small work-groups and columns of 8 (H200,
 * 284x310x74 of f16, radius 3, periodic: 37.8 us by 16x8 and 32, 27.6 so; 20x688x983, radius 4:
 * 85.8 and 74.2; 352x617x68, radius 3, three steps: 230 and 172; bench/notes/stencil.md#far-stars),
 * shorter ones while work-items are few (296x75x32, radius 4: 7.7 us by 8, 6.1 by 4). Narrower ones
 * than of 16 do not pay where single elements of f16 are loaded (275x23x558 22.3 us by 16, 24.1 by
 * 8). */
static void fit_far_star(wfi_point *point)
{
    const bool f16 = point->problem->type == WF_TYPE_F16;
    const uint32_t least = point->problem->stencil.radius > 3 ? LEAST_ITEMS_OF_4 : LEAST_ITEMS_OF_3;
    if (f16 && !wfi_stencil_rows_hold_vectors(point))
        wfi_stencil_fit_group(point, FAR_ITEMS, 16);
    else
        wfi_stencil_fit_items(point, FAR_ITEMS, 16);
    wfi_point_set(point, STENCIL_ID_MARCH, 8);
    wfi_stencil_shorten_to(point, 1, least);
}

static double fit(wfi_point *point)
{
    const wfi_stencil_profile *profile = wfi_stencil_profile_of(point->caps);
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool flat = p->dimensions == 2, f64 = point->problem->type == WF_TYPE_F64;
    /* These an H100 was searched for on 512^3 (bench/notes/stencil.md#machine-code). */
    const bool searched = !flat && wfi_stencil_rows_hold_vectors(point) &&
                          (p->shape == WF_STENCIL_STAR || p->radius == 1);
    if (wfi_stencil_is_far_star(point) && !keeps_lanes(point)) {
        fit_far_star(point);
    } else if (wfi_stencil_goes_by_times(point) && !searched) {
        fit_by_times(point);
    } else if (has_short_columns(point)) {
        fit_short_columns(point);
    } else {
        fit_lanes(point, flat && f64 ? profile->flat_f64_items : 256, 64);
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
