#include "kernels/matmul/thin.h"

uint64_t wfi_matmul_vectors(const wfi_matmul_problem *p)
{
    return p->m < p->n ? p->m : p->n;
}

bool wfi_matmul_matrix_is_b(const wfi_matmul_problem *p)
{
    return p->m <= p->n;
}

bool wfi_matmul_by_sum(const wfi_matmul_problem *p)
{
    return wfi_matmul_matrix_is_b(p) ? p->transpose_b : !p->transpose_a;
}
