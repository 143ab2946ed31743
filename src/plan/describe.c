/* Describes a choice and its pipelines for people, without running them. */
#include <string.h>

#include "plan/family.h"
#include "core/arithmetic.h"
#include "core/text.h"

/* The value of the first statistic that a driver gives under one of the names, in any case (they
 * change from version to version), else 0. Its lower 32 bits alone: NVIDIA's driver leaves the
 * upper ones of "Local Memory Size" as they were. */
static uint32_t statistic(const wf_kernel_info *kernel, const char *const *names, size_t count)
{
    for (size_t n = 0; n < count; n++)
        for (uint32_t i = 0; i < kernel->statistic_count; i++)
            if (wfi_same_word(kernel->statistics[i].name, names[n]))
                return kernel->statistics[i].value > 0
                           ? (uint32_t)(uint64_t)kernel->statistics[i].value
                           : 0;
    return 0;
}

/* RADV's "Spilled SGPRs" go to lanes of other registers and cost no memory. */
bool wfi_kernel_spills(const wf_kernel_info *kernel)
{
    /* The bytes of a work-item's scratch memory by the names that drivers use. */
    static const char *const memory[] = {"Scratch size", "Scratch Memory Size", "Local Memory Size",
                                         "Spill Size", "SLM Size"};
    return kernel->spilled > 0 || statistic(kernel, memory, WFI_COUNT(memory)) > 0;
}

const wfi_spirv *wfi_variant_module(const wfi_variant *variant, int kind, wf_type type)
{
    const wfi_spirv *const modules[WFI_MODULE_KINDS] = {
        [WFI_MODULE] = variant->modules[type],
        [WFI_MODULE_SECOND] = variant->second[type],
        [WFI_MODULE_FEW_STEPS] = variant->few_steps[type],
    };
    return modules[kind];
}

bool wfi_is_main_kernel(const wfi_point *point, const wfi_spirv *spirv)
{
    const wf_type type = point->problem->type;
    for (int kind = 0; kind < WFI_MODULE_KINDS; kind++)
        if (spirv == wfi_variant_module(point->variant, kind, type) ||
            spirv == point->variant->any_rows[kind][type])
            return true;
    return false;
}

#define TMU_BYTES 64            /* of a register of 16 lanes, in which V3DV 25.0 tells its spills */
#define PROCESSOR_REGISTERS 128 /* a lane of VideoCore's, which the threads share evenly */

/* Turnip's are of four 32-bit components; V3DV tells the threads that its processors then hold. */
static uint32_t registers_of(const wf_kernel_info *kernel)
{
    /* NVIDIA, RADV, NVK. */
    static const char *const registers[] = {"Register Count", "VGPRs", "Number of GPRs"};
    static const char *const quads[] = {"Registers used"}, *const threads[] = {"Thread Count"};
    const uint32_t told = statistic(kernel, registers, WFI_COUNT(registers)),
                   four = 4 * statistic(kernel, quads, WFI_COUNT(quads)),
                   sharing = statistic(kernel, threads, WFI_COUNT(threads));
    if (told || four)
        return told ? told : four;
    return sharing ? PROCESSOR_REGISTERS / sharing : 0;
}

void wfi_describe_pipeline(const wfi_point *point, const wfi_pipeline *pipeline, uint64_t groups,
                           wf_kernel_info *kernel)
{
    /* RADV; ANV and PowerVR; ANV and PanVK; V3DV; Turnip, which counts stores to memory. */
    static const char *const spilled[] = {"Spilled VGPRs", "Spill count", "Spills", "TMU Spills",
                                          "STP Count"};
    static const char *const tmu[] = {"TMU Spills"};
    static const char *const shared[] = {"LDS size", "Shared Memory Size", "Shared Memory"};
    *kernel = (wf_kernel_info){.groups = groups, .subgroup_size = pipeline->subgroup_size};
    if (pipeline->spirv)
        kernel->spirv_hash = pipeline->spirv->hash;
    memcpy(kernel->group_size, pipeline->group_size, sizeof kernel->group_size);
    for (uint32_t i = 0; i < pipeline->statistic_count; i++)
        kernel->statistics[kernel->statistic_count++] = pipeline->statistics[i];
    kernel->registers = registers_of(kernel);
    kernel->spilled = statistic(kernel, spilled, WFI_COUNT(spilled));
    if (statistic(kernel, tmu, WFI_COUNT(tmu)))
        kernel->spilled = (kernel->spilled + TMU_BYTES - 1) / TMU_BYTES;
    if (!wfi_is_main_kernel(point, pipeline->spirv))
        kernel->shared_bytes = statistic(kernel, shared, WFI_COUNT(shared));
    else if (point->variant->shared_bytes)
        kernel->shared_bytes = point->variant->shared_bytes(point);
    if (kernel->subgroup_size == 0)
        kernel->subgroup_size = point->caps->subgroup_size;
}

wf_plan_info wfi_describe_choice(const wfi_choice *choice)
{
    const wfi_variant *variant = choice->point.variant;
    const wfi_family *family = choice->family;
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
    if (variant->access)
        variant->access(&choice->point, &info.access);
    info.requested_bytes = traffic.requested;
    info.stored_bytes = traffic.stored;
    info.shared_requested_bytes = traffic.shared;
    info.group_bytes = traffic.groups;
    info.tile_order = traffic.tile_order;
    info.kernel.groups = (uint64_t)traffic.work_groups;
    for (uint32_t i = 0; i < variant->parameter_count; i++)
        info.constants[i] =
            (wf_constant){variant->parameters[i].name, wfi_point_get(&choice->point, i)};
    return info;
}
