/* Sizes of a Himeno problem, its operations and its least traffic. */
#include "kernels/himeno/rows.h"

double wfi_himeno_inner_cells(const wfi_problem *problem)
{
    const wfi_himeno_problem *p = &problem->himeno;
    return (double)(p->ni - 2) * (double)(p->nj - 2) * (double)(p->nk - 2);
}

double wfi_himeno_flops(const wfi_problem *problem)
{
    return WF_HIMENO_FLOPS * wfi_himeno_inner_cells(problem);
}

double wfi_himeno_least_bytes(const wfi_problem *problem)
{
    return 14.0 * sizeof(float) * wfi_himeno_inner_cells(problem);
}
