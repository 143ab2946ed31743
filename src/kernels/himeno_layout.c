/* Where the values of a Himeno problem lie, and the plans that do not depend on a variant. */
#include <string.h>

#include "core/arithmetic.h"
#include "kernels/grid.h"
#include "kernels/himeno.h"
#include "kernels/himeno_rows.h"
#include "wfi_shaders.h"

#define PLAIN_GROUP 128 /* work-items; within every device's limits */

uint32_t wfi_himeno_steps(const wfi_point *point)
{
    return wfi_point_value(point, "steps", 1);
}

wfi_himeno_layout wfi_himeno_layout_of(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const uint64_t pad = wfi_point_value(point, "pad", 1), inner = p->ni - 2;
    const uint64_t block = wfi_point_value(point, "interleave", 0), row = wfi_round_up(inner, pad);
    wfi_himeno_layout layout = {
        .p_left = pad,
        .p_row = wfi_round_up(pad + inner + 1, pad),
        .interleaved = block != 0,
    };
    layout.c_block = block == 0 || block > row ? row : block;
    layout.c_length = wfi_round_up(row, layout.c_block);
    layout.p_plane = layout.p_row * p->nj;
    layout.c_row = layout.c_length * (layout.interleaved ? WFI_HIMENO_COEFFICIENTS : 1);
    layout.c_plane = layout.c_row * (p->nj - 2);
    return layout;
}

static uint64_t slab_planes(const wfi_himeno_slab *slab)
{
    return (uint64_t)slab->lower + slab->planes + slab->upper;
}

uint64_t wfi_himeno_array(const wfi_himeno_layout *layout, const wfi_himeno_slab *slab)
{
    return layout->interleaved ? layout->c_block : layout->c_plane * slab_planes(slab);
}

uint64_t wfi_himeno_cells(const wfi_himeno_layout *layout, const wfi_himeno_slab *slab)
{
    return layout->c_plane * slab_planes(slab) *
           (layout->interleaved ? 1 : WFI_HIMENO_COEFFICIENTS);
}

static void plain_group(const wfi_point *point, uint32_t size[3])
{
    (void)point;
    size[0] = PLAIN_GROUP;
    size[1] = size[2] = 1;
}

typedef struct sum_push {
    uint32_t rows, groups;
} sum_push;

static wf_result build_sum(wf_plan *plan, const wfi_point *point, const void *params)
{
    const sum_push *push = params;
    const wfi_binding_spec specs[] = {
        {"partial sums", WFI_READS, (uint64_t)push->rows * push->groups * sizeof(float)},
        {"gosa", WFI_WRITES, push->rows * sizeof(float)},
    };
    wfi_pipeline_desc desc;
    wfi_step step = {
        .groups = {push->rows, 1, 1},
        .slot_count = 2,
        .slots = {{WFI_SLOT_BINDING, 0, 0, specs[0].bytes},
                  {WFI_SLOT_BINDING, 1, 0, specs[1].bytes}},
        .push_bytes = sizeof *push,
        .takes_turn = true,
    };
    memcpy(step.push, push, sizeof *push);
    wfi_point_pipeline(point, &desc);
    wf_result result = wfi_plan_add_pipeline(plan, &desc, &step.pipeline);
    for (int i = 0; i < 2 && result == WF_SUCCESS; i++)
        result = wfi_plan_add_binding(plan, &specs[i]);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

typedef struct start_push {
    uint32_t count, c_array;
    float sixth;
} start_push;

static wf_result build_start(wf_plan *plan, const wfi_point *point, const void *params)
{
    const start_push *push = params;
    const wfi_binding_spec spec = {"coefficients", WFI_WRITES,
                                   (uint64_t)push->count * sizeof(float)};
    wfi_pipeline_desc desc;
    wfi_step step = {
        .slot_count = 1,
        .slots = {{WFI_SLOT_BINDING, 0, 0, spec.bytes}},
        .push_bytes = sizeof *push,
    };
    memcpy(step.push, push, sizeof *push);
    wfi_point_pipeline(point, &desc);
    wf_result result = wfi_plan_add_pipeline(plan, &desc, &step.pipeline);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_binding(plan, &spec);
    if (result == WF_SUCCESS)
        result =
            wfi_grid(plan, ((uint64_t)push->count + PLAIN_GROUP - 1) / PLAIN_GROUP, step.groups);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

static const wfi_variant sum_row = {
    .name = "gosa",
    .modules = {[WF_TYPE_F32] = &wfi_spv_stencil_gosa},
    .storage_buffers = 2,
    .push_bytes = sizeof(sum_push),
    .group_size = plain_group,
    .build = build_sum,
};

static const wfi_variant start_row = {
    .name = "start",
    .modules = {[WF_TYPE_F32] = &wfi_spv_stencil_start},
    .storage_buffers = 1,
    .push_bytes = sizeof(start_push),
    .group_size = plain_group,
    .build = build_start,
};

static wf_result fixed_plan(wf_device *device, const wfi_variant *row, const void *params,
                            wf_plan **out)
{
    const wfi_problem problem = {.family = WF_FAMILY_STENCIL, .stencil = {3, 3, 3}};
    const wfi_choice choice = {{&device->caps, &problem, row, {0}}, "fixed"};
    return wfi_plan_create(device, &choice, params, out);
}

wf_result wfi_himeno_sum_plan(wf_device *device, uint32_t rows, uint32_t groups, wf_plan **out)
{
    const sum_push push = {rows, groups};
    return fixed_plan(device, &sum_row, &push, out);
}

wf_result wfi_himeno_start_plan(wf_device *device, uint64_t count, uint64_t array, wf_plan **out)
{
    const start_push push = {(uint32_t)count, (uint32_t)array, 1.0f / 6.0f};
    return fixed_plan(device, &start_row, &push, out);
}
