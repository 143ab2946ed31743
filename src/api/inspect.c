/* What a plan, or the kernel for a problem, is: for people, and without running it. */
#include <string.h>
#include <strings.h>

#include "core/device.h"
#include "core/params.h"
#include "plan/family.h"
#include "kernels/stencil/stencil.h"
#include "plan/plan.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The value of the first statistic that a driver gives under one of the names, in any case (they
 * change from version to version), else 0. Its lower 32 bits alone: NVIDIA's driver leaves the
 * upper ones of "Local Memory Size" as they were. */
static uint32_t statistic(const wf_kernel_info *kernel, const char *const *names, size_t count)
{
    for (size_t n = 0; n < count; n++)
        for (uint32_t i = 0; i < kernel->statistic_count; i++)
            if (strcasecmp(kernel->statistics[i].name, names[n]) == 0)
                return kernel->statistics[i].value > 0
                           ? (uint32_t)(uint64_t)kernel->statistics[i].value
                           : 0;
    return 0;
}

/* Registers of RADV's that spill into lanes of others ("Spilled SGPRs") cost no memory. */
bool wfi_kernel_spills(const wf_kernel_info *kernel)
{
    /* Bytes of a work-item's (RADV, PowerVR, ANV, NVIDIA, V3DV). */
    static const char *const memory[] = {"Scratch size", "Scratch Memory Size", "Local Memory Size",
                                         "Spill Size"};
    return kernel->spilled > 0 || statistic(kernel, memory, COUNT(memory)) > 0;
}

bool wfi_is_main_kernel(const wfi_point *point, const wfi_spirv *spirv)
{
    const wf_type type = point->problem->type;
    return spirv == point->variant->modules[type] || spirv == point->variant->second[type];
}

void wfi_describe_pipeline(const wfi_point *point, const wfi_pipeline *pipeline, uint64_t groups,
                           wf_kernel_info *kernel)
{
    static const char *const registers[] = {"Register Count", "VGPRs"}; /* NVIDIA, RADV */
    /* RADV; ANV and PowerVR; ANV and PanVK; V3DV. */
    static const char *const spilled[] = {"Spilled VGPRs", "Spill count", "Spills", "TMU Spills"};
    static const char *const shared[] = {"LDS size", "Shared Memory Size", "Shared Memory"};
    *kernel = (wf_kernel_info){.groups = groups, .subgroup_size = pipeline->subgroup_size};
    memcpy(kernel->group_size, pipeline->group_size, sizeof kernel->group_size);
    for (uint32_t i = 0; i < pipeline->statistic_count; i++)
        kernel->statistics[kernel->statistic_count++] = pipeline->statistics[i];
    kernel->registers = statistic(kernel, registers, COUNT(registers));
    kernel->spilled = statistic(kernel, spilled, COUNT(spilled));
    if (!wfi_is_main_kernel(point, pipeline->spirv))
        kernel->shared_bytes = statistic(kernel, shared, COUNT(shared));
    else if (point->variant->shared_bytes)
        kernel->shared_bytes = point->variant->shared_bytes(point);
    if (kernel->subgroup_size == 0)
        kernel->subgroup_size = point->caps->subgroup_size;
}

wf_plan_info wfi_describe_choice(const wfi_choice *choice)
{
    const wfi_variant *variant = choice->point.variant;
    const wfi_family *family = wfi_family_get(choice->point.problem->family);
    wf_plan_info info = {
        .family = family->name,
        .variant = variant->name,
        .chosen_by = choice->chosen_by,
        .constant_count = variant->parameter_count,
        .flops = family->flops(choice->point.problem),
        .least_bytes = family->least_bytes(choice->point.problem),
    };
    wfi_traffic traffic = {0};
    if (variant->traffic)
        variant->traffic(&choice->point, &traffic);
    info.requested_bytes = traffic.requested;
    info.stored_bytes = traffic.stored;
    info.shared_requested_bytes = traffic.shared;
    info.group_bytes = traffic.groups;
    for (uint32_t i = 0; i < variant->parameter_count; i++)
        info.constants[i] =
            (wf_constant){variant->parameters[i].name, wfi_point_get(&choice->point, i)};
    return info;
}

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
