/* Matrices whose rows read x all over: what decides there is where the gathers find x. */
#ifndef WFI_KERNELS_SPMV_GATHERS_H
#define WFI_KERNELS_SPMV_GATHERS_H

#include "plan/family.h"

/* Bytes of x between the entries that are furthest from the diagonal. */
double wfi_spmv_reach_bytes(const wfi_point *point);

/* Whether rows are of much the same length. */
bool wfi_spmv_rows_alike(const wfi_spmv_problem *p);

/* Whether such rows read x all over, unlike their neighbours, and more of it
 * than a compute unit's first-level cache holds, on devices of which that is known. */
bool wfi_spmv_reads_all_over(const wfi_point *point);

/* Whether rows that a compute unit multiplies at once, a lane each, read many of the same sectors
 * of x. */
bool wfi_spmv_shares_sectors(const wfi_point *point);

/* How `sliced` goes through such a matrix. */
typedef struct wfi_spmv_sweep {
    uint32_t loads; /* of a slice; 0: rows had better not go through it together */
    uint32_t local; /* work-items of a work-group; 0: as of any matrix */
} wfi_spmv_sweep;

wfi_spmv_sweep wfi_spmv_fit_sweep(const wfi_point *point);

#endif
