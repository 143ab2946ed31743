/* Variant blocked: dense blocks with one column index each (BCSR, after Im and Yelick 2001). */
#include <math.h>
#include <string.h>

#include "core/heap.h"
#include "kernels/spmv/build.h"
#include "kernels/spmv/cost.h"
#include "kernels/spmv/traffic.h"
#include "kernels/spmv/variant.h"
#include "plan/dispatch_size.h"

static const uint32_t side_values[] = {2, 3, 4};

static const wfi_parameter parameters[] = {
    WFI_SPMV_LOCAL_X,
    WFI_SPMV_LANES,
    {"block", SPMV_ID_BLOCK, 2, WFI_COUNT(side_values), side_values, "rows and columns of a block"},
};

static bool block_side_known(const wfi_point *point)
{
    return point->values[SPMV_ID_BLOCK] >= 2 && point->values[SPMV_ID_BLOCK] <= 8;
}

static const wfi_constraint constraints[] = {
    WFI_SPMV_LANES_HALVE,
    WFI_SPMV_LANES_DIVIDE,
    {"block must be 2 to 8", block_side_known},
};

static uint64_t shared_bytes(const wfi_point *point)
{
    return wfi_spmv_lanes_shared(point) * point->values[SPMV_ID_BLOCK];
}

static double time_of(const wfi_point *point, uint32_t lanes, double reduction_step)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const double side = p->block ? p->block : 2, fill = fmax(p->block_fill, 0.05);
    const double blocks = p->mean_row / (side * fill); /* of a row of blocks */
    const double loads = (ceil(blocks / lanes) + 1) * side * side;
    const double steps = lanes > 1 ? log2(lanes) * reduction_step * side : 0;
    const double scatter = wfi_spmv_profile_of(point->caps)->blocked_scatter;
    return (double)p->rows / side * lanes * (loads * scatter + steps) * wfi_spmv_vectors_of(point);
}

/* For matrices alone whose blocks are nearly full: zeros in blocks are read and multiplied too. */
static double fit(wfi_point *point)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    point->values[SPMV_ID_LOCAL_X] = wfi_spmv_fit_local(point->caps);
    point->values[SPMV_ID_BLOCK] = p->block ? p->block : 2;
    while (point->values[SPMV_ID_LOCAL_X] > 32 && !wfi_point_legal(point, NULL))
        point->values[SPMV_ID_LOCAL_X] /= 2;
    const double time = wfi_spmv_best_lanes(point, time_of, 4.0);
    return p->block_fill >= 0.75 ? time : -1;
}

/* Rows in blocked form, under construction: the column of each block, and the entry of each of its
 * places. An entry whose place is taken (a duplicate) opens another block of the same column. */
typedef struct blocked {
    uint32_t side, rows; /* rows of blocks */
    uint32_t *offsets, *columns, *places;
    uint32_t *number; /* of the latest block of each block column */
    uint32_t blocks, room;
} blocked;

static void blocked_free(blocked *b)
{
    wfi_free(b->offsets);
    wfi_free(b->columns);
    wfi_free(b->places);
    wfi_free(b->number);
}

static bool add_a_block(blocked *b, uint32_t column)
{
    const size_t area = (size_t)b->side * b->side;
    if (b->blocks == b->room) {
        const size_t room = b->room ? b->room * (size_t)2 : 1024;
        uint32_t *columns = wfi_realloc(b->columns, room * sizeof *columns);
        b->columns = columns ? columns : b->columns;
        uint32_t *places = wfi_realloc(b->places, room * area * sizeof *places);
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

/* Puts entry i into row r of a row of blocks that begins with block `first`. */
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
    b->offsets = wfi_calloc(b->rows + (size_t)1, sizeof *b->offsets);
    b->number = wfi_malloc(columns * sizeof *b->number);
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
    uint32_t *pattern = wfi_malloc(words * sizeof *pattern);
    if (!pattern)
        return wfi_no_memory(&wfi_plan_device(plan)->log);
    memcpy(pattern, b->offsets, (b->rows + (size_t)1) * sizeof *pattern);
    if (b->blocks)
        memcpy(pattern + b->rows + 1, b->columns, b->blocks * sizeof *pattern);
    wf_result result = wfi_spmv_own(plan, job, pattern, words * 4, slot);
    wfi_free(pattern);
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
    wfi_traffic bytes = {0};
    wf_result result = fit_blocked(plan, point, job, block, &b);
    if (result == WF_SUCCESS)
        result = own_pattern(plan, job, &b, &step.slots[0]);
    if (result == WF_SUCCESS)
        result = wfi_spmv_values(plan, job, b.places, (uint64_t)b.blocks * b.side * b.side, begin,
                                 begin + block->entries, &step.slots[1]);
    const uint32_t block_rows = b.rows;
    wfi_spmv_blocked_traffic(point, b.rows, b.blocks, block->rows, &bytes);
    wfi_plan_count_traffic(plan, &bytes);
    blocked_free(&b);
    if (result != WF_SUCCESS)
        return result;
    wfi_spmv_csr_push push = {.rows = block->rows,
                              .columns_at = block_rows + 1,
                              .x_stride = p->x_stride,
                              .y_stride = p->y_stride,
                              .more = p->columns};
    step.slots[WFI_SPMV_X_SLOT] = wfi_spmv_x_slot(job);
    step.slots[WFI_SPMV_Y_SLOT] =
        wfi_spmv_y_slot(point->caps, job, block->first, block->rows, &push.base_y);
    wfi_spmv_put_push(p, &push, sizeof push, &step);
    result = wfi_dispatch_size(plan, (block_rows + (uint64_t)rows_a_group - 1) / rows_a_group,
                               step.groups);
    step.groups[2] = p->vectors;
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, 0, add_blocked);
}

const wfi_variant wfi_spmv_blocked = {
    WFI_SPMV_ROW(blocked),
    .modules = WFI_MODULES_spmv_blocked,
    .summary = "dense blocks with one column index each",
    .source = "Blocked CSR (Im and Yelick 2001)",
    .parameter_count = WFI_COUNT(parameters),
    .parameters = parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .storage_buffers = 4,
    .push_bytes = WFI_SPMV_PUSH,
    .shared_bytes = shared_bytes,
    .constants = wfi_spmv_strided_constants,
    .fit = fit,
    .build = build,
};
