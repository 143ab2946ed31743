/* Where the values of a Himeno problem lie, and the plans that do not depend on a variant. */
#include <string.h>

#include "core/arithmetic.h"
#include "plan/fixed.h"
#include "plan/dispatch_size.h"
#include "kernels/himeno/himeno.h"
#include "wfi_shaders.h"

uint32_t wfi_himeno_steps(const wfi_point *point)
{
    return wfi_point_value(point, HIMENO_ID_STEPS, 1);
}

wfi_himeno_layout wfi_himeno_layout_of(const wfi_point *point)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    const uint64_t pad = wfi_point_value(point, HIMENO_ID_PAD, 1),
                   inner = p->held_i ? p->held_i : p->ni - 2,
                   rows = p->held_j ? p->held_j : p->nj - 2;
    const uint64_t block = wfi_point_value(point, HIMENO_ID_INTERLEAVE, 0),
                   row = wfi_round_up(inner, pad);
    wfi_himeno_layout layout = {
        .p_left = pad,
        .p_row = wfi_round_up(pad + inner + 1, pad),
        .interleaved = block != 0,
    };
    layout.c_block = block == 0 || block > row ? row : block;
    layout.c_length = wfi_round_up(row, layout.c_block);
    layout.p_plane = layout.p_row * (rows + 2);
    layout.c_row = layout.c_length * (layout.interleaved ? WFI_HIMENO_COEFFICIENTS : 1);
    layout.c_plane = layout.c_row * rows;
    return layout;
}

uint64_t wfi_himeno_range(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const uint64_t texels = caps->max_texel_elements * (uint64_t)WFI_HIMENO_TEXEL_BYTES;
    const uint64_t range = point->variant->texel_buffers
                               ? wfi_least(caps->max_storage_range, texels)
                               : caps->max_storage_range;
    /* A window's start is rounded down to the alignment. */
    return range - wfi_least(range, wfi_window_alignment(caps) + 16);
}

uint64_t wfi_himeno_allocation(const wf_caps *caps)
{
    return wfi_least(caps->max_allocation, caps->max_buffer);
}

/* Whole planes of `plane` elements that `bytes` hold beside `halo` planes on either side. */
static uint64_t planes_in(uint64_t bytes, uint64_t plane, uint64_t halo)
{
    const uint64_t each = plane * sizeof(float); /* 0: a grid without inner cells */
    const uint64_t fit = each ? bytes / each : 0;
    return fit > 2 * halo ? fit - 2 * halo : 0;
}

wfi_himeno_room wfi_himeno_room_of(const wfi_point *point)
{
    const wfi_himeno_layout layout = wfi_himeno_layout_of(point);
    const uint64_t allocation = wfi_himeno_allocation(point->caps), range = wfi_himeno_range(point),
                   steps = wfi_himeno_steps(point),
                   cells = layout.c_plane * (layout.interleaved ? 1 : WFI_HIMENO_COEFFICIENTS);
    return (wfi_himeno_room){
        .block_planes = planes_in(allocation, layout.p_plane, steps),
        .slab_planes = wfi_least(planes_in(range, layout.p_plane, steps),
                                 planes_in(wfi_least(range, allocation), cells, steps - 1))};
}

bool wfi_himeno_fits(const wfi_point *point)
{
    const wfi_himeno_room room = wfi_himeno_room_of(point);
    return room.block_planes > 0 && room.slab_planes > 0;
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
    wfi_step step = {
        .groups = {push->rows, 1, 1},
        .push_bytes = sizeof *push,
        .takes_sequence = true,
    };
    memcpy(step.push, push, sizeof *push);
    return wfi_fixed_build(plan, point, specs, 2, &step);
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
    wfi_step step = {.push_bytes = sizeof *push};
    memcpy(step.push, push, sizeof *push);
    wf_result result = wfi_dispatch_size(
        plan, ((uint64_t)push->count + WFI_FIXED_GROUP - 1) / WFI_FIXED_GROUP, step.groups);
    return result == WF_SUCCESS ? wfi_fixed_build(plan, point, &spec, 1, &step) : result;
}

static const wfi_variant sum_row = {
    .name = "gosa",
    .modules = {[WF_TYPE_F32] = &wfi_spv_himeno_gosa},
    .storage_buffers = 2,
    .push_bytes = sizeof(sum_push),
    .group_size = wfi_fixed_group,
    .build = build_sum,
};

static const wfi_variant start_row = {
    .name = "start",
    .modules = {[WF_TYPE_F32] = &wfi_spv_himeno_start},
    .storage_buffers = 1,
    .push_bytes = sizeof(start_push),
    .group_size = wfi_fixed_group,
    .build = build_start,
};

static const wfi_problem no_problem = {.family = WF_FAMILY_HIMENO,
                                       .himeno = {.ni = 3, .nj = 3, .nk = 3}};

wf_result wfi_himeno_sum_plan(wf_device *device, uint32_t rows, uint32_t groups, wf_plan **out)
{
    const sum_push push = {rows, groups};
    return wfi_fixed_plan(device, &wfi_family_none, &no_problem, &sum_row, 0, &push, out);
}

wf_result wfi_himeno_start_plan(wf_device *device, uint64_t count, uint64_t array, wf_plan **out)
{
    const start_push push = {(uint32_t)count, (uint32_t)array, 1.0f / 6.0f};
    return wfi_fixed_plan(device, &wfi_family_none, &no_problem, &start_row, 0, &push, out);
}
