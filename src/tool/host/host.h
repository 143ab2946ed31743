/* The operations of the families in plain C, on the machine's own cores: what a device is compared
 * with. OpenMP spreads them over the cores where the tool was built with it. */
#ifndef WFI_TOOL_HOST_HOST_H
#define WFI_TOOL_HOST_HOST_H

#include "io/csr.h"
#include "io/results.h"

/* Threads that the operations run on; 1 without OpenMP. */
uint32_t wfi_host_threads(void);
/* Whether the tool was built with OpenMP. */
bool wfi_host_has_openmp(void);

/* Each makes its inputs from the seed, runs once, verifies the result with the check that the
 * device's is verified with, and times the operation for about `seconds`. What would take too long,
 * does not fit or is wrong says so in out->reason. */
void wfi_host_himeno(uint32_t ni, uint32_t nj, uint32_t nk, double seconds, uint64_t seed,
                     wfi_result_host *out);
void wfi_host_spmv(const wfi_csr *matrix, wf_type type, double seconds, uint64_t seed,
                   wfi_result_host *out);
/* With the coefficients that params point to; f32 and f64. */
void wfi_host_stencil(const wf_stencil_params *params, double seconds, uint64_t seed,
                      wfi_result_host *out);
void wfi_host_matmul(uint64_t m, uint64_t n, uint64_t k, double seconds, uint64_t seed,
                     wfi_result_host *out);

/* Begins a result; false, with the reason, where so many operations would take too long. */
bool wfi_host_begin(double flops, wfi_result_host *out);
/* Times run(user), which does the operation once. */
void wfi_host_time(void (*run)(void *), void *user, double seconds, wfi_result_host *out);
/* Says why there is no time: the check did not hold, or memory ran out. True: all is well. */
bool wfi_host_verified(wf_result result, wfi_result_host *out);

#endif
