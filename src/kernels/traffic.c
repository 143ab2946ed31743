#include "kernels/traffic.h"

#include <math.h>

#include "kernels/spmv/build.h"

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
