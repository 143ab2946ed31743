/* What a plan asks the compiler for, found by a build that makes nothing. */
#include "core/heap.h"
#include "plan/object.h"

void wfi_plan_list(wf_device *device, const wfi_choice *choice, const void *params,
                   wfi_pipeline_list *list)
{
    wf_plan *plan = wfi_calloc(1, sizeof *plan);
    if (!plan) /* then these kernels compile with their plan */
        return;
    plan->device = device;
    wfi_plan_set_choice(plan, choice);
    plan->listed = list;
    /* A plan that cannot be built fails again, with a message, when it is made. */
    wfi_plan_build(plan, params);
    wfi_free(plan);
}
