#include "kernels/spmv/build.h"

#include <string.h>

#include "core/heap.h"
#include "kernels/spmv/analysis/csr_copy.h"
#include "plan/dispatch_size.h"

wf_result wfi_spmv_begin_with(wf_plan *plan, const wfi_pipeline_desc *desc, const wfi_spmv_job *job,
                              uint32_t *pipeline)
{
    const wfi_binding_spec x = {"x", WFI_READS, wfi_spmv_x_bytes(job)},
                           y = {"y", WFI_READS_WRITES, wfi_spmv_y_bytes(job, job->matrix.rows)};
    wf_result result = wfi_plan_add_pipeline(plan, desc, pipeline);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_binding(plan, &x);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_binding(plan, &y);
    return result;
}

wf_result wfi_spmv_add_kernel(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                              const wfi_constant *constants, uint32_t count, bool first,
                              uint32_t *pipeline)
{
    wfi_pipeline_desc desc;
    wfi_point_pipeline(point, &desc);
    for (uint32_t i = 0; i < count; i++)
        wfi_pipeline_constant(&desc, constants[i].id, constants[i].value);
    return first ? wfi_spmv_begin_with(plan, &desc, job, pipeline)
                 : wfi_plan_add_pipeline(plan, &desc, pipeline);
}

/* The point's pipeline and the bindings x and y. */
static wf_result begin(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                       uint32_t *pipeline)
{
    wfi_pipeline_desc desc;
    wfi_point_pipeline(point, &desc);
    return wfi_spmv_begin_with(plan, &desc, job, pipeline);
}

/* --------------------------------------------------------------------------------------- blocks */

/* Whether so many rows and entries fit bindings; `extra` as in wfi_spmv_each_block. */
static bool block_fits(const wf_caps *caps, const wfi_spmv_job *job, uint64_t rows,
                       uint64_t entries, uint32_t extra)
{
    const uint64_t range = wfi_spmv_range(caps), size = wf_type_size(job->matrix.type);
    return (entries + rows + 1) * 4 + rows * extra <= range && entries * size <= range &&
           wfi_spmv_y_bytes(job, (uint32_t)rows) + caps->storage_alignment <= range;
}

/* The block that starts at `first`, as long as bindings allow; rows 0 when even one row is over. */
static wfi_spmv_block next_block(const wf_caps *caps, const wfi_spmv_job *job, uint32_t first,
                                 uint32_t extra)
{
    const wf_spmv_params *p = &job->matrix;
    wfi_spmv_block block = {.first = first};
    while (first + block.rows < p->rows) {
        const uint32_t rows = block.rows + 1;
        const uint64_t entries = p->row_offsets[first + rows] - (uint64_t)p->row_offsets[first];
        if (!block_fits(caps, job, rows, entries, extra))
            break;
        block.rows = rows;
        block.entries = (uint32_t)entries;
    }
    return block;
}

/* All rows of a matrix in device memory. */
static wf_result add_whole(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                           uint32_t pipeline, uint32_t extra, wfi_spmv_add_fn add)
{
    const uint32_t rows = job->matrix.rows, entries = job->csr.entries;
    wfi_spmv_block block = {.rows = rows, .entries = entries, .pipeline = pipeline};
    return block_fits(point->caps, job, rows, entries, extra) ? add(plan, point, job, &block)
                                                              : WF_NOT_READY;
}

wf_result wfi_spmv_each_block(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                              uint32_t extra, wfi_spmv_add_fn add)
{
    uint32_t pipeline = 0;
    wf_result result = begin(plan, point, job, &pipeline);
    if (result == WF_SUCCESS && job->csr.device)
        return add_whole(plan, point, job, pipeline, extra, add);
    for (uint32_t first = 0; result == WF_SUCCESS && first < job->matrix.rows;) {
        wfi_spmv_block block = next_block(point->caps, job, first, extra);
        if (block.rows == 0)
            return wfi_spmv_row_too_long(plan, job, first);
        block.pipeline = pipeline;
        result = add(plan, point, job, &block);
        first += block.rows;
    }
    return result;
}

/* Row offsets counted from the block's first entry, the column indices, the tail; to be freed. */
static uint32_t *join_pattern(const wf_spmv_params *p, const wfi_spmv_block *block,
                              const uint32_t *tail, uint32_t tail_words, uint64_t *words)
{
    const uint32_t begin = p->row_offsets[block->first];
    *words = block->rows + UINT64_C(1) + block->entries + tail_words;
    uint32_t *pattern = wfi_malloc((size_t)*words * sizeof *pattern);
    if (!pattern)
        return NULL;
    for (uint32_t i = 0; i <= block->rows; i++)
        pattern[i] = p->row_offsets[block->first + i] - begin;
    if (block->entries)
        memcpy(pattern + block->rows + 1, p->column_indices + begin,
               block->entries * sizeof *pattern);
    if (tail_words)
        memcpy(pattern + *words - tail_words, tail, tail_words * sizeof *pattern);
    return pattern;
}

/* The host's arrays of a block, in buffers of the plan's. */
static wf_result put_arrays(wf_plan *plan, const wfi_spmv_job *job, const wfi_spmv_block *block,
                            const uint32_t *tail, uint32_t tail_words, wfi_step *step)
{
    const uint32_t begin = job->matrix.row_offsets[block->first];
    uint64_t words = 0;
    uint32_t *pattern = join_pattern(&job->matrix, block, tail, tail_words, &words);
    if (!pattern)
        return wfi_no_memory(&wfi_plan_device(plan)->log);
    wf_result result = wfi_spmv_own(plan, job, pattern, words * 4, &step->slots[0]);
    wfi_free(pattern);
    if (result == WF_SUCCESS)
        result = wfi_spmv_values(plan, job, NULL, block->entries, begin, begin + block->entries,
                                 &step->slots[1]);
    return result;
}

/* The same of a matrix in device memory, whole. */
static wf_result copy_arrays(wf_plan *plan, const wfi_spmv_job *job, wfi_step *step)
{
    wfi_passes passes;
    wfi_csr_copied made = {.pattern = NULL};
    wf_result result = wfi_passes_open(wfi_plan_device(plan), &passes);
    if (result == WF_SUCCESS)
        result = wfi_csr_copy(&passes, &job->csr, job->kept->updatable, &made);
    wfi_passes_close(&passes);
    if (result == WF_SUCCESS)
        result = wfi_spmv_adopt(plan, job, &made.pattern, made.pattern_words * 4, &step->slots[0]);
    if (result == WF_SUCCESS)
        result = wfi_spmv_adopt_values(plan, job, &made.values, &made.places, job->csr.entries,
                                       &step->slots[1]);
    wfi_csr_copied_free(&made);
    return result;
}

wf_result wfi_spmv_block_step(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                              wfi_spmv_block *block, const uint32_t *tail, uint32_t tail_words,
                              wfi_step *step)
{
    const wf_spmv_params *p = &job->matrix;
    block->push = (wfi_spmv_csr_push){.rows = block->rows,
                                      .columns_at = block->rows + 1,
                                      .x_stride = p->x_stride,
                                      .y_stride = p->y_stride,
                                      .more = block->more};
    *step = (wfi_step){.pipeline = block->pipeline, .slot_count = 4};
    const uint64_t groups = (block->rows + (uint64_t)block->rows_a_group - 1) / block->rows_a_group;
    wf_result result = wfi_dispatch_size(plan, groups, step->groups);
    if (result == WF_SUCCESS)
        result = job->csr.device ? copy_arrays(plan, job, step)
                                 : put_arrays(plan, job, block, tail, tail_words, step);
    step->slots[WFI_SPMV_X_SLOT] = wfi_spmv_x_slot(job);
    step->slots[WFI_SPMV_Y_SLOT] =
        wfi_spmv_y_slot(point->caps, job, block->first, block->rows, &block->push.base_y);
    step->groups[2] = p->vectors;
    wfi_spmv_put_push(p, &block->push, sizeof block->push, step);
    return result;
}

wf_result wfi_spmv_add_block(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                             wfi_spmv_block *block, uint32_t rows_a_group, uint32_t depth)
{
    wfi_step step;
    block->rows_a_group = rows_a_group;
    wf_result result = wfi_spmv_block_step(plan, point, job, block, NULL, 0, &step);
    if (point->variant->texel_buffers) /* f64 is read as the words of its bits */
        step.texels[WFI_SPMV_X_SLOT] =
            job->matrix.type == WF_TYPE_F64 ? VK_FORMAT_R32G32_UINT : VK_FORMAT_R32_SFLOAT;
    step.groups[2] = depth;
    step.divisible = true;
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

static wf_result add_lanes(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                           wfi_spmv_block *block)
{
    return wfi_spmv_add_block(plan, point, job, block,
                              point->values[SPMV_ID_LOCAL_X] / point->values[SPMV_ID_LANES],
                              job->matrix.vectors);
}

wf_result wfi_spmv_lanes_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, 0, add_lanes);
}
