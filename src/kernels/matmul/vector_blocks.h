/* The block of `vector`: its tile, a work-item's part of it, and how it is loaded. */
#ifndef WFI_KERNELS_MATMUL_VECTOR_BLOCKS_H
#define WFI_KERNELS_MATMUL_VECTOR_BLOCKS_H

#include "plan/family.h"

/* The variant's fit (plan/family.h). */
double wfi_matmul_fit_vector(wfi_point *point);

#endif
