/* What the models of Himeno's variants share. */
#include "core/architectures.h"
#include "core/arithmetic.h"
#include "kernels/himeno/rows.h"

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

void wfi_himeno_fit_columns(wfi_point *point, uint32_t width)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    const wfi_himeno_profile *profile = wfi_himeno_profile_of(point->caps);
    const double cells = wfi_himeno_inner_cells(point->problem);
    const wfi_himeno_grid grid = cells < WFI_HIMENO_SMALL_CELLS   ? WFI_HIMENO_SMALL
                                 : cells > WFI_HIMENO_LARGE_CELLS ? WFI_HIMENO_LARGE
                                                                  : WFI_HIMENO_MIDDLE;
    const wfi_himeno_columns *c = &profile->columns[grid];
    const uint32_t most = point->caps->max_invocations, items = most < c->items ? most : c->items;
    const uint32_t x = wfi_power_at_least((p->ni - 2 + width - 1) / width, c->width);
    wfi_point_set(point, HIMENO_ID_LOCAL_X, x);
    wfi_point_set(point, HIMENO_ID_LOCAL_Y, wfi_power_at_least(p->nj - 2, items / x));
    wfi_point_set(point, HIMENO_ID_MARCH, width == 4 ? c->march_of_vec4 : c->march);
    if (profile->dispatch_gaps)
        shorten_columns(point, width);
    wfi_himeno_fit_pad(point, width);
    wfi_point_set(point, HIMENO_ID_INTERLEAVE, profile->interleave);
    wfi_point_set(point, HIMENO_ID_OWN_SUMS, profile->slow_barriers);
    wfi_point_set(point, HIMENO_ID_REVERSE, profile->caches_planes && grid != WFI_HIMENO_SMALL);
}
