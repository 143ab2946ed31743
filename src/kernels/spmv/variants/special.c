/* Plans of the variants that need more than one kind of dispatch, or another format: atomic,
 * adaptive, merge, blocked. */
#include <stdlib.h>
#include <string.h>

#include "plan/dispatch_size.h"
#include "kernels/spmv/build.h"
#include "wfi_shaders.h"

static const wfi_spirv *by_type(wf_type type, const wfi_spirv *f32, const wfi_spirv *f64,
                                const wfi_spirv *f16)
{
    return type == WF_TYPE_F64 ? f64 : type == WF_TYPE_F16 ? f16 : f32;
}

static void set_constant(wfi_pipeline_desc *desc, uint32_t id, uint32_t value)
{
    for (uint32_t i = 0; i < desc->constant_count; i++)
        if (desc->constants[i].id == id)
            desc->constants[i].value = value;
}

/* --------------------------------------------------------------------------------------- atomic */

static wf_result add_atomic(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                            wfi_spmv_block *block)
{
    const uint32_t local = point->values[SPMV_ID_LOCAL_X];
    wfi_pipeline_desc desc;
    wfi_step step, scale;
    wfi_point_pipeline(point, &desc);
    desc.spirv = by_type(job->matrix.type, &wfi_spv_spmv_scale_f32, &wfi_spv_spmv_scale_f64,
                         &wfi_spv_spmv_scale_f16);
    block->rows_a_group = local / point->values[SPMV_ID_LANES];
    wf_result result = wfi_spmv_block_step(plan, point, job, block, NULL, 0, &step);
    scale = step;
    if (result == WF_SUCCESS)
        result = wfi_dispatch_size(plan, (block->rows + (uint64_t)local - 1) / local, scale.groups);
    scale.groups[2] = job->matrix.vectors;
    if (result == WF_SUCCESS)
        result = wfi_plan_add_pipeline(plan, &desc, &scale.pipeline);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_step(plan, &scale);
    step.barrier = true;
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

wf_result wfi_spmv_atomic_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, 0, add_atomic);
}

/* ------------------------------------------------------------------------------------- adaptive */

enum { BINS = 5 };

/* Lanes of each bin, and the longest row that goes there: about eight entries a lane. */
static uint32_t bin_lanes(uint32_t bin, uint32_t local)
{
    static const uint32_t lanes[BINS] = {1, 4, 16, 64, UINT32_MAX};
    return lanes[bin] < local ? lanes[bin] : local;
}

static uint32_t bin_of(uint32_t length, uint32_t local)
{
    uint32_t bin = 0;
    while (bin < BINS - 1 && length > 8 * bin_lanes(bin, local))
        bin++;
    return bin;
}

/* The block's rows by bin, each bin in order; counts gets their numbers. */
static void sort_rows(const wf_spmv_params *p, const wfi_spmv_block *block, uint32_t local,
                      uint32_t counts[BINS], uint32_t *rows)
{
    uint32_t at[BINS] = {0};
    const uint32_t *offsets = p->row_offsets + block->first;
    memset(counts, 0, BINS * sizeof *counts);
    for (uint32_t i = 0; i < block->rows; i++)
        counts[bin_of(offsets[i + 1] - offsets[i], local)]++;
    for (uint32_t bin = 1; bin < BINS; bin++)
        at[bin] = at[bin - 1] + counts[bin - 1];
    for (uint32_t i = 0; i < block->rows; i++)
        rows[at[bin_of(offsets[i + 1] - offsets[i], local)]++] = i;
}

/* One dispatch a bin that has rows; they write different rows and need no order. */
static wf_result add_bins(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                          const uint32_t counts[BINS], wfi_step *step)
{
    const uint32_t local = point->values[SPMV_ID_LOCAL_X];
    const uint32_t scale = job->matrix.type == WF_TYPE_F64 ? 16 : 8;
    uint32_t more;
    wf_result result = WF_SUCCESS;
    memcpy(&more, step->push + scale + 20, sizeof more);
    for (uint32_t bin = 0; bin < BINS && result == WF_SUCCESS; bin++) {
        const uint32_t rows_a_group = local / bin_lanes(bin, local);
        wfi_pipeline_desc desc;
        if (counts[bin] == 0)
            continue;
        wfi_point_pipeline(point, &desc);
        set_constant(&desc, SPMV_ID_LANES, bin_lanes(bin, local));
        result = wfi_plan_add_pipeline(plan, &desc, &step->pipeline);
        if (result == WF_SUCCESS)
            result = wfi_dispatch_size(
                plan, (counts[bin] + (uint64_t)rows_a_group - 1) / rows_a_group, step->groups);
        step->groups[2] = job->matrix.vectors;
        memcpy(step->push + scale, &counts[bin], sizeof *counts);
        memcpy(step->push + scale + 20, &more, sizeof more);
        if (result == WF_SUCCESS)
            result = wfi_plan_add_step(plan, step);
        more += counts[bin];
    }
    return result;
}

static wf_result add_adaptive(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                              wfi_spmv_block *block)
{
    uint32_t counts[BINS];
    wfi_step step;
    uint32_t *rows = malloc(block->rows * sizeof *rows);
    if (!rows)
        return wfi_no_memory(&wfi_plan_device(plan)->log);
    sort_rows(&job->matrix, block, point->values[SPMV_ID_LOCAL_X], counts, rows);
    block->rows_a_group = 1;
    block->more = block->rows + 1 + block->entries; /* the list of rows */
    wf_result result = wfi_spmv_block_step(plan, point, job, block, rows, block->rows, &step);
    free(rows);
    return result == WF_SUCCESS ? add_bins(plan, point, job, counts, &step) : result;
}

wf_result wfi_spmv_adaptive_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, 4, add_adaptive);
}

/* ---------------------------------------------------------------------------------------- merge */

/* Adds up what work-groups left of rows that they did not end. */
static wf_result add_fix(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                         const wfi_step *merge, uint32_t groups)
{
    const wf_type type = job->matrix.type;
    const uint32_t local = point->values[SPMV_ID_LOCAL_X], scale = type == WF_TYPE_F64 ? 16 : 8;
    wfi_pipeline_desc desc;
    wfi_step step = {.slot_count = 2,
                     .slots = {merge->slots[4], merge->slots[3]},
                     .push_bytes = scale + 12,
                     .barrier = true};
    wfi_point_pipeline(point, &desc);
    desc.spirv = by_type(type, &wfi_spv_spmv_merge_fix_f32, &wfi_spv_spmv_merge_fix_f64,
                         &wfi_spv_spmv_merge_fix_f16);
    desc.storage_buffers = 2;
    memcpy(step.push, merge->push, scale + 4); /* alpha, beta, rows */
    memcpy(step.push + scale + 4, &groups, sizeof groups);
    memcpy(step.push + scale + 8, merge->push + scale + 8, 4); /* base_y */
    wf_result result = wfi_plan_add_pipeline(plan, &desc, &step.pipeline);
    if (result == WF_SUCCESS)
        result = wfi_dispatch_size(plan, (groups + (uint64_t)local - 1) / local, step.groups);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

static wf_result add_merge(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                           wfi_spmv_block *block)
{
    const uint64_t piece = point->values[SPMV_ID_LOCAL_X] * (uint64_t)point->values[SPMV_ID_ITEMS];
    const uint32_t groups =
        (uint32_t)((block->rows + (uint64_t)block->entries + piece - 1) / piece);
    wfi_step step;
    block->rows_a_group = 1;
    block->more = block->entries;
    wf_result result = wfi_spmv_block_step(plan, point, job, block, NULL, 0, &step);
    if (result == WF_SUCCESS)
        result = wfi_dispatch_size(plan, groups, step.groups);
    if (result == WF_SUCCESS)
        result = wfi_spmv_own(plan, job, NULL, groups * UINT64_C(16), &step.slots[4]);
    step.slot_count = 5;
    if (result == WF_SUCCESS)
        result = wfi_plan_add_step(plan, &step);
    return result == WF_SUCCESS ? add_fix(plan, point, job, &step, groups) : result;
}

wf_result wfi_spmv_merge_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, 0, add_merge);
}

/* -------------------------------------------------------------------------------------- blocked */

/* Rows in blocked form, being made: block columns, and the entry of each place. An entry whose place
 * is taken (a duplicate) opens another block of the same column. */
typedef struct blocked {
    uint32_t side, rows; /* rows of blocks */
    uint32_t *offsets, *columns, *places;
    uint32_t *number; /* of the latest block of each block column */
    uint32_t blocks, room;
} blocked;

static void blocked_free(blocked *b)
{
    free(b->offsets);
    free(b->columns);
    free(b->places);
    free(b->number);
}

static bool add_a_block(blocked *b, uint32_t column)
{
    const size_t area = (size_t)b->side * b->side;
    if (b->blocks == b->room) {
        const size_t room = b->room ? b->room * (size_t)2 : 1024;
        uint32_t *columns = realloc(b->columns, room * sizeof *columns);
        b->columns = columns ? columns : b->columns;
        uint32_t *places = realloc(b->places, room * area * sizeof *places);
        b->places = places ? places : b->places;
        if (!columns || !places)
            return false;
        b->room = (uint32_t)room;
    }
    memset(b->places + b->blocks * area, 0xff, area * sizeof *b->places);
    b->columns[b->blocks] = column;
    b->number[column] = b->blocks++;
    return true;
}

/* Entry i, in row r of a row of blocks that begins with block `first`. */
static bool put_entry(const wf_spmv_params *p, blocked *b, uint32_t first, uint32_t r, uint32_t i)
{
    const uint32_t column = p->column_indices[i] / b->side;
    const size_t within = (size_t)r * b->side + p->column_indices[i] % b->side;
    const size_t area = (size_t)b->side * b->side;
    const uint32_t number = b->number[column];
    const bool opened = number != UINT32_MAX && number >= first;
    const bool taken = opened && b->places && b->places[number * area + within] != UINT32_MAX;
    if ((!opened || taken) && !add_a_block(b, column))
        return false;
    if (!b->places)
        return false;
    b->places[b->number[column] * area + within] = i;
    return true;
}

static bool make_blocked(const wf_spmv_params *p, const wfi_spmv_block *block, blocked *b)
{
    const size_t columns = p->columns / b->side + (size_t)1;
    b->rows = (block->rows - 1) / b->side + 1;
    b->offsets = calloc(b->rows + (size_t)1, sizeof *b->offsets);
    b->number = malloc(columns * sizeof *b->number);
    if (!b->offsets || !b->number)
        return false;
    memset(b->number, 0xff, columns * sizeof *b->number);
    for (uint32_t row = 0; row < block->rows; row++) {
        const uint32_t at = block->first + row, block_row = row / b->side;
        if (row % b->side == 0)
            b->offsets[block_row] = b->blocks;
        for (uint32_t i = p->row_offsets[at]; i < p->row_offsets[at + 1]; i++)
            if (!put_entry(p, b, b->offsets[block_row], row % b->side, i))
                return false;
    }
    b->offsets[b->rows] = b->blocks;
    return true;
}

/* Makes the block of rows, or fewer rows until bindings hold them. */
static wf_result fit_blocked(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                             wfi_spmv_block *block, blocked *b)
{
    const wf_spmv_params *p = &job->matrix;
    const uint64_t size = job->kept->updatable ? 4 : wf_type_size(p->type);
    const uint64_t bytes = size > wf_type_size(p->type) ? size : wf_type_size(p->type);
    for (;;) {
        *b = (blocked){.side = point->values[SPMV_ID_BLOCK]};
        if (!make_blocked(p, block, b))
            return wfi_no_memory(&wfi_plan_device(plan)->log);
        if ((uint64_t)b->blocks * b->side * b->side * bytes <= wfi_spmv_range(point->caps))
            return WF_SUCCESS;
        if (b->side == 0 || block->rows <= b->side)
            return wfi_spmv_row_too_long(plan, job, block->first);
        block->rows = (block->rows / 2 + b->side - 1) / b->side * b->side;
        block->entries = p->row_offsets[block->first + block->rows] - p->row_offsets[block->first];
        blocked_free(b);
    }
}

/* Offsets and block columns in one buffer. */
static wf_result own_pattern(wf_plan *plan, const wfi_spmv_job *job, const blocked *b,
                             wfi_slot *slot)
{
    const size_t words = b->rows + (size_t)1 + b->blocks;
    uint32_t *pattern = malloc(words * sizeof *pattern);
    if (!pattern)
        return wfi_no_memory(&wfi_plan_device(plan)->log);
    memcpy(pattern, b->offsets, (b->rows + (size_t)1) * sizeof *pattern);
    if (b->blocks)
        memcpy(pattern + b->rows + 1, b->columns, b->blocks * sizeof *pattern);
    wf_result result = wfi_spmv_own(plan, job, pattern, words * 4, slot);
    free(pattern);
    return result;
}

static wf_result add_blocked(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                             wfi_spmv_block *block)
{
    const wf_spmv_params *p = &job->matrix;
    const uint32_t begin = p->row_offsets[block->first];
    const uint32_t rows_a_group = point->values[SPMV_ID_LOCAL_X] / point->values[SPMV_ID_LANES];
    wfi_step step = {.pipeline = block->pipeline, .slot_count = 4, .divisible = true};
    blocked b = {0};
    wf_result result = fit_blocked(plan, point, job, block, &b);
    if (result == WF_SUCCESS)
        result = own_pattern(plan, job, &b, &step.slots[0]);
    if (result == WF_SUCCESS)
        result = wfi_spmv_values(plan, job, b.places, (uint64_t)b.blocks * b.side * b.side, begin,
                                 begin + block->entries, &step.slots[1]);
    const uint32_t block_rows = b.rows;
    blocked_free(&b);
    if (result != WF_SUCCESS)
        return result;
    uint32_t push[6] = {block->rows, block_rows + 1, 0, p->x_stride, p->y_stride, p->columns};
    step.slots[2] = wfi_spmv_x_slot(job);
    step.slots[3] = wfi_spmv_y_slot(point->caps, job, block->first, block->rows, &push[2]);
    wfi_spmv_put_push(p, push, sizeof push, &step);
    result = wfi_dispatch_size(plan, (block_rows + (uint64_t)rows_a_group - 1) / rows_a_group,
                               step.groups);
    step.groups[2] = p->vectors;
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

wf_result wfi_spmv_blocked_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, 0, add_blocked);
}
