/* What the models of Himeno's variants share. */
#include <math.h>

#include "core/architectures.h"
#include "core/arithmetic.h"
#include "kernels/himeno/rows.h"
#include "profiles/published.h"

double wfi_himeno_fit_step(wfi_point *point)
{
    return wfi_himeno_least_bytes(point->problem) * 10;
}

#define TINY_CELLS 1e5
#define TINY_UNIT_CELLS 1e3 /* of a compute unit: fewer than it has work-items under way */

bool wfi_himeno_is_tiny(const wfi_point *point)
{
    const double cells = wfi_himeno_inner_cells(point->problem);
    return cells < TINY_CELLS || cells < TINY_UNIT_CELLS * wfi_units_of(point->caps);
}

void wfi_himeno_fit_pad(wfi_point *point, uint32_t least)
{
    const uint32_t pad = wfi_himeno_profile_of(point->caps)->pad;
    const uint64_t inner = point->problem->himeno.ni - 2;
    const bool wastes = 20 * wfi_round_up(inner, pad) > 21 * inner;
    wfi_point_set(point, HIMENO_ID_PAD, wastes && least < pad ? least : pad);
}

/* Work-items that a compute unit wants, to have something to do while others wait. */
#define UNIT_ITEMS 256

/* Halves columns where work-items would be too few. */
static void shorten_columns(wfi_point *point, uint32_t width)
{
    const double rows = wfi_himeno_inner_cells(point->problem) / width,
                 wanted = (double)UNIT_ITEMS * wfi_units_of(point->caps);
    uint32_t march = wfi_point_value(point, HIMENO_ID_MARCH, 1);
    while (march > 1 && rows / march < wanted)
        march /= 2;
    wfi_point_set(point, HIMENO_ID_MARCH, march);
}

/* Whether caches hold a part of the arrays, or all. */
static bool caches_hold_a_part(const wfi_point *point)
{
    return wfi_himeno_profile_of(point->caps)->caches_planes &&
           wfi_himeno_inner_cells(point->problem) < WFI_HIMENO_SMALL_CELLS;
}

/* Rows of vectors are padded to whole ones alone where caches hold a part of the arrays, so that
 * they hold more of them (H200, 339x56x51: 14.6 us with rows padded to 32 cells, 12.8). */
static void fit_column_pad(wfi_point *point, uint32_t width)
{
    if (width > 1 && caches_hold_a_part(point))
        wfi_point_set(point, HIMENO_ID_PAD, width);
    else
        wfi_himeno_fit_pad(point, width);
}

#define CACHE_BYTES 50e6 /* of the second-level cache of an H100 and an H200 */

bool wfi_himeno_is_beyond_caches(const wfi_point *point)
{
    return caches_hold_a_part(point) && wfi_himeno_least_bytes(point->problem) > CACHE_BYTES;
}

static bool is_cached(const wfi_point *point)
{
    return wfi_himeno_least_bytes(point->problem) <= WFI_HIMENO_CACHED_BYTES;
}

#define UNIT_REGISTERS 65536 /* an H100's */

double wfi_himeno_guessed_groups(double items, double registers)
{
    return fmax(floor(UNIT_REGISTERS / (registers * items)), 1);
}

/* Whether all work-groups are under way at once. */
static bool is_one_wave(const wfi_point *point)
{
    const wfi_unit unit = wfi_unit_of(point->caps);
    uint32_t groups[3], size[3];
    wfi_himeno_groups(point, (uint32_t)point->problem->himeno.nk - 2, groups);
    wfi_himeno_group_size(point, size);
    const double items = (double)size[0] * size[1] * size[2],
                 held = unit.registers
                            ? wfi_published_held(&unit, items, WFI_HIMENO_ITEM_REGISTERS, 0)
                            : wfi_himeno_guessed_groups(items, WFI_HIMENO_ITEM_REGISTERS);
    return (double)groups[0] * groups[1] * groups[2] <= fmax(held, 1) * wfi_units_of(point->caps);
}

/* In one wave each unit gets the cells that it had in the pass before, which caches near it still
 * hold; in a second wave units take what is left over (H200, 74x29x370: 13.4 us by columns of 2, in
 * 1.2 waves, 9.8 by columns of 4). So columns are twice as long where caches hold the arrays and
 * that makes one wave of them. */
static void join_waves(wfi_point *point)
{
    const uint32_t march = wfi_point_value(point, HIMENO_ID_MARCH, 1);
    if (!is_cached(point) || is_one_wave(point))
        return;
    wfi_point_set(point, HIMENO_ID_MARCH, 2 * march);
    if (!is_one_wave(point))
        wfi_point_set(point, HIMENO_ID_MARCH, march);
}

bool wfi_himeno_goes_back(const wfi_point *point)
{
    const bool large = wfi_himeno_inner_cells(point->problem) >= WFI_HIMENO_SMALL_CELLS;
    return wfi_himeno_profile_of(point->caps)->caches_planes &&
           (large || (!is_cached(point) && !is_one_wave(point)));
}

void wfi_himeno_fit_group(wfi_point *point, uint32_t width, uint32_t most_x, uint32_t least_x,
                          uint32_t items)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    const uint64_t row = (p->ni - 2 + width - 1) / width;
    uint32_t x = wfi_power_at_least(row, most_x);
    while (x > 1 && x > least_x &&
           wfi_saves_a_tenth(wfi_round_up(row, x / 2), wfi_round_up(row, x)))
        x /= 2;
    wfi_point_set(point, HIMENO_ID_LOCAL_X, x);
    wfi_point_set(point, HIMENO_ID_LOCAL_Y, wfi_power_at_least(p->nj - 2, items / x));
}

/* Of a work-group's row of columns on small grids of GPUs, where wider ones had idle work-items
 * (H200, 134x17x191 in vectors of four: 7.2 us by groups of 32x4, 6.8 by 16x8). */
#define NARROWEST_CELLS 64

void wfi_himeno_fit_columns(wfi_point *point, uint32_t width)
{
    const wfi_himeno_profile *profile = wfi_himeno_profile_of(point->caps);
    const double cells = wfi_himeno_inner_cells(point->problem);
    const wfi_himeno_grid grid = cells < WFI_HIMENO_SMALL_CELLS   ? WFI_HIMENO_SMALL
                                 : cells > WFI_HIMENO_LARGE_CELLS ? WFI_HIMENO_LARGE
                                                                  : WFI_HIMENO_MIDDLE;
    /* Beyond caches an H200 is fastest with the columns of middle grids
     * (bench/notes/himeno.md#rounds). */
    const wfi_himeno_columns *c =
        &profile->columns[wfi_himeno_is_beyond_caches(point) ? WFI_HIMENO_MIDDLE : grid];
    const uint32_t most = point->caps->max_invocations, items = most < c->items ? most : c->items;
    const bool narrows = profile->dispatch_gaps && grid == WFI_HIMENO_SMALL;
    wfi_himeno_fit_group(point, width, c->width, narrows ? NARROWEST_CELLS / width : c->width,
                         items);
    wfi_point_set(point, HIMENO_ID_MARCH, width == 4 ? c->march_of_vec4 : c->march);
    if (profile->dispatch_gaps)
        shorten_columns(point, width);
    if (profile->caches_planes)
        join_waves(point);
    fit_column_pad(point, width);
    wfi_point_set(point, HIMENO_ID_INTERLEAVE, profile->interleave);
    wfi_point_set(point, HIMENO_ID_OWN_SUMS, profile->slow_barriers);
    wfi_point_set(point, HIMENO_ID_REVERSE, wfi_himeno_goes_back(point));
}
