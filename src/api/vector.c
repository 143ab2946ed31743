/* wf_vector_plan. */
#include "choose/choose.h"
#include "core/device.h"
#include "core/heap.h"
#include "core/params.h"
#include "kernels/vector/vector.h"
#include "plan/plan.h"

static wf_result make_plan(wf_device *device, const wf_vector_params *given, wf_plan **out)
{
    if (!device || !out || !given)
        return WF_ERROR_INVALID_ARGUMENT;
    wfi_choice choice;
    wf_vector_params params;
    wf_result result =
        wfi_params_read(&device->log, "wf_vector_plan", given, &params, sizeof params);
    if (result == WF_SUCCESS)
        result = wfi_vector_check(device, &params);
    if (result != WF_SUCCESS)
        return result;
    if (params.alpha == 0)
        params.alpha = 1;
    const wfi_problem problem = {.family = WF_FAMILY_VECTOR,
                                 .type = params.type,
                                 .vector = {params.count ? params.count : 1, params.operation}};
    result = wfi_choose(device, &problem, params.tuning, &choice);
    return result == WF_SUCCESS ? wfi_plan_create_with(device, &choice, params.jobs, &params, out)
                                : result;
}

wf_result wf_vector_plan(wf_device *device, const wf_vector_params *given, wf_plan **out)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, make_plan(device, given, out));
}
