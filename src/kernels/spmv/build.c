/* Plans of the variants that read compressed sparse rows as they are, and what all spmv plans are
 * made of. */
#include "kernels/spmv/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/dispatch_size.h"

/* As in spmv_problem.glsl, behind alpha and beta. */
typedef struct csr_push {
    uint32_t rows, columns_at, base_y, x_stride, y_stride, more;
} csr_push;

_Static_assert(2 * sizeof(double) + sizeof(csr_push) <= WFI_SPMV_PUSH, "push constants");

wf_type wfi_spmv_real(wf_type type)
{
    return type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32;
}

static uint64_t real_bytes(const wfi_spmv_job *job)
{
    return wf_type_size(wfi_spmv_real(job->matrix.type));
}

bool wfi_spmv_scale_fits(wf_type type, double alpha, double beta)
{
    if (type == WF_TYPE_F64)
        return isfinite(alpha) && isfinite(beta);
    return isfinite((float)alpha) && isfinite((float)beta);
}

uint32_t wfi_spmv_put_scale(wf_type type, double alpha, double beta, unsigned char *push)
{
    const double wide[2] = {alpha, beta};
    const float narrow[2] = {(float)alpha, (float)beta};
    const uint32_t bytes = type == WF_TYPE_F64 ? sizeof wide : sizeof narrow;
    memcpy(push, type == WF_TYPE_F64 ? (const void *)wide : narrow, bytes);
    return bytes;
}

uint32_t wfi_spmv_put_push(const wf_spmv_params *p, const void *push, uint32_t bytes,
                           wfi_step *step)
{
    const uint32_t at = wfi_spmv_put_scale(p->type, *p->alpha, p->beta, step->push);
    memcpy(step->push + at, push, bytes);
    step->push_bytes = at + bytes;
    return at;
}

/* The H100's driver makes sequentially consistent fences of memory barriers, 2 to 6 % of a product
 * with segments. Only drivers that were tried do without. */
uint32_t wfi_spmv_fences(const wf_caps *caps)
{
    return caps->driver_id != VK_DRIVER_ID_NVIDIA_PROPRIETARY &&
           caps->driver_id != VK_DRIVER_ID_MESA_LLVMPIPE;
}

bool wfi_spmv_is_scaled(const wf_spmv_params *p)
{
    return *p->alpha < 1 || *p->alpha > 1 || p->beta < 0 || p->beta > 0;
}

uint64_t wfi_spmv_range(const wf_caps *caps)
{
    return caps->max_storage_range < caps->max_buffer ? caps->max_storage_range : caps->max_buffer;
}

wf_result wfi_spmv_row_too_long(wf_plan *plan, const wfi_spmv_job *job, uint32_t row)
{
    return wfi_fail(&wfi_plan_device(plan)->log, WF_ERROR_TOO_LARGE,
                    "row %u has %u entries, more than one binding of this device holds", row,
                    job->matrix.row_offsets[row + 1] - job->matrix.row_offsets[row]);
}

/* ------------------------------------------------------------------------------------- bindings */

static uint64_t x_bytes(const wfi_spmv_job *job)
{
    const wf_spmv_params *p = &job->matrix;
    return ((p->columns - UINT64_C(1)) * p->x_stride + p->vectors) * real_bytes(job);
}

uint64_t wfi_spmv_y_bytes(const wfi_spmv_job *job, uint32_t rows)
{
    const wf_spmv_params *p = &job->matrix;
    return ((rows - UINT64_C(1)) * p->y_stride + p->vectors) * real_bytes(job);
}

wfi_slot wfi_spmv_x_slot(const wfi_spmv_job *job)
{
    return (wfi_slot){WFI_SLOT_BINDING, WF_SPMV_X, 0, x_bytes(job)};
}

wfi_slot wfi_spmv_y_slot(const wf_caps *caps, const wfi_spmv_job *job, uint32_t first,
                         uint32_t rows, uint32_t *base_y)
{
    const uint64_t real = real_bytes(job);
    return wfi_slot_at(caps, WF_SPMV_Y, first * (uint64_t)job->matrix.y_stride,
                       wfi_spmv_y_bytes(job, rows) / real, real, base_y);
}

wf_result wfi_spmv_check_x(const wf_device *device, const wfi_spmv_job *job)
{
    if (x_bytes(job) <= device->caps.max_storage_range)
        return WF_SUCCESS;
    return wfi_fail(&device->log, WF_ERROR_TOO_LARGE,
                    "x of %llu bytes is over this device's binding of %llu bytes",
                    (unsigned long long)x_bytes(job),
                    (unsigned long long)device->caps.max_storage_range);
}

wf_result wfi_spmv_begin_with(wf_plan *plan, const wfi_pipeline_desc *desc, const wfi_spmv_job *job,
                              uint32_t *pipeline)
{
    const wfi_binding_spec x = {"x", WFI_READS, x_bytes(job)},
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
    memcpy(desc.constants + desc.constant_count, constants, count * sizeof *constants);
    desc.constant_count += count;
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

bool wfi_spmv_rearranged_fits(const wf_caps *caps, const wfi_spmv_job *job, uint32_t rows,
                              uint64_t pattern_words, uint64_t place_count, uint64_t scratch)
{
    const uint64_t range = wfi_spmv_range(caps), size = wf_type_size(job->matrix.type);
    const uint64_t map_bytes = job->kept->updatable ? place_count * 4 : 0;
    return pattern_words * 4 <= range && place_count * size <= range && map_bytes <= range &&
           wfi_spmv_y_bytes(job, rows) + caps->storage_alignment <= range && scratch <= range;
}

wf_result wfi_spmv_own(wf_plan *plan, const wfi_spmv_job *job, const void *data, uint64_t bytes,
                       wfi_slot *slot)
{
    uint32_t index = 0;
    bytes = bytes ? bytes : 4;
    wf_result result = wfi_device_goes_on(wfi_plan_device(plan));
    if (result == WF_SUCCESS)
        result = wfi_plan_add_own(plan, data, bytes, &index);
    *slot = (wfi_slot){WFI_SLOT_OWN, index, 0, bytes};
    if (data)
        job->kept->analysis.matrix_bytes += bytes;
    return result;
}

/* Values in the order of their places; malloc'ed, a multiple of four bytes. Padding is a negative zero,
 * which no entry is kept as: by it kernels tell what is not of the matrix (spmv_padding.glsl). */
static void *gather(const wfi_spmv_job *job, const uint32_t *places, uint64_t count, uint32_t begin,
                    uint64_t bytes)
{
    const size_t size = wf_type_size(job->matrix.type);
    const char *from = job->matrix.values;
    char padding[sizeof(double)], *values = calloc(1, (size_t)bytes);
    wf_element_set(job->matrix.type, padding, 0, -0.0);
    if (values && !places && count)
        memcpy(values, from + begin * size, (size_t)count * size);
    for (uint64_t i = 0; values && places && i < count; i++) {
        char *to = values + i * size;
        if (places[i] == UINT32_MAX)
            memcpy(to, padding, size);
        else if (memcmp(from + places[i] * size, padding, size) != 0)
            memcpy(to, from + places[i] * size, size);
    }
    return values;
}

wf_result wfi_spmv_values(wf_plan *plan, const wfi_spmv_job *job, const uint32_t *places,
                          uint64_t count, uint32_t begin, uint32_t end, wfi_slot *slot)
{
    const uint64_t size = wf_type_size(job->matrix.type);
    const uint64_t bytes = count ? (count * size + 3) / 4 * 4 : 4;
    void *values = gather(job, places, count, begin, bytes);
    if (!values)
        return wfi_no_memory(&wfi_plan_device(plan)->log);
    wf_result result = wfi_spmv_own(plan, job, values, bytes, slot);
    free(values);
    if (result == WF_SUCCESS && job->kept->updatable && count)
        result = wfi_spmv_add_update(plan, job, slot, places, count, begin, end);
    return result;
}

/* --------------------------------------------------------------------------------------- blocks */

/* The block that starts at `first`, as long as bindings allow; rows 0 when even one row is over. */
static wfi_spmv_block next_block(const wf_caps *caps, const wfi_spmv_job *job, uint32_t first,
                                 uint32_t extra)
{
    const wf_spmv_params *p = &job->matrix;
    const uint64_t range = wfi_spmv_range(caps), size = wf_type_size(p->type);
    wfi_spmv_block block = {.first = first};
    while (first + block.rows < p->rows) {
        const uint32_t rows = block.rows + 1;
        const uint64_t entries = p->row_offsets[first + rows] - (uint64_t)p->row_offsets[first];
        const uint64_t index_bytes = (entries + rows + 1) * 4 + (uint64_t)rows * extra;
        const uint64_t y_bytes = wfi_spmv_y_bytes(job, rows) + caps->storage_alignment;
        if (index_bytes > range || entries * size > range || y_bytes > range)
            break;
        block.rows = rows;
        block.entries = (uint32_t)entries;
    }
    return block;
}

wf_result wfi_spmv_each_block(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                              uint32_t extra, wfi_spmv_add_fn add)
{
    uint32_t pipeline = 0;
    wf_result result = begin(plan, point, job, &pipeline);
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

/* Row offsets counted from the block's first entry, the column indices, the tail; malloc'ed. */
static uint32_t *pack_pattern(const wf_spmv_params *p, const wfi_spmv_block *block,
                              const uint32_t *tail, uint32_t tail_words, uint64_t *words)
{
    const uint32_t begin = p->row_offsets[block->first];
    *words = block->rows + UINT64_C(1) + block->entries + tail_words;
    uint32_t *pattern = malloc((size_t)*words * sizeof *pattern);
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

wf_result wfi_spmv_block_step(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                              const wfi_spmv_block *block, const uint32_t *tail,
                              uint32_t tail_words, wfi_step *step)
{
    const wf_spmv_params *p = &job->matrix;
    const uint32_t begin = p->row_offsets[block->first];
    csr_push push = {block->rows, block->rows + 1, 0, p->x_stride, p->y_stride, block->more};
    uint64_t words = 0;
    *step = (wfi_step){.pipeline = block->pipeline, .slot_count = 4};
    const uint64_t groups = (block->rows + (uint64_t)block->rows_a_group - 1) / block->rows_a_group;
    wf_result result = wfi_dispatch_size(plan, groups, step->groups);
    uint32_t *pattern = pack_pattern(p, block, tail, tail_words, &words);
    if (!pattern)
        return wfi_no_memory(&wfi_plan_device(plan)->log);
    if (result == WF_SUCCESS)
        result = wfi_spmv_own(plan, job, pattern, words * 4, &step->slots[0]);
    free(pattern);
    if (result == WF_SUCCESS)
        result = wfi_spmv_values(plan, job, NULL, block->entries, begin, begin + block->entries,
                                 &step->slots[1]);
    step->slots[WFI_SPMV_X_SLOT] = wfi_spmv_x_slot(job);
    step->slots[3] = wfi_spmv_y_slot(point->caps, job, block->first, block->rows, &push.base_y);
    step->groups[2] = p->vectors;
    wfi_spmv_put_push(p, &push, sizeof push, step);
    return result;
}

static wf_result add_plain(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
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

static wf_result add_rows(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                          wfi_spmv_block *block)
{
    return add_plain(plan, point, job, block, point->values[SPMV_ID_LOCAL_X], job->matrix.vectors);
}

static wf_result add_lanes(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                           wfi_spmv_block *block)
{
    return add_plain(plan, point, job, block,
                     point->values[SPMV_ID_LOCAL_X] / point->values[SPMV_ID_LANES],
                     job->matrix.vectors);
}

/* Rows as many as the least subgroups there may be: the rest of the grid finds nothing to do. */
static wf_result add_subgroups(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                               wfi_spmv_block *block)
{
    const uint32_t pinned = wfi_spmv_pinned_subgroup(point);
    const uint32_t size = pinned ? pinned : point->caps->subgroup_max;
    return add_plain(plan, point, job, block, point->values[SPMV_ID_LOCAL_X] / size,
                     job->matrix.vectors);
}

static wf_result add_many(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                          wfi_spmv_block *block)
{
    const uint32_t items = job->matrix.vectors * point->values[SPMV_ID_LANES];
    return add_plain(plan, point, job, block, point->values[SPMV_ID_LOCAL_X] / items, 1);
}

wf_result wfi_spmv_row_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, 0, add_rows);
}

wf_result wfi_spmv_lanes_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, 0, add_lanes);
}

wf_result wfi_spmv_texel_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    wfi_plan_bind_sets(plan);
    return wfi_spmv_each_block(plan, point, params, 0, add_lanes);
}

wf_result wfi_spmv_add_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, 0, add_subgroups);
}

wf_result wfi_spmv_many_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, 0, add_many);
}
