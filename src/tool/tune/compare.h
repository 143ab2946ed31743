/* wavefit tune --compare: what the model, rows and searches are worth, side by side. */
#ifndef WFI_TOOL_TUNE_COMPARE_H
#define WFI_TOOL_TUNE_COMPARE_H

#include "tool/tune/worker.h"

typedef struct wfi_compare_request {
    const wfi_common *common; /* json: the file that is gone on with, and written */
    const wfi_tune_device *device;
    double budget_seconds; /* of each of two searches */
    double patience_seconds;
    /* Of a comparison's exhaustive search; 0: thrice the budget, negative: there is none. */
    double all_seconds;
    double slice_seconds; /* no problem begins after so long; 0: no end */
    uint32_t count;
    const wfi_case_problem *problems;
} wfi_compare_request;

/* Measures what is not in the file yet, one problem after the other, and prints all of it. Returns
 * the tool's exit code. */
int wfi_tune_compare(const wfi_compare_request *request);

#endif
