/* What the models of Himeno's variants share. */
#include "core/arithmetic.h"
#include "kernels/himeno/rows.h"

double wfi_himeno_fit_step(wfi_point *point)
{
    return wfi_himeno_least_bytes(point->problem) * 10;
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
    wfi_point_set(point, HIMENO_ID_PAD, profile->pad);
    wfi_point_set(point, HIMENO_ID_INTERLEAVE, profile->interleave);
    wfi_point_set(point, HIMENO_ID_OWN_SUMS, profile->slow_barriers);
    wfi_point_set(point, HIMENO_ID_REVERSE, profile->caches_planes && grid != WFI_HIMENO_SMALL);
}
