/* Blocks of products on matrix units: the lists that `cooperative` and `f16x2` choose from. */
#ifndef WFI_KERNELS_MATMUL_MATRIX_BLOCKS_H
#define WFI_KERNELS_MATMUL_MATRIX_BLOCKS_H

#include "plan/family.h"

/* The variants' fit and refit (plan/family.h). */
double wfi_matmul_fit_matrix(wfi_point *point);
void wfi_matmul_refit_matrix(wfi_point *point);

#endif
