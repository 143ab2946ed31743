/* What the variants' models share. */
#include <math.h>

#include "core/architectures.h"
#include "core/arithmetic.h"
#include "kernels/stencil/rows.h"
#include "profiles/published.h"

double wfi_stencil_bytes(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    return (double)wf_type_size(point->problem->type) * (double)wfi_stencil_elements(p) * p->steps;
}

uint64_t wfi_stencil_row_items(const wfi_point *point)
{
    const uint32_t width = wfi_stencil_width(point);
    return (wfi_stencil_axes_of(&point->problem->stencil).ni + width - 1) / width;
}

void wfi_stencil_fit_group(wfi_point *point, uint32_t items, uint32_t most_x)
{
    if (items > point->caps->max_invocations)
        items = point->caps->max_invocations;
    const wfi_stencil_axes a = wfi_stencil_axes_of(&point->problem->stencil);
    const uint32_t x = wfi_power_at_least(wfi_stencil_row_items(point), a.flat ? items : most_x);
    const uint32_t wide = x < WFI_STENCIL_LEAST_X ? WFI_STENCIL_LEAST_X : x;
    wfi_point_set(point, STENCIL_ID_LOCAL_X, wide);
    wfi_point_set(point, STENCIL_ID_LOCAL_Y, a.flat ? 1 : wfi_power_at_least(a.nj, items / wide));
}

bool wfi_stencil_has_items(const wfi_point *point, uint32_t unit_items)
{
    const double groups = wfi_stencil_group_count(point);
    uint32_t size[3];
    wfi_stencil_group_size(point, size);
    const double busy = groups * size[0] * size[1] * size[2];
    return busy >= unit_items * (double)wfi_units_of(point->caps);
}

/* Whether the point's work-groups give every compute unit what it should have at least to do. */
static bool fills_device(const wfi_point *point)
{
    const uint32_t unit_items = wfi_stencil_profile_of(point->caps)->unit_items;
    return unit_items == 0 || wfi_stencil_group_count(point) == 0 ||
           wfi_stencil_has_items(point, unit_items);
}

/* Each column of theirs loads `radius` planes more on either side (H200, 82x32x49 of radius 2:
 * 17.2 us by columns of 4 and groups of 128x1, 30.6 by columns of 2 and 64x4). In two dimensions
 * single rows are faster all the same where columns of 4 leave most of a device empty (546x217 of
 * f64, radius 2: 4.8 us by columns of 4, 3.5 by rows), but not rows by two (1912x442 48.9 us for
 * eight steps by columns of 4, 52.4 by 2). */
#define SHORTEST_OF_WIDE_BOXES 4
#define MOST_ITEMS_OF_ROWS 384 /* of a compute unit, in columns of 4 */

bool wfi_stencil_is_wide_box(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    return !wfi_stencil_profile_of(point->caps)->least_groups && p->shape == WF_STENCIL_BOX &&
           p->radius > 1;
}

void wfi_stencil_shorten_to(wfi_point *point, uint32_t shortest, uint32_t unit_items)
{
    for (uint32_t march = wfi_point_value(point, STENCIL_ID_MARCH, 1);
         march > shortest && !wfi_stencil_has_items(point, unit_items); march /= 2)
        wfi_point_set(point, STENCIL_ID_MARCH, march / 2);
}

void wfi_stencil_shorten_columns(wfi_point *point)
{
    const bool wide = wfi_stencil_is_wide_box(point);
    wfi_stencil_shorten_to(point, wide ? SHORTEST_OF_WIDE_BOXES : 1,
                           wfi_stencil_profile_of(point->caps)->unit_items);
    if (wide && point->problem->stencil.dimensions == 2 &&
        !wfi_stencil_has_items(point, MOST_ITEMS_OF_ROWS))
        wfi_point_set(point, STENCIL_ID_MARCH, 1);
}

bool wfi_stencil_goes_by_times(const wfi_point *point)
{
    return !wfi_stencil_profile_of(point->caps)->least_groups &&
           !wfi_has_published_units(point->caps);
}

/* Over 30 drawn grids an H200 was fastest with these (bench/notes/stencil.md#uniform). */
#define ITEMS_BY_TIMES 128

/* Twice as many, of which a compiler lets each have half as many registers, where a work-item has
 * nine planes of f64 vectors, or beside nine planes the places of sixteen neighbours, which a
 * periodic border makes numbers of their own (H200, 631x61x257 of f32, columns of 16: 85 us by
 * groups of 128, 62 so). */
uint32_t wfi_stencil_items_by_times(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool vectors = wfi_stencil_width(point) > 1, f64 = point->problem->type == WF_TYPE_F64,
               many = vectors
                          ? f64
                          : p->border == WF_BORDER_PERIODIC && point->problem->type != WF_TYPE_F16;
    const bool star = p->shape == WF_STENCIL_STAR && p->dimensions == 3 && p->radius > 3;
    return star && many && wfi_stencil_goes_by_times(point) ? 2 * ITEMS_BY_TIMES : ITEMS_BY_TIMES;
}

/* Work-items of work-groups of `items`, x of them along a row, that cover a plane. */
static uint64_t covering_items(uint64_t row, uint64_t rows, uint32_t x, uint32_t items)
{
    return wfi_round_up(row, x) * wfi_round_up(rows, wfi_power_at_least(rows, items / x));
}

void wfi_stencil_fit_items(wfi_point *point, uint32_t items, uint32_t most_x)
{
    const wfi_stencil_axes a = wfi_stencil_axes_of(&point->problem->stencil);
    const uint32_t width = wfi_stencil_width(point);
    const uint64_t row = wfi_stencil_row_items(point);
    wfi_stencil_fit_group(point, items, most_x);
    uint32_t x = wfi_point_value(point, STENCIL_ID_LOCAL_X, 1);
    /* Half as wide and twice as tall where a tenth fewer work-items then cover a plane, down to two
     * sectors of a cache, since a row begins anywhere (H100, 65x194x150, a box of radius 1: 67.6 us
     * by groups of 8x16, 51.2 by 16x4; H200, 275x23x558 of f16, a star of radius 3: 27.8 us a step
     * by 8x16, 21.7 by 16x8). */
    while (!a.flat && x > 8 && x * width > 16 &&
           wfi_saves_a_tenth(covering_items(row, a.nj, x / 2, items),
                             covering_items(row, a.nj, x, items)))
        x /= 2;
    if (!a.flat)
        wfi_stencil_fit_group(point, items, x);
}

void wfi_stencil_fit_by_times(wfi_point *point, uint32_t most_x, uint32_t march)
{
    const uint64_t row = wfi_stencil_row_items(point);
    const bool flat = point->problem->stencil.dimensions == 2;
    /* In two dimensions one work-group has the row where it can, so that no halo is loaded twice
     * (H200, 161x2717, a star of radius 1: 4.0 us by groups of 128 and columns of 4, 3.7 by 256;
     * 268x5198 of f64, a box of radius 2: 12.4 and 9.7 by columns of 8). */
    const bool spans = flat && row > ITEMS_BY_TIMES && row <= 2 * ITEMS_BY_TIMES;
    wfi_stencil_fit_items(point, spans ? 2 * ITEMS_BY_TIMES : wfi_stencil_items_by_times(point),
                          most_x);
    wfi_point_set(point, STENCIL_ID_MARCH, march);
    wfi_stencil_shorten_columns(point);
}

bool wfi_stencil_is_far_star(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    return wfi_stencil_goes_by_times(point) && p->shape == WF_STENCIL_STAR && p->dimensions == 3 &&
           p->radius > 2 && point->problem->type != WF_TYPE_F64;
}

#define SHORTEST_LONG_COLUMNS 32

void wfi_stencil_fit_long_columns(wfi_point *point)
{
    const wfi_stencil_profile *profile = wfi_stencil_profile_of(point->caps);
    const wfi_stencil_problem *p = &point->problem->stencil;
    const uint64_t planes = wfi_stencil_axes_of(p).nk;
    uint32_t march = p->shape == WF_STENCIL_STAR ? profile->star_march : profile->box_march;
    do
        wfi_point_set(point, STENCIL_ID_MARCH, march);
    while (wfi_stencil_columns(point) * ((planes + march - 1) / march) < profile->least_groups &&
           (march /= 2) >= SHORTEST_LONG_COLUMNS);
    /* Several columns get as many planes each: llvmpipe gives each thread as many work-groups, the
     * first of them all to one thread, and another would have the short columns alone (lavapipe,
     * two threads, 249x136x37, a box of radius 1: 18.5 ms by columns of 32 and 5 planes, 11.0 by 19
     * and 18). */
    const uint32_t longest = wfi_point_value(point, STENCIL_ID_MARCH, 1);
    wfi_point_set(point, STENCIL_ID_MARCH, wfi_even_column(planes, longest));
}

bool wfi_stencil_has_fast_shared(const wfi_point *point)
{
    return wfi_stencil_profile_of(point->caps)->fast_shared &&
           !wfi_unit_of(point->caps).shared_is_memory;
}

double wfi_stencil_register_cost(const wfi_point *point)
{
    const wfi_stencil_profile *profile = wfi_stencil_profile_of(point->caps);
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool f64 = point->problem->type == WF_TYPE_F64, box = p->shape == WF_STENCIL_BOX;
    const bool deep = (f64 && profile->most_f64_radius && p->radius > profile->most_f64_radius) ||
                      (box && profile->most_box_radius && p->radius > profile->most_box_radius);
    return profile->few_registers || (deep && p->dimensions == 3) ? 4 : 1;
}

void wfi_stencil_set_values(wfi_point *point, const wfi_stencil_values *v)
{
    wfi_point_set(point, STENCIL_ID_LOCAL_X, v->x);
    wfi_point_set(point, STENCIL_ID_LOCAL_Y, v->y);
    wfi_point_set(point, STENCIL_ID_ROWS, v->rows);
    wfi_point_set(point, STENCIL_ID_MARCH, v->march);
    wfi_point_set(point, STENCIL_ID_STEPS, v->steps);
}

const wfi_stencil_values *wfi_stencil_set_filling(wfi_point *point,
                                                  const wfi_stencil_values *values, size_t count)
{
    const wfi_stencil_values *shortest = NULL;
    for (size_t i = 0; i < count; i++) {
        wfi_stencil_set_values(point, &values[i]);
        const bool legal = wfi_point_legal(point, NULL);
        if (legal && fills_device(point))
            return &values[i];
        if (legal && (!shortest || values[i].march < shortest->march))
            shortest = &values[i];
    }
    const wfi_stencil_values *v = shortest ? shortest : &values[count - 1];
    wfi_stencil_set_values(point, v);
    return v;
}
