/* wf_stencil_plan, and the same for a solver. */
#include "api/plans.h"
#include "kernels/families.h"
#include "choose/choose.h"
#include "core/device.h"
#include "core/params.h"
#include "kernels/stencil/stencil.h"

static wf_result make_plan(wf_device *device, const wf_stencil_params *given, bool stoppable,
                           wf_plan **out)
{
    wfi_problem problem = {.family = WF_FAMILY_STENCIL};
    wfi_choice choice;
    wf_stencil_params params;
    if (!device || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result =
        wfi_params_read(&device->log, "wf_stencil_plan", given, &params, sizeof params);
    if (result != WF_SUCCESS)
        return result;
    if (!wfi_stencil_problem_of(&params, &problem.stencil))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_stencil_plan: extents must be between 2 radius + 1 and 2^30, radius at "
                        "most 4, steps at most %u, coefficients finite in the type computed with",
                        WFI_STENCIL_MOST_STEPS);
    problem.type = params.type;
    problem.stencil.stoppable = stoppable;
    if (!wfi_family_has_type(wfi_family_get(WF_FAMILY_STENCIL), params.type))
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED, "wf_stencil_plan: type %s",
                        wf_type_name(params.type));
    result = wfi_choose(device, &problem, params.tuning, &choice);
    if (result != WF_SUCCESS)
        return result;
    choice.point.problem = &problem;
    return wfi_plan_create_with(device, &choice, params.jobs, params.coefficients, out);
}

wf_result wf_stencil_plan(wf_device *device, const wf_stencil_params *params, wf_plan **out)
{
    return make_plan(device, params, false, out);
}

wf_result wfi_stencil_plan_stoppable(wf_device *device, const wf_stencil_params *params,
                                     wf_plan **out)
{
    return make_plan(device, params, true, out);
}
