/* Plans of the sliced variant: converts blocks of rows, as few as bindings allow. */
#include <string.h>

#include "kernels/grid.h"
#include "kernels/sliced.h"
#include "kernels/spmv_build.h"

/* As in spmv_sliced.comp. */
typedef struct sliced_push {
    uint32_t slices, segments_at, list_at, partials_at, base_y;
} sliced_push;

_Static_assert(sizeof(sliced_push) == WFI_SPMV_SLICED_PUSH, "push constants");

#define MOST_ROWS (UINT32_C(1) << 31) /* the list of rows has a flag in the top bit */

/* Bytes of the counters and partial sums of long rows. */
static uint64_t scratch_bytes(const wfi_sliced *sliced, wf_type type)
{
    return sliced->long_rows * UINT64_C(4) + sliced->segments * (uint64_t)wf_type_size(type);
}

static bool fits(const wf_caps *caps, const wfi_sliced *sliced, const wf_spmv_params *p,
                 uint32_t rows)
{
    const uint64_t range =
        caps->max_storage_range < caps->max_buffer ? caps->max_storage_range : caps->max_buffer;
    const uint64_t y_bytes = (uint64_t)rows * wf_type_size(p->type) + caps->storage_alignment;
    return sliced->pattern_words * 4 <= range && sliced->value_bytes <= range && y_bytes <= range &&
           scratch_bytes(sliced, p->type) <= range;
}

/* A buffer of the plan's, bound whole; without data it starts at zero. */
static wf_result own_slot(wf_plan *plan, const void *data, uint64_t bytes, wfi_slot *slot)
{
    uint32_t index = 0;
    wf_result result = wfi_plan_add_own(plan, bytes ? data : NULL, bytes, &index);
    *slot = (wfi_slot){WFI_SLOT_OWN, index, 0, bytes ? bytes : 4};
    return result;
}

static wf_result add_block(wf_plan *plan, const wfi_point *point, const wfi_sliced_params *block,
                           const wfi_sliced *sliced, uint32_t pipeline)
{
    const wf_spmv_params *p = block->matrix;
    const uint32_t a_group = point->values[WFI_SPMV_SLICED_LOCAL_X] / block->subgroup;
    sliced_push push = {sliced->slices, sliced->segments_at, sliced->list_at, sliced->long_rows, 0};
    wfi_step step = {.pipeline = pipeline, .slot_count = 5, .push_bytes = sizeof push};
    wf_result result =
        wfi_grid(plan, (sliced->slices + (uint64_t)a_group - 1) / a_group, step.groups);
    if (result == WF_SUCCESS)
        result = own_slot(plan, sliced->pattern, sliced->pattern_words * 4, &step.slots[0]);
    if (result == WF_SUCCESS)
        result = own_slot(plan, sliced->values, sliced->value_bytes, &step.slots[1]);
    if (result == WF_SUCCESS)
        result = own_slot(plan, NULL, scratch_bytes(sliced, p->type), &step.slots[4]);
    step.slots[2] =
        (wfi_slot){WFI_SLOT_BINDING, WF_SPMV_X, 0, p->columns * (uint64_t)wf_type_size(p->type)};
    step.slots[3] = wfi_spmv_y_slot(point->caps, p, block->first, block->rows, &push.base_y);
    memcpy(step.push, &push, sizeof push);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

/* Converts the block's rows, or fewer until they fit. */
static wf_result make_block(wf_plan *plan, wfi_sliced_params *block, wfi_sliced *sliced)
{
    wf_device *device = wfi_plan_device(plan);
    for (;;) {
        wf_result result = wfi_sliced_make(block, sliced);
        if (result != WF_SUCCESS)
            return wfi_fail(&device->log, result, "out of host memory");
        if (fits(&device->caps, sliced, block->matrix, block->rows))
            return WF_SUCCESS;
        wfi_sliced_free(sliced);
        if (block->rows == 1)
            return wfi_spmv_row_too_long(plan, block->matrix, block->first);
        block->rows /= 2;
    }
}

wf_result wfi_spmv_sliced_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wf_spmv_params *p = params;
    uint32_t pipeline = 0;
    wf_result result = wfi_spmv_begin(plan, point, p, &pipeline);
    for (uint32_t first = 0; result == WF_SUCCESS && first < p->rows;) {
        const uint32_t left = p->rows - first;
        wfi_sliced_params block = {
            .matrix = p,
            .first = first,
            .rows = left < MOST_ROWS ? left : MOST_ROWS - 1,
            .subgroup = point->caps->subgroup_size,
            .turns = point->values[WFI_SPMV_SLICED_TURNS],
            .window = point->values[WFI_SPMV_SLICED_WINDOW],
        };
        wfi_sliced sliced = {0};
        result = make_block(plan, &block, &sliced);
        if (result == WF_SUCCESS)
            result = add_block(plan, point, &block, &sliced, pipeline);
        wfi_sliced_free(&sliced);
        first += block.rows;
    }
    return result;
}
