/* Sparse matrices that bench makes for itself. */
#ifndef WFI_TOOL_CASES_BENCH_MATRICES_H
#define WFI_TOOL_CASES_BENCH_MATRICES_H

#include "io/csr.h"

/* They give false without memory, and when Ctrl-C is noted (tool/cli/progress.h). */

/* The 27-point Poisson matrix of an n x n x n grid: 26 on the diagonal, -1 for each neighbour. */
bool wfi_make_poisson27(uint32_t n, wfi_csr *out);

/* The 5-point matrix of an n x n grid: 4, and -1 for its neighbours. */
bool wfi_make_poisson5(uint32_t n, wfi_csr *out);
/* rows x rows with `per_row` entries a row in random columns; duplicates are summed. */
bool wfi_make_uniform(uint32_t rows, uint32_t per_row, uint64_t seed, wfi_csr *out);
/* R-MAT (Chakrabarti, Zhan, Faloutsos, 2004) with 2^scale rows, 16 entries a row on average and
 * quadrant probabilities 0.57, 0.19, 0.19, 0.05: a power-law graph. */
bool wfi_make_rmat(uint32_t scale, uint64_t seed, wfi_csr *out);

#endif
