/* Stencils from one storage image to another: a kernel that is the same for every device, one step
 * a plan. */
#include "kernels/stencil/image.h"

#include <string.h>

#include "kernels/stencil/rows.h"

static void group_size(const wfi_point *point, uint32_t size[3])
{
    const bool flat = point->problem->stencil.dimensions == 2;
    size[0] = 16;
    size[1] = flat ? 1 : 4;
    size[2] = flat ? 8 : 2;
}

static wf_result add_bindings(wf_plan *plan)
{
    const wfi_binding_spec specs[] = {{"in", WFI_READS, WFI_IMAGE}, {"out", WFI_WRITES, WFI_IMAGE}};
    wf_result result = wfi_plan_add_binding(plan, &specs[0]);
    return result == WF_SUCCESS ? wfi_plan_add_binding(plan, &specs[1]) : result;
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const wfi_stencil_axes a = wfi_stencil_axes_of(p);
    const uint64_t extents[3] = {a.ni, a.nj, a.nk};
    const wfi_stencil_push push = {
        .ni = (int32_t)a.ni, .nj = (int32_t)a.nj, .nk = (int32_t)a.nk, .end = (int32_t)a.nk};
    wfi_step step = {.slot_count = 3,
                     .slots = {{WFI_SLOT_BINDING, WF_STENCIL_IN, 0, 0},
                               {WFI_SLOT_BINDING, WF_STENCIL_OUT, 0, 0},
                               {WFI_SLOT_OWN, 0, 0, wfi_stencil_taps(p) * sizeof(float)}},
                     .images = 1 << WF_STENCIL_IN | 1 << WF_STENCIL_OUT,
                     .push_bytes = sizeof push,
                     .divisible = true};
    wfi_pipeline_desc desc;
    uint32_t size[3];
    wfi_point_pipeline(point, &desc);
    group_size(point, size);
    for (int i = 0; i < 3; i++)
        step.groups[i] = (uint32_t)((extents[i] + size[i] - 1) / size[i]);
    memcpy(step.push, &push, sizeof push);
    wf_result result = add_bindings(plan);
    if (result == WF_SUCCESS)
        result = wfi_stencil_add_coefficients(plan, point, params);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_pipeline(plan, &desc, &step.pipeline);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

#define ROW(dimensions, format)                                                                    \
    {                                                                                              \
        .name = "image", .summary = "one work-item a texel",                                       \
        .modules = {[WF_TYPE_F32] = &wfi_spv_stencil_image##dimensions##_##format},                \
        .storage_buffers = 3, .storage_images = 1 << WF_STENCIL_IN | 1 << WF_STENCIL_OUT,          \
        .push_bytes = sizeof(wfi_stencil_push), .group_size = group_size,                          \
        .constants = wfi_stencil_constants, .build = build,                                        \
    }

static const wfi_variant flat_rows[] = {
    [WF_IMAGE_R32F] = ROW(2, r32f),
    [WF_IMAGE_R16F] = ROW(2, r16f),
    [WF_IMAGE_RGBA16F] = ROW(2, rgba16f),
    [WF_IMAGE_RGBA8] = ROW(2, rgba8),
};
static const wfi_variant solid_rows[] = {
    [WF_IMAGE_R32F] = ROW(3, r32f),
    [WF_IMAGE_R16F] = ROW(3, r16f),
    [WF_IMAGE_RGBA16F] = ROW(3, rgba16f),
    [WF_IMAGE_RGBA8] = ROW(3, rgba8),
};

const wfi_variant *wfi_stencil_image_variant(const wfi_stencil_problem *problem, wf_image format)
{
    return problem->dimensions == 2 ? &flat_rows[format] : &solid_rows[format];
}
