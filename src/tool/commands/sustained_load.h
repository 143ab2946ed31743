/* A load that can be run over and over: one problem of a family, of a size that suits the kind of
 * device, so that devices of one kind get the same. */
#ifndef WFI_TOOL_COMMANDS_SUSTAINED_LOAD_H
#define WFI_TOOL_COMMANDS_SUSTAINED_LOAD_H

#include "io/csr.h"
#include "tool/cli/session.h"

typedef struct wfi_load {
    wf_family family;
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

/* Builds the load and names it in *out. On failure the case says why. */
wf_result wfi_load_make(wfi_session *session, wf_family family, wfi_load *load,
                        wfi_result_case *out);
/* `count` executions in one submission. */
wf_result wfi_load_run(wfi_load *load, uint32_t count, double *seconds, bool *gpu_clock);
/* Compares what the load left behind with f64. */
wf_result wfi_load_check(wfi_session *session, wfi_load *load, wfi_result_case *out);
void wfi_load_free(wfi_load *load);

#endif
