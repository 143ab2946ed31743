/* wf_kernel_compile: the kernel for a problem that is described by its sizes. */
#include "api/families.h"
#include "choose/choose.h"
#include "core/device.h"
#include "core/heap.h"
#include "core/params.h"
#include "kernels/families.h"
#include "plan/hooks.h"
#include "plan/plan.h"

static wf_result problem_of(const wfi_log *log, const wf_problem *given, wfi_problem *out)
{
    const wfi_family *family = wfi_family_get(given->family);
    if (!family || !family->hooks->describe)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_kernel_compile: no problem of family %s can be described",
                        wf_family_name(given->family));
    *out = (wfi_problem){.family = given->family, .type = given->type};
    return family->hooks->describe(log, given, out);
}

static wf_result compile(wf_device *device, const wf_problem *given, const wf_tuning *tuning,
                         wf_plan_info *info)
{
    wf_problem read;
    wfi_problem problem;
    wfi_choice choice;
    wfi_pipeline_desc desc;
    wfi_pipeline pipeline = {0};
    if (!device || !info)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result =
        wfi_params_read(&device->log, "wf_kernel_compile", given, &read, sizeof read);
    if (result == WF_SUCCESS)
        result = wfi_family_require(&device->log, read.family, "wf_kernel_compile");
    if (result == WF_SUCCESS)
        result = problem_of(&device->log, &read, &problem);
    if (result == WF_SUCCESS)
        result = wfi_choose(device, &problem, tuning, &choice);
    if (result != WF_SUCCESS)
        return result;
    choice.point.problem = &problem;
    wfi_point_pipeline(&choice.point, &desc);
    result = wfi_pipeline_create(device, &desc, &pipeline);
    if (result == WF_SUCCESS) {
        wf_plan_info local = wfi_describe_choice(&choice);
        wfi_describe_pipeline(&choice.point, &pipeline, local.kernel.groups, &local.kernel);
        if (!wfi_params_write(info, &local, sizeof local))
            result = WF_ERROR_INVALID_ARGUMENT;
    }
    wfi_pipeline_destroy(device, &pipeline);
    return result;
}

wf_result wf_kernel_compile(wf_device *device, const wf_problem *given, const wf_tuning *tuning,
                            wf_plan_info *info)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, compile(device, given, tuning, info));
}
