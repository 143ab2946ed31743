/* Plans of the sliced variant: converts blocks of rows, as few as bindings allow. */
#include <stddef.h>
#include <string.h>

#include "plan/dispatch_size.h"
#include "kernels/spmv/formats/sliced.h"
#include "kernels/spmv/build.h"
#include "wfi_shaders.h"

/* As in spmv_sliced.comp, behind alpha and beta. */
typedef struct sliced_push {
    uint32_t slices, group_row_groups, segments_at, list_at, partials_at, base_y, groups, reversed;
} sliced_push;

_Static_assert(2 * sizeof(double) + sizeof(sliced_push) <= WFI_SPMV_SLICED_PUSH, "push constants");

/* Work-groups of a fused product, which those who need the dot product all add up. */
#define MOST_FUSED_GROUPS 2048
#define MOST_ROWS (UINT32_C(1) << 31) /* the list of rows has a flag in the top bit */

/* Counters of long rows come first, then the partial sums: this is where, in partial sums. */
static uint64_t partials_at(const wfi_sliced *sliced, uint64_t real)
{
    return (sliced->long_rows * UINT64_C(4) + real - 1) / real;
}

static uint64_t scratch_bytes(const wfi_sliced *sliced, uint64_t real)
{
    return (partials_at(sliced, real) + sliced->segments) * real;
}

static bool fits(const wf_caps *caps, const wfi_sliced *sliced, const wfi_spmv_job *job,
                 uint32_t rows)
{
    return wfi_spmv_rearranged_fits(caps, job, rows, sliced->pattern_words, sliced->place_count,
                                    scratch_bytes(sliced, wf_type_size(job->matrix.type)));
}

static wf_result add_block(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                           const wfi_sliced_params *block, const wfi_sliced *sliced,
                           uint32_t pipeline)
{
    const wf_spmv_params *p = &job->matrix;
    const uint64_t real = wf_type_size(wfi_spmv_real(p->type));
    const uint32_t a_group = point->values[SPMV_ID_LOCAL_X] / block->subgroup;
    sliced_push push = {.slices = sliced->slices,
                        .group_row_groups = (sliced->group_row_slices + a_group - 1) / a_group,
                        .segments_at = sliced->segments_at,
                        .list_at = sliced->list_at,
                        .partials_at = (uint32_t)partials_at(sliced, real)};
    wfi_step step = {.pipeline = pipeline, .slot_count = 5, .divisible = job->kept->partials == 0};
    const uint64_t groups = (sliced->slices + (uint64_t)a_group - 1) / a_group;
    const uint32_t partials = job->kept->partials;
    const bool grid_stride = partials && groups > MOST_FUSED_GROUPS;
    wf_result result =
        wfi_dispatch_size(plan, grid_stride ? MOST_FUSED_GROUPS : groups, step.groups);
    push.groups = (uint32_t)groups;
    if (partials)
        step.slots[step.slot_count++] =
            (wfi_slot){WFI_SLOT_BINDING, WFI_SPMV_PARTIALS, 0, partials * real};
    if (result == WF_SUCCESS)
        result =
            wfi_spmv_own(plan, job, sliced->pattern, sliced->pattern_words * 4, &step.slots[0]);
    if (result == WF_SUCCESS)
        result = wfi_spmv_values(plan, job, sliced->places, sliced->place_count,
                                 p->row_offsets[block->first],
                                 p->row_offsets[block->first + block->rows], &step.slots[1]);
    if (result == WF_SUCCESS)
        result = wfi_spmv_own(plan, job, NULL, scratch_bytes(sliced, real), &step.slots[4]);
    step.slots[2] = wfi_spmv_x_slot(job);
    step.slots[3] = wfi_spmv_y_slot(point->caps, job, block->first, block->rows, &push.base_y);
    const uint32_t at = wfi_spmv_put_push(p, &push, sizeof push, &step);
    if (block->window < block->rows) /* else the shortest rows are last, as they should be */
        step.parity_at = at + (uint32_t)offsetof(sliced_push, reversed);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

/* Converts the block's rows, or fewer until they fit. */
static wf_result make_block(wf_plan *plan, const wfi_spmv_job *job, wfi_sliced_params *block,
                            wfi_sliced *sliced)
{
    wf_device *device = wfi_plan_device(plan);
    for (;;) {
        wf_result result = wfi_sliced_make(block, sliced);
        if (result != WF_SUCCESS)
            return wfi_no_memory(&device->log);
        if (fits(&device->caps, sliced, job, block->rows))
            return WF_SUCCESS;
        wfi_sliced_free(sliced);
        if (block->rows == 1)
            return wfi_spmv_row_too_long(plan, job, block->first);
        block->rows /= 2;
    }
}

/* Whether the product goes into one dispatch. */
static bool is_short(const wf_plan *plan)
{
    const double longest = wfi_plan_device(plan)->dispatch_seconds;
    return !(longest > 0) || wfi_plan_guessed_seconds(plan) <= longest;
}

/* The pipeline, once the first block is there: one that leaves the dot product where it is asked
 * for, the matrix is one block and its product one dispatch. */
static wf_result begin(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                       const wfi_sliced_params *block, const wfi_sliced *sliced, uint32_t *pipeline)
{
    const wf_spmv_params *p = &job->matrix;
    const uint32_t a_group = point->values[SPMV_ID_LOCAL_X] / block->subgroup;
    const uint64_t groups = (sliced->slices + (uint64_t)a_group - 1) / a_group;
    const uint64_t real = wf_type_size(p->type);
    wfi_pipeline_desc desc;
    wfi_point_pipeline(point, &desc);
    wfi_pipeline_constant(&desc, SPMV_ID_FENCES, wfi_spmv_fences(point->caps));
    if (!job->kept->fuse || block->rows != p->rows || p->type == WF_TYPE_F16 ||
        point->caps->max_storage_buffers < 6 || !is_short(plan))
        return wfi_spmv_begin_with(plan, &desc, job, pipeline);
    desc.spirv = p->type == WF_TYPE_F64 ? &wfi_spv_spmv_fused_f64 : &wfi_spv_spmv_fused_f32;
    desc.storage_buffers = 6;
    wfi_pipeline_constant(&desc, SPMV_ID_GRID_STRIDE, groups > MOST_FUSED_GROUPS);
    job->kept->partials =
        sliced->long_rows + (uint32_t)(groups < MOST_FUSED_GROUPS ? groups : MOST_FUSED_GROUPS);
    const wfi_binding_spec partials = {"partials", WFI_WRITES, job->kept->partials * real};
    wf_result result = wfi_spmv_begin_with(plan, &desc, job, pipeline);
    return result == WF_SUCCESS ? wfi_plan_add_binding(plan, &partials) : result;
}

wf_result wfi_spmv_sliced_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_spmv_job *job = params;
    const wf_spmv_params *p = &job->matrix;
    uint32_t pipeline = 0;
    wf_result result = WF_SUCCESS;
    wfi_plan_bind_sets(plan); /* pushing them takes the device 0.27 us a product on an H100 */
    for (uint32_t first = 0; result == WF_SUCCESS && first < p->rows;) {
        const uint32_t left = p->rows - first;
        wfi_sliced_params block = {
            .matrix = p,
            .first = first,
            .rows = left < MOST_ROWS ? left : MOST_ROWS - 1,
            .subgroup = point->caps->subgroup_size,
            .loads = point->values[SPMV_ID_SLICE_LOADS],
            .window = point->values[SPMV_ID_WINDOW],
            .row_subgroups = point->values[SPMV_ID_ROW_SUBGROUPS],
        };
        wfi_sliced sliced = {0};
        result = make_block(plan, job, &block, &sliced);
        if (result == WF_SUCCESS && first == 0)
            result = begin(plan, point, job, &block, &sliced, &pipeline);
        if (result == WF_SUCCESS)
            result = add_block(plan, point, job, &block, &sliced, pipeline);
        wfi_sliced_free(&sliced);
        first += block.rows;
    }
    return result;
}
