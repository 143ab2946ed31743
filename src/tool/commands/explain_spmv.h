/* What wavefit spmv --explain says. */
#ifndef WFI_TOOL_COMMANDS_EXPLAIN_SPMV_H
#define WFI_TOOL_COMMANDS_EXPLAIN_SPMV_H

#include "io/results.h"

typedef struct wfi_spmv_explain {
    wf_spmv_analysis analysis;
    const char *baseline; /* the variant that reads the caller's arrays as they are; NULL: none */
    double baseline_us, baseline_seconds; /* its product, and its plan */
} wfi_spmv_explain;

void wfi_explain_spmv(const wfi_result_case *c, const wfi_spmv_explain *e);

#endif
