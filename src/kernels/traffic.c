#include "kernels/traffic.h"

#include <math.h>

#include "kernels/stencil/stencil.h"
#include "kernels/himeno/himeno.h"
#include "kernels/spmv/build.h"

#define HIMENO_P_READS 19.0
#define HIMENO_COEFFICIENT_READS 12.0

/* ------------------------------------------------------------------------------------- stencils */

static double himeno_cells(const wfi_point *point)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    return ((double)p->ni - 2) * ((double)p->nj - 2) * ((double)p->nk - 2);
}

void wfi_himeno_naive_traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    uint32_t g[3];
    point->variant->group_size(point, g);
    const double groups = ceil(((double)p->ni - 2) / g[0]) * ceil(((double)p->nj - 2) / g[1]) *
                          ceil(((double)p->nk - 2) / g[2]);
    const double cells = himeno_cells(point);
    /* Of p each work-group reads its cells and a rim, without its eight corners. */
    const double box = (g[0] + 2.0) * (g[1] + 2.0) * (g[2] + 2.0) - 8;
    out->requested = sizeof(float) * cells * (HIMENO_P_READS + HIMENO_COEFFICIENT_READS + 1);
    out->stored = sizeof(float) * cells;
    out->groups = sizeof(float) * (groups * box + cells * (HIMENO_COEFFICIENT_READS + 1));
}

void wfi_himeno_twice_traffic(const wfi_point *point, wfi_traffic *out)
{
    const double cells = himeno_cells(point);
    wfi_himeno_naive_traffic(point, out);
    out->requested = 2 * out->requested - sizeof(float) * cells; /* the second pass writes no p */
    out->groups = 2 * out->groups - sizeof(float) * cells;
}

static double inside(double extent, double radius)
{
    return extent > 2 * radius ? extent - 2 * radius : 0;
}

/* Fixed cells are copied; the coefficients, the same for all, are not counted. */
void wfi_stencil_naive_traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const double size = (double)wf_type_size(point->problem->type);
    const double nx = (double)p->nx, ny = (double)p->ny;
    const double nz = p->dimensions == 3 ? (double)p->nz : 1, r = p->radius;
    const double cells = nx * ny * nz;
    const double computed =
        p->border == WF_BORDER_DIRICHLET
            ? inside(nx, r) * inside(ny, r) * (p->dimensions == 3 ? inside(nz, r) : 1)
            : cells;
    out->requested =
        size * p->steps * (computed * (wfi_stencil_taps(p) + 1.0) + (cells - computed) * 2);
    out->stored = size * p->steps * cells;
}

/* --------------------------------------------------------------------------------------- sparse */

/* An entry's index and value, and what it multiplies; each item of a row reads both its offsets. */
static void csr(const wfi_point *point, double items_a_row, wfi_traffic *out)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const double size = (double)wf_type_size(point->problem->type);
    const double rows = (double)p->rows;
    if (point->problem->type == WF_TYPE_F16 || p->vectors > 1)
        return; /* halves are read as words of two */
    out->requested = (double)p->entries * (4 + 2 * size) + rows * items_a_row * 8 + rows * size;
    out->stored = rows * size;
}

void wfi_spmv_row_traffic(const wfi_point *point, wfi_traffic *out)
{
    csr(point, 1, out);
}

void wfi_spmv_lanes_traffic(const wfi_point *point, wfi_traffic *out)
{
    csr(point, wfi_point_value(point, SPMV_ID_LANES, 1), out);
}
