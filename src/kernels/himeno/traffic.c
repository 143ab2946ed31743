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
