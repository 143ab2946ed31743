/* A linear count of work-groups folded into a grid that the device allows. */
#ifndef WFI_PLAN_DISPATCH_SIZE_H
#define WFI_PLAN_DISPATCH_SIZE_H

#include "plan/plan.h"

/* groups[0] x groups[1] >= count with at most one row more than needed; the shader numbers groups
 * y * gl_NumWorkGroups.x + x and skips those past count. WF_ERROR_TOO_LARGE beyond 2^31. */
wf_result wfi_dispatch_groups(const wf_device *device, uint64_t count, uint32_t groups[3]);
/* The same for the plan's device. */
wf_result wfi_dispatch_size(wf_plan *plan, uint64_t count, uint32_t groups[3]);

#endif
