/* Blocks of products on matrix units: the lists that `cooperative` and `f16x2` choose from. */
#ifndef WFI_KERNELS_MATMUL_MATRIX_BLOCKS_H
#define WFI_KERNELS_MATMUL_MATRIX_BLOCKS_H

#include "kernels/matmul/tile.h"
#include "plan/family.h"

/* How the point goes over C and the sum. */
wfi_matmul_tile wfi_matmul_matrix_tile(const wfi_point *point);

/* The variants' fit and refit (plan/family.h). */
double wfi_matmul_fit_matrix(wfi_point *point);
void wfi_matmul_refit_matrix(wfi_point *point);

#endif
