/* Variant quads: rows in the order of their lengths, each filled up to whole quads of entries, so
 * that a texel holds the columns of four entries and another their values. Made for processors,
 * whose drivers ask of each load whether it is inside the buffer: a texel asks once for four. */
#include <string.h>

#include "core/heap.h"
#include "kernels/spmv/build.h"
#include "kernels/spmv/cost.h"
#include "kernels/spmv/order.h"
#include "kernels/spmv/variant.h"
#include "plan/dispatch_size.h"

enum { ROWS, COLUMNS, VALUES = 4 }; /* bindings */

static const wfi_parameter parameters[] = {WFI_SPMV_LOCAL_X, WFI_SPMV_WINDOW};

static bool row_fits_texels(const wfi_point *point)
{
    const uint64_t texels = point->problem->type == WF_TYPE_F64 ? 2 : 1;
    return (point->problem->spmv.longest_row + UINT64_C(3)) / 4 * texels <=
           point->caps->max_texel_elements;
}

static const wfi_constraint constraints[] = {
    {"the longest row must fit a texel buffer of the device", row_fits_texels},
    WFI_SPMV_WINDOW_POSITIVE,
    WFI_SPMV_ONE_VECTOR,
};

#define SORTED_ROWS 2048 /* so that their part of x and y still lies together */
#define LEAST_GROUPS 16  /* for the cores of a processor */
#define LEAST_LOCAL 64

/* Rows side by side wait for the longest, so they are sorted where they differ. */
static double fit(wfi_point *point)
{
    const wfi_spmv_profile *profile = wfi_spmv_profile_of(point->caps);
    uint32_t local = wfi_spmv_fit_local(point->caps);
    while (local > LEAST_LOCAL && point->problem->spmv.rows < (uint64_t)LEAST_GROUPS * local)
        local /= 2;
    point->values[SPMV_ID_LOCAL_X] = local;
    point->values[SPMV_ID_WINDOW] = point->problem->spmv.padding < 1.2 ? 1 : SORTED_ROWS;
    return profile->costs ? wfi_spmv_instruction_time(point, profile->costs->quads) : -1;
}

/* As in spmv_quads.comp, behind alpha and beta. */
typedef struct quads_push {
    uint32_t count, base_y;
} quads_push;

_Static_assert(sizeof(quads_push) == 8, "members lie as in spmv_quads.comp");

/* A block of rows in the format. */
typedef struct quads {
    uint32_t *rows;    /* four words a row: first quad, the one behind its last, number, none */
    uint32_t *columns; /* four a quad; an empty place repeats its neighbour's */
    uint32_t *places;  /* the matrix's entry of each; UINT32_MAX: none */
    uint64_t count;    /* of quads */
} quads;

static void free_quads(quads *q)
{
    wfi_free(q->rows);
    wfi_free(q->columns);
    wfi_free(q->places);
    *q = (quads){0};
}

static uint32_t length_of(const wf_spmv_params *p, uint32_t row)
{
    return p->row_offsets[row + 1] - p->row_offsets[row];
}

static uint64_t count_quads(const wf_spmv_params *p, uint32_t first, uint32_t rows)
{
    uint64_t count = 0;
    for (uint32_t row = first; row < first + rows; row++)
        count += (length_of(p, row) + UINT64_C(3)) / 4;
    return count;
}

/* The rows of each window, longer ones first, equal ones in order; to be freed. */
static uint32_t *order_rows(const wf_spmv_params *p, const wfi_spmv_block *block, uint32_t window)
{
    uint64_t *keys = wfi_malloc(block->rows * sizeof *keys);
    uint32_t *order = keys ? wfi_malloc(block->rows * sizeof *order) : NULL;
    for (uint32_t i = 0; order && i < block->rows; i++)
        keys[i] = wfi_row_key(length_of(p, block->first + i), i);
    if (order)
        wfi_order_rows(keys, block->rows, window);
    for (uint32_t i = 0; order && i < block->rows; i++)
        order[i] = (uint32_t)keys[i];
    wfi_free(keys);
    return order;
}

static void fill_row(const wf_spmv_params *p, uint32_t row, quads *q, uint64_t quad)
{
    const uint32_t begin = p->row_offsets[row], length = length_of(p, row);
    for (uint32_t i = 0; i < (length + 3) / 4 * 4; i++) {
        const bool there = i < length;
        q->columns[quad * 4 + i] = p->column_indices[begin + (there ? i : length - 1)];
        q->places[quad * 4 + i] = there ? begin + i : UINT32_MAX;
    }
}

static bool make_quads(const wf_spmv_params *p, const wfi_spmv_block *block, uint32_t window,
                       quads *q)
{
    uint32_t *order = order_rows(p, block, window);
    q->count = count_quads(p, block->first, block->rows);
    q->rows = wfi_calloc(block->rows * (size_t)4, sizeof *q->rows);
    q->columns = wfi_malloc(((size_t)q->count * 4 + 1) * sizeof *q->columns);
    q->places = wfi_malloc(((size_t)q->count * 4 + 1) * sizeof *q->places);
    const bool ok = order && q->rows && q->columns && q->places;
    uint64_t quad = 0;
    for (uint32_t i = 0; ok && i < block->rows; i++) {
        const uint32_t row = block->first + order[i];
        const uint64_t end = quad + (length_of(p, row) + UINT64_C(3)) / 4;
        const uint32_t words[4] = {(uint32_t)quad, (uint32_t)end, order[i], 0};
        memcpy(q->rows + i * (size_t)4, words, sizeof words);
        fill_row(p, row, q, quad);
        quad = end;
    }
    wfi_free(order);
    return ok;
}

/* Texels of a quad's values. */
static uint32_t value_texels(wf_type type)
{
    return type == WF_TYPE_F64 ? 2 : 1;
}

/* Halves the block until texel buffers hold it; rows 0 when even one row is over. */
static void fit_block(const wfi_point *point, const wfi_spmv_job *job, wfi_spmv_block *block)
{
    const wf_spmv_params *p = &job->matrix;
    const uint64_t range = wfi_spmv_range(point->caps);
    const uint64_t texels = point->caps->max_texel_elements;
    const uint64_t most = texels / value_texels(p->type);
    const uint64_t quad_bytes = p->type == WF_TYPE_F64 ? 32 : 16;
    for (;;) {
        const uint64_t count = count_quads(p, block->first, block->rows);
        if (count <= most && count * quad_bytes <= range && block->rows <= texels &&
            block->rows * UINT64_C(16) <= range)
            break;
        block->rows /= 2;
        if (block->rows == 0)
            return;
    }
    block->entries = p->row_offsets[block->first + block->rows] - p->row_offsets[block->first];
}

static void put_formats(wf_type type, wfi_step *step)
{
    const VkFormat four = VK_FORMAT_R32G32B32A32_UINT;
    step->texels[ROWS] = step->texels[COLUMNS] = four;
    step->texels[VALUES] = type == WF_TYPE_F64   ? four
                           : type == WF_TYPE_F16 ? VK_FORMAT_R32G32_UINT
                                                 : VK_FORMAT_R32G32B32A32_SFLOAT;
}

static wf_result add_quads(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                           wfi_spmv_block *block)
{
    const wf_spmv_params *p = &job->matrix;
    const uint32_t begin = p->row_offsets[block->first];
    const uint64_t local = point->values[SPMV_ID_LOCAL_X];
    wfi_step step = {.pipeline = block->pipeline, .slot_count = 5, .divisible = true};
    quads_push push = {0};
    quads q = {0};
    fit_block(point, job, block);
    if (block->rows == 0)
        return wfi_spmv_row_too_long(plan, job, block->first);
    push.count = block->rows;
    wf_result result = WF_SUCCESS;
    if (!make_quads(p, block, point->values[SPMV_ID_WINDOW], &q))
        result = wfi_no_memory(&wfi_plan_device(plan)->log);
    if (result == WF_SUCCESS)
        result = wfi_spmv_own(plan, job, q.rows, block->rows * UINT64_C(16), &step.slots[ROWS]);
    if (result == WF_SUCCESS) /* a texel more where there are none: a view is never empty */
        result = wfi_spmv_own(plan, job, q.count ? q.columns : NULL, (q.count ? q.count : 1) * 16,
                              &step.slots[COLUMNS]);
    if (result == WF_SUCCESS && q.count)
        result = wfi_spmv_values(plan, job, q.places, q.count * 4, begin, begin + block->entries,
                                 &step.slots[VALUES]);
    else if (result == WF_SUCCESS)
        result = wfi_spmv_own(plan, job, NULL, 32, &step.slots[VALUES]);
    free_quads(&q);
    if (result == WF_SUCCESS)
        result = wfi_dispatch_size(plan, (block->rows + local - 1) / local, step.groups);
    step.slots[WFI_SPMV_X_SLOT] = wfi_spmv_x_slot(job);
    step.slots[WFI_SPMV_Y_SLOT] =
        wfi_spmv_y_slot(point->caps, job, block->first, block->rows, &push.base_y);
    put_formats(p->type, &step);
    wfi_spmv_put_push(p, &push, sizeof push, &step);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, 0, add_quads);
}

const wfi_variant wfi_spmv_quads = {
    WFI_SPMV_ROW(quads),
    .modules = WFI_MODULES_spmv_quads,
    .summary = "one work-item a row, four entries a texel; for devices that are processors",
    .source = "",
    .parameter_count = WFI_COUNT(parameters),
    .parameters = parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .storage_buffers = 5,
    .texel_buffers = 1 << ROWS | 1 << COLUMNS | 1 << VALUES,
    .push_bytes = WFI_SPMV_PUSH_OF(quads_push),
    .traits = WFI_SPMV_READS_ONCE,
    .fit = fit,
    .build = build,
};
