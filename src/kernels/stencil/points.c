/* Candidate values and constraints that the variants share. */
#include "kernels/stencil/rows.h"

const uint32_t wfi_stencil_sizes_x[] = {8, 16, 32, 64, 128, 256},
               wfi_stencil_sizes_y[] = {1, 2, 4, 8, 16},
               wfi_stencil_marches[] = {1, 2, 4, 8, 16, 32, 64, 128, 256},
               wfi_stencil_step_counts[] = {1, 2, 3, 4, 6, 8},
               wfi_stencil_row_counts[] = {1, 2, 4, 8};

bool wfi_stencil_march_fits(const wfi_point *point)
{
    const uint32_t march = wfi_point_value(point, STENCIL_ID_MARCH, 1);
    return march >= 1 && march <= 4096;
}

bool wfi_stencil_flat_is_flat(const wfi_point *point)
{
    return point->problem->stencil.dimensions == 3 ||
           (wfi_point_value(point, STENCIL_ID_LOCAL_Y, 1) == 1 &&
            wfi_point_value(point, STENCIL_ID_ROWS, 1) == 1);
}

bool wfi_stencil_fits_dispatch(const wfi_point *point)
{
    const wfi_stencil_tile tile = wfi_stencil_tile_of(point);
    uint64_t groups[2];
    if (tile.i <= 0 || tile.j <= 0)
        return false;
    wfi_stencil_groups(point, groups);
    return groups[0] <= point->caps->max_groups[0] && groups[1] <= point->caps->max_groups[1];
}

bool wfi_stencil_is_star(const wfi_point *point)
{
    return point->problem->stencil.shape == WF_STENCIL_STAR;
}

bool wfi_stencil_steps_fit(const wfi_point *point)
{
    const uint32_t steps = wfi_point_value(point, STENCIL_ID_STEPS, 1);
    return steps >= 1 && steps <= 16 && steps <= point->problem->stencil.steps;
}

bool wfi_stencil_rows_fit(const wfi_point *point)
{
    const uint32_t rows = wfi_point_value(point, STENCIL_ID_ROWS, 1);
    return rows >= 1 && rows <= 16;
}

bool wfi_stencil_tile_outlasts_steps(const wfi_point *point)
{
    const wfi_stencil_tile t = wfi_stencil_tile_of(point);
    return t.i > 0 && t.j > 0;
}
