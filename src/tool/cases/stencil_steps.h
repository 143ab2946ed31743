/* Checking a run of many steps step by step. */
#ifndef WFI_TOOL_CASES_STENCIL_STEPS_H
#define WFI_TOOL_CASES_STENCIL_STEPS_H

#include "tool/cases/cases.h"

/* What the check needs: of `bytes` each, the grids that the run read and left, and buffers that it
 * may overwrite. */
typedef struct wfi_stencil_run {
    const void *in, *out;
    uint64_t bytes;
    wf_buffer *buffers[2];
} wfi_stencil_run;

/* Makes the steps of a run one by one on the device and compares every cell that each leaves with
 * f64, from the grid that the step before left, and the last of these grids, bit for bit, with the
 * run's: steps leave the same bits, however many of them a pass makes (wf_stencil_plan). What holds
 * for all steps goes to out->check, and what does not makes the case fail. */
wf_result wfi_stencil_check_steps(wfi_session *session, const wf_stencil_params *params,
                                  const wfi_stencil_run *run, wfi_result_case *out);

#endif
