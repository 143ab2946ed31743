/* Products with few rows or columns of C, which read a large matrix once: variants panel and
 * matvec. */
#ifndef WFI_KERNELS_MATMUL_THIN_H
#define WFI_KERNELS_MATMUL_THIN_H

#include "plan/family.h"

#define WFI_MOST_VECTORS 8 /* rows or columns of C that matvec takes */
#define WFI_MOST_PANEL 16  /* and that panel takes */

/* Rows or columns of C, whichever are fewer. */
uint64_t wfi_matmul_vectors(const wfi_matmul_problem *p);
/* Whether the large matrix is B; else it is A. */
bool wfi_matmul_matrix_is_b(const wfi_matmul_problem *p);
/* Whether the stored rows of the large matrix run along the sum. */
bool wfi_matmul_by_sum(const wfi_matmul_problem *p);

#endif
