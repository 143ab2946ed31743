/* wf_kernel_compile: the kernel for a problem that is described by its sizes. */
#include "choose/choose.h"
#include "core/device.h"
#include "core/params.h"
#include "kernels/families.h"
#include "kernels/matmul/matmul.h"
#include "kernels/stencil/stencil.h"
#include "plan/plan.h"

static wf_result grid_problem_of(const wfi_log *log, const wf_stencil_params *given,
                                 wfi_problem *out)
{
    wf_stencil_params params;
    wf_result result = wfi_params_read(log, "wf_kernel_compile", given, &params, sizeof params);
    if (result != WF_SUCCESS)
        return result;
    *out = (wfi_problem){.family = WF_FAMILY_STENCIL, .type = params.type};
    if (!given || (unsigned)params.type >= WF_TYPE_COUNT ||
        !wfi_stencil_sizes_of(&params, &out->stencil))
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_kernel_compile: the stencil's parameters are out of range");
    return WF_SUCCESS;
}

static wf_result problem_of(const wfi_log *log, const wf_problem *given, wfi_problem *out)
{
    const uint64_t *e = given->extent;
    if (given->family == WF_FAMILY_STENCIL)
        return grid_problem_of(log, given->stencil, out);
    *out = (wfi_problem){.family = given->family, .type = given->type};
    if (e[0] == 0 || e[1] == 0 || e[2] == 0 || (unsigned)given->type >= WF_TYPE_COUNT)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT, "wf_kernel_compile: an empty problem");
    switch (given->family) {
    case WF_FAMILY_HIMENO:
        out->himeno = (wfi_himeno_problem){e[0], e[1], e[2]};
        return WF_SUCCESS;
    case WF_FAMILY_SPMV:
        out->spmv = (wfi_spmv_problem){.rows = e[0],
                                       .columns = e[1],
                                       .entries = e[2],
                                       .longest_row = given->longest_row,
                                       .mean_row = (double)e[2] / (double)e[0],
                                       .row_deviation = given->row_deviation};
        return WF_SUCCESS;
    case WF_FAMILY_MATMUL:
        out->matmul = wfi_matmul_plain(e[0], e[1], e[2]);
        return WF_SUCCESS;
    default:
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_kernel_compile: no problem of family %s can be described",
                        wf_family_name(given->family));
    }
}

wf_result wf_kernel_compile(wf_device *device, const wf_problem *given, const wf_tuning *tuning,
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
        wfi_describe_pipeline(&choice.point, &pipeline, 0, &local.kernel);
        if (!wfi_params_write(info, &local, sizeof local))
            result = WF_ERROR_INVALID_ARGUMENT;
    }
    wfi_pipeline_destroy(device, &pipeline);
    return result;
}
