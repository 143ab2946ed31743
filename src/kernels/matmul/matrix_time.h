/* The time of products on matrix units, by the rates of a device (profiles/matmul_rates.h). */
#ifndef WFI_KERNELS_MATMUL_MATRIX_TIME_H
#define WFI_KERNELS_MATMUL_MATRIX_TIME_H

#include "kernels/matmul/model.h"

/* Work-groups of a point of `cooperative` that a compute unit holds. */
double wfi_matmul_matrix_resident(const wfi_point *point);

/* What such a point takes: so much of each rate. */
void wfi_matmul_matrix_terms(const wfi_point *point, double terms[WFI_RATES]);

/* Its time, in the unit of model.h. */
double wfi_matmul_matrix_time(const wfi_point *point);

#endif
