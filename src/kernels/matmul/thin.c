#include "kernels/matmul/thin.h"

/* Where sizes vary, kernels are made for the largest, and take fewer vectors as they are. */
static wfi_matmul_sizes sizes_of(const wfi_matmul_problem *p)
{
    return p->varies ? p->most : (wfi_matmul_sizes){p->m, p->n, p->k, p->batch};
}

uint64_t wfi_matmul_vectors(const wfi_matmul_problem *p)
{
    const wfi_matmul_sizes s = sizes_of(p);
    return s.m < s.n ? s.m : s.n;
}

bool wfi_matmul_matrix_is_b(const wfi_matmul_problem *p)
{
    const wfi_matmul_sizes s = sizes_of(p);
    return s.m <= s.n;
}

bool wfi_matmul_by_sum(const wfi_matmul_problem *p)
{
    return wfi_matmul_matrix_is_b(p) ? p->transpose_b : !p->transpose_a;
}
