/* The problem of a matrix product: made from parameters, measured, counted. */
#ifndef WFI_KERNELS_MATMUL_MATMUL_H
#define WFI_KERNELS_MATMUL_MATMUL_H

#include "plan/plan.h"
#include "matmul/matmul_ids.h"

/* The problem that params ask for: defaults made explicit, limits checked. */
wf_result wfi_matmul_problem_of(const wfi_log *log, const wf_matmul_params *params,
                                wfi_matmul_problem *out);
/* False where C takes no product: k or alpha is 0. */
bool wfi_matmul_multiplies(const wf_matmul_params *params);
/* What the sizes of every recording are multiples of: the sizes themselves, where they are
 * fixed. */
wfi_matmul_sizes wfi_matmul_units_of(const wfi_matmul_problem *p);
/* Elements from the first of A, B or C to behind the last, of all products of the batch. */
void wfi_matmul_extents(const wfi_matmul_problem *p, uint64_t extents[3]);
/* Bytes that each binding must have at least; 0: it is not used. */
void wfi_matmul_binding_bytes(const wfi_matmul_problem *p, wf_type type, bool multiplies,
                              uint64_t bytes[WF_MATMUL_BINDINGS]);
/* Bytes of a sum, and of an element of C. */
uint64_t wfi_matmul_sum_size(wf_type type);
uint64_t wfi_matmul_c_size(wf_type type, wf_matmul_output output);

double wfi_matmul_flops(const wfi_problem *problem);
double wfi_matmul_least_bytes(const wfi_problem *problem);

#endif
