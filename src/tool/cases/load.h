/* A load that can be run over and over: one problem of a family, of a size that suits the kind of
 * device, so that devices of one kind get the same. */
#ifndef WFI_TOOL_CASES_LOAD_H
#define WFI_TOOL_CASES_LOAD_H

#include "io/csr.h"
#include "tool/cli/session.h"

typedef struct wfi_load {
    const struct wfi_load_kind *kind;
    uint64_t size; /* rows of the matrices; grid points along an edge; cells along j */
    double flops;  /* of one execution */
    wf_plan *plan; /* matmul, spmv */
    wf_bindings bindings;
    wf_buffer *buffers[3]; /* inputs, then the result */
    void *host[3];
    uint64_t elements[3];
    wf_matmul_params matmul;
    wf_spmv_params spmv;
    wfi_csr matrix;
    float *values;
    wf_himeno *himeno;
    wf_himeno_params himeno_params;
} wfi_load;

/* How a family makes its load. */
typedef struct wfi_load_kind {
    uint64_t sizes[3]; /* for CPUs, integrated and discrete GPUs */
    double (*bytes)(double size);
    wf_result (*make)(wfi_session *session, wfi_load *load, wfi_result_case *out);
    wf_result (*check)(wfi_session *session, wfi_load *load, wfi_result_case *out);
} wfi_load_kind;

extern const wfi_load_kind wfi_load_of_himeno, wfi_load_of_spmv, wfi_load_of_matmul;

/* Builds the load and names it in *out. On failure the case says why. */
wf_result wfi_load_make(wfi_session *session, wf_family family, const wfi_load_kind *kind,
                        wfi_load *load, wfi_result_case *out);
/* `count` executions in one submission. */
wf_result wfi_load_run(wfi_load *load, uint32_t count, double *seconds, bool *gpu_clock);
/* Compares what the load left behind with f64. */
wf_result wfi_load_check(wfi_session *session, wfi_load *load, wfi_result_case *out);
void wfi_load_free(wfi_load *load);

#endif
