/* wf_matmul_plan. */
#include "choose/choose.h"
#include "core/device.h"
#include "core/params.h"
#include "kernels/matmul/matmul.h"

static uint64_t at_least_one(uint64_t value)
{
    return value ? value : 1;
}

wf_result wf_matmul_plan(wf_device *device, const wf_matmul_params *given, wf_plan **out)
{
    if (!device || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    wfi_choice choice;
    wf_matmul_params params;
    wfi_problem problem = {.family = WF_FAMILY_MATMUL};
    wf_result result =
        wfi_params_read(&device->log, "wf_matmul_plan", given, &params, sizeof params);
    if (result == WF_SUCCESS)
        result = wfi_matmul_problem_of(&device->log, &params, &problem.matmul);
    if (result != WF_SUCCESS)
        return result;
    problem.type = params.type;
    /* Models are asked about extents of at least 1; the plan itself handles empty ones. */
    wfi_problem filled = problem;
    filled.matmul.m = at_least_one(problem.matmul.m);
    filled.matmul.n = at_least_one(problem.matmul.n);
    filled.matmul.k = at_least_one(problem.matmul.k);
    result = wfi_choose(device, &filled, params.tuning, &choice);
    choice.point.problem = &problem;
    return result == WF_SUCCESS ? wfi_plan_create_with(device, &choice, params.jobs, &params, out)
                                : result;
}
