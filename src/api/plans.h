/* Plans as solvers make them, beside those of the public header. */
#ifndef WFI_API_PLANS_H
#define WFI_API_PLANS_H

#include "choose/choose.h"

wf_result wfi_spmv_plan_fused(wf_device *device, const wf_spmv_params *params, uint32_t *partials,
                              wf_plan **out);

/* wf_stencil_plan whose binding WFI_STENCIL_COEFFICIENTS (kernels/stencil/stencil.h) has the
 * coefficients and a number behind them: unless that is 0 the plan does nothing. */
wf_result wfi_stencil_plan_stoppable(wf_device *device, const wf_stencil_params *params,
                                     wf_plan **out);

/* The choice for a grid; `problem` outlives it. */
wf_result wfi_stencil_choose(wf_device *device, const char *function,
                             const wf_stencil_params *params, wfi_problem *problem,
                             wfi_choice *choice);
/* A plan of a part of the grid that `params` describes, in one pass. */
wf_result wfi_stencil_plan_part(wf_device *device, const wf_stencil_params *params,
                                const wfi_stencil_part *part, wf_plan **out);

#endif
