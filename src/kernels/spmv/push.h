/* The scalars of a product, and the push constants that begin with them. */
#ifndef WFI_KERNELS_SPMV_PUSH_H
#define WFI_KERNELS_SPMV_PUSH_H

#include <stddef.h>

#include "plan/plan.h"

/* Push constants of the variants on compressed sparse rows behind alpha and beta, as in
 * spmv_problem.glsl. */
typedef struct wfi_spmv_csr_push {
    uint32_t rows;       /* that the dispatch computes */
    uint32_t columns_at; /* where the column indices begin in the pattern, in words */
    uint32_t base_y;     /* elements between the binding of y and the first row's */
    uint32_t x_stride, y_stride;
    uint32_t more; /* the variant's own */
} wfi_spmv_csr_push;

/* Bytes of push constants: alpha and beta, in f64 at most, and what follows them. */
#define WFI_SPMV_PUSH_OF(type) (2 * (uint32_t)sizeof(double) + (uint32_t)sizeof(type))
#define WFI_SPMV_PUSH WFI_SPMV_PUSH_OF(wfi_spmv_csr_push)

_Static_assert(offsetof(wfi_spmv_csr_push, more) == 20 && sizeof(wfi_spmv_csr_push) == 24,
               "members lie as in spmv_problem.glsl");

/* The type of x, y and all arithmetic. */
wf_type wfi_spmv_real(wf_type type);
/* Whether alpha and beta are finite in the type of x and y. */
bool wfi_spmv_scale_fits(wf_type type, double alpha, double beta);
/* Writes alpha and beta, which all push constants begin with; returns their bytes. */
uint32_t wfi_spmv_put_scale(wf_type type, double alpha, double beta, unsigned char *push);
/* Writes the step's push constants: alpha, beta and `bytes` of the variant's own. Returns where
 * these begin. */
uint32_t wfi_spmv_put_push(const wf_spmv_params *p, const void *push, uint32_t bytes,
                           wfi_step *step);
/* Whether y is anything but A x. */
bool wfi_spmv_is_scaled(const wf_spmv_params *p);

#endif
