/* What work-items request of memory, in bytes of one pass, counted from the algorithm. */
#include <math.h>

#include "kernels/himeno/rows.h"

#define P_READS 19.0

void wfi_himeno_memory_traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    uint32_t g[3];
    wfi_himeno_group_size(point, g);
    const double groups = ceil(((double)p->ni - 2) / g[0]) * ceil(((double)p->nj - 2) / g[1]) *
                          ceil(((double)p->nk - 2) / g[2]);
    const double cells = wfi_himeno_inner_cells(point->problem);
    /* Of p each work-group reads its cells and their halo, without its eight corners. */
    const double read = (g[0] + 2.0) * (g[1] + 2.0) * (g[2] + 2.0) - 8;
    out->requested = sizeof(float) * cells * (P_READS + WFI_HIMENO_COEFFICIENTS + 1);
    out->stored = sizeof(float) * cells;
    out->groups = sizeof(float) * (groups * read + cells * (WFI_HIMENO_COEFFICIENTS + 1.0));
}

/* As in himeno_march.comp: a work-item loads its cells and one on either side, of three rows of
 * every plane of its column and of the planes before and after. */
void wfi_himeno_march_traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    const double width = point->variant->traits & WFI_HIMENO_VECTORS ? 4 : 1;
    const double ni = (double)p->ni - 2, nj = (double)p->nj - 2, nk = (double)p->nk - 2;
    const double items = ceil(ni / width) * nj;
    uint32_t groups[3];
    wfi_himeno_groups(point, (uint32_t)p->nk - 2, groups);
    const double coefficients = items * width * nk * WFI_HIMENO_COEFFICIENTS;
    out->requested = sizeof(float) * (items * 3 * (width + 2) * (nk + 2.0 * groups[2]) +
                                      coefficients + ni * nj * nk);
    out->stored = sizeof(float) * ni * nj * nk;
    out->groups =
        sizeof(float) * ((ni + 2.0 * groups[0]) * (nj + 2.0 * groups[1]) * (nk + 2.0 * groups[2]) +
                         coefficients + ni * nj * nk);
}

/* As in himeno_shared.comp: a work-group loads its whole tile, and each cell reads 19 of it. */
void wfi_himeno_tile_traffic(const wfi_point *point, wfi_traffic *out)
{
    const double cells = wfi_himeno_inner_cells(point->problem);
    uint32_t g[3], groups[3];
    wfi_himeno_group_size(point, g);
    wfi_himeno_groups(point, (uint32_t)point->problem->himeno.nk - 2, groups);
    const double tiles =
        (double)groups[0] * groups[1] * groups[2] * (g[0] + 2.0) * (g[1] + 2.0) * (g[2] + 2.0);
    out->requested = out->groups =
        sizeof(float) * (tiles + cells * (WFI_HIMENO_COEFFICIENTS + 1.0));
    out->stored = sizeof(float) * cells;
    out->shared = sizeof(float) * (tiles + cells * P_READS);
}
