/* The inverted diagonal, or its blocks, of a conjugate-gradient solve. */
#include <math.h>

#include "solve/cg.h"

/* Gets the block of the diagonal that begins at row `first`; duplicate entries add up. */
static void get_block(const wf_spmv_params *m, uint32_t first, uint32_t side,
                      double block[WF_CG_MOST_BLOCK][WF_CG_MOST_BLOCK])
{
    for (uint32_t r = 0; r < side; r++)
        for (uint32_t k = 0; k < side; k++)
            block[r][k] = 0;
    for (uint32_t r = 0; r < side; r++)
        for (uint32_t i = m->row_offsets[first + r]; i < m->row_offsets[first + r + 1]; i++)
            if (m->column_indices[i] >= first && m->column_indices[i] - first < side)
                block[r][m->column_indices[i] - first] += wf_element_get(m->type, m->values, i);
}

/* Inverts by Gauss-Jordan elimination without pivoting, which a positive definite block does not
 * need. False: *pivot, of *row, is not positive. */
static bool invert(double a[WF_CG_MOST_BLOCK][WF_CG_MOST_BLOCK], uint32_t side, uint32_t *row,
                   double *pivot)
{
    for (uint32_t k = 0; k < side; k++) {
        *row = k;
        *pivot = a[k][k];
        if (!(*pivot > 0) || isinf(*pivot))
            return false;
        for (uint32_t j = 0; j < side; j++)
            if (j != k)
                a[k][j] /= *pivot;
        for (uint32_t i = 0; i < side; i++)
            for (uint32_t j = 0; j < side && i != k; j++)
                if (j != k)
                    a[i][j] -= a[i][k] * a[k][j];
        for (uint32_t i = 0; i < side; i++)
            if (i != k)
                a[i][k] /= -*pivot;
        a[k][k] = 1 / *pivot;
    }
    return true;
}

wf_result wfi_cg_fill_inverse(const wfi_cg *c, void *inverse)
{
    double block[WF_CG_MOST_BLOCK][WF_CG_MOST_BLOCK];
    for (uint32_t first = 0; first < c->count; first += c->block) {
        const uint32_t left = c->count - first, side = left < c->block ? left : c->block;
        uint32_t row = 0;
        double pivot = 0;
        get_block(c->matrix, first, side, block);
        if (!invert(block, side, &row, &pivot))
            return wfi_fail(&c->device->log, WF_ERROR_INVALID_ARGUMENT,
                            "wf_cg_solve: the %s of row %u is %g; Jacobi needs it positive",
                            c->block > 1 ? "pivot" : "diagonal", first + row, pivot);
        for (uint32_t r = 0; r < side; r++)
            for (uint32_t k = 0; k < side; k++)
                wf_element_set(c->type, inverse, (first + r) * (size_t)c->block + k, block[r][k]);
    }
    return WF_SUCCESS;
}
