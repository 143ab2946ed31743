#include "plan/fixed.h"

static double no_work(const wfi_problem *problem)
{
    (void)problem;
    return 0;
}

const wfi_family wfi_family_none = {
    .name = "none",
    .summary = "kernels of no family",
    .flops = no_work,
    .least_bytes = no_work,
};

void wfi_fixed_group(const wfi_point *point, uint32_t size[3])
{
    (void)point;
    size[0] = WFI_FIXED_GROUP;
    size[1] = size[2] = 1;
}

wf_result wfi_fixed_plan(wf_device *device, const wfi_family *family, const wfi_problem *problem,
                         const wfi_variant *row, uint32_t value, const void *params, wf_plan **out)
{
    const wfi_choice choice = {
        .point = {.caps = &device->caps, .problem = problem, .variant = row, .values = {value}},
        .chosen_by = "fixed",
        .family = family};
    return wfi_plan_create(device, &choice, params, out);
}

wf_result wfi_fixed_build(wf_plan *plan, const wfi_point *point, const wfi_binding_spec *bindings,
                          uint32_t count, wfi_step *step)
{
    wfi_pipeline_desc desc;
    wfi_point_pipeline(point, &desc);
    step->slot_count = count;
    wf_result result = wfi_plan_add_pipeline(plan, &desc, &step->pipeline);
    for (uint32_t i = 0; i < count && result == WF_SUCCESS; i++) {
        if (step->slots[i].bytes == 0)
            step->slots[i] = (wfi_slot){WFI_SLOT_BINDING, i, 0, bindings[i].bytes};
        result = wfi_plan_add_binding(plan, &bindings[i]);
    }
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, step) : result;
}
