/* Moves a Himeno problem's arrays between the host's layout and the device's. */
#include <string.h>

#include "core/arithmetic.h"
#include "core/heap.h"
#include "solve/himeno.h"

#define CHUNK_BYTES (UINT64_C(32) << 20)

/* How many planes of `plane` elements go into one transfer. */
static uint32_t planes_a_chunk(uint64_t plane)
{
    const uint64_t planes = CHUNK_BYTES / (plane * sizeof(float));
    return planes == 0 ? 1 : planes > UINT32_MAX ? UINT32_MAX : (uint32_t)planes;
}

/* -------------------------------------------------------------------------------------------- p */

/* Cells [begin, end) of the whole grid along an axis, borders counted. */
typedef struct range {
    uint32_t begin, end;
} range;

/* Rows and cells of them that the host has of planes, and where: the distance in elements from a
 * row to the next and from a plane to the next. */
typedef struct host_planes {
    range i, j;
    uint64_t row, plane;
} host_planes;

/* With the cells around those that are updated. */
static range held_along(const wfi_part_axis *axis, const wfi_himeno_span *span)
{
    return (range){axis->begin - span->before, axis->end + span->after + 2};
}

/* Its own, with the grid's border where it has the first or the last inner ones. */
static range own_along(const wfi_part_axis *axis)
{
    return (range){axis->there[WFI_LOWER] ? axis->begin + 1 : 0,
                   axis->there[WFI_UPPER] ? axis->end + 1 : axis->end + 2};
}

static host_planes packed(range i, range j)
{
    const uint64_t row = i.end - i.begin;
    return (host_planes){.i = i, .j = j, .row = row, .plane = row * (j.end - j.begin)};
}

static host_planes held_planes(const wf_himeno *h)
{
    return packed(held_along(&h->axes[0], &h->span_i), held_along(&h->axes[1], &h->span_j));
}

/* Copies planes of one block between the host's array and the buffers' padded rows. */
static void convert_p(const wf_himeno *h, float *padded, float *host, const host_planes *shape,
                      uint32_t planes, bool to_device)
{
    const uint32_t left = h->axes[0].begin - h->span_i.before,
                   low = h->axes[1].begin - h->span_j.before;
    const uint64_t bytes = (shape->i.end - shape->i.begin) * sizeof(float),
                   at = h->layout.p_left - 1 + h->span_i.first - h->span_i.before + shape->i.begin -
                        left;
    for (uint32_t k = 0; k < planes; k++)
        for (uint32_t j = shape->j.begin; j < shape->j.end; j++) {
            float *there = padded + k * h->layout.p_plane + (j - low) * h->layout.p_row + at;
            float *here = host + k * shape->plane + (j - shape->j.begin) * shape->row;
            if (to_device)
                memcpy(there, here, bytes);
            else
                memcpy(here, there, bytes);
        }
}

/* Of the grid's planes [first, end), which p has, those that the block holds. */
static wf_result write_block(wf_himeno *h, const wfi_himeno_block *block, uint32_t first,
                             uint32_t end, const float *p, const host_planes *shape, float *chunk,
                             uint32_t step)
{
    const uint64_t plane = h->layout.p_plane;
    const uint32_t held = block->origin + block->held,
                   start = block->origin > first ? block->origin : first;
    wf_result result = WF_SUCCESS;
    end = end < held ? end : held;
    for (uint32_t at = start; at < end && result == WF_SUCCESS; at += step) {
        const uint32_t n = (uint32_t)wfi_least(step, end - at);
        /* convert_p only reads the host's side here. */
        convert_p(h, chunk, (float *)(uintptr_t)(p + (at - first) * shape->plane), shape, n, true);
        for (int b = 0; b < 2 && result == WF_SUCCESS; b++)
            result = wf_buffer_write(block->p[b], (at - block->origin) * plane * sizeof(float),
                                     chunk, n * plane * sizeof(float));
    }
    return result;
}

static wf_result write_p(wf_himeno *h, uint32_t first, uint32_t end, const float *p,
                         const host_planes *shape)
{
    const uint32_t step = (uint32_t)wfi_least(planes_a_chunk(h->layout.p_plane), h->params.nk);
    float *chunk = wfi_calloc(step * h->layout.p_plane, sizeof *chunk);
    if (!chunk)
        return wfi_no_memory(&h->device->log);
    wf_result result = WF_SUCCESS;
    for (uint32_t b = 0; b < h->block_count && result == WF_SUCCESS; b++)
        result = write_block(h, &h->blocks[b], first, end, p, shape, chunk, step);
    wfi_free(chunk);
    return result;
}

wf_result wf_himeno_write_planes(wf_himeno *himeno, uint32_t first, uint32_t planes, const float *p)
{
    if (!himeno || !p || planes == 0 || first >= himeno->params.nk ||
        planes > himeno->params.nk - first)
        return WF_ERROR_INVALID_ARGUMENT;
    const host_planes shape = held_planes(himeno);
    const wfi_heap outer = wfi_heap_enter_device(himeno->device);
    return wfi_heap_leave(outer, write_p(himeno, first, first + planes, p, &shape));
}

/* Moves the planes that the block updates, and the grid's borders next to them. */
static wf_result read_block(const wf_himeno *h, uint32_t index, float *p, float *chunk,
                            uint32_t step)
{
    const wfi_himeno_block *block = &h->blocks[index];
    const uint64_t plane = h->layout.p_plane;
    const host_planes shape = packed(own_along(&h->axes[0]), own_along(&h->axes[1]));
    const uint32_t inner = h->params.nk - 2, last = block->first + block->planes;
    const uint32_t first = block->first == 0 ? 0 : block->first + 1;
    const uint32_t end = last == inner ? h->params.nk : last + 1;
    const uint32_t start = h->begin == 0 ? 0 : h->begin + 1; /* of what the caller's array has */
    wf_result result = WF_SUCCESS;
    for (uint32_t at = first; at < end && result == WF_SUCCESS; at += step) {
        const uint32_t n = (uint32_t)wfi_least(step, end - at);
        result = wf_buffer_read(block->p[h->now], (at - block->origin) * plane * sizeof(float),
                                chunk, n * plane * sizeof(float));
        if (result == WF_SUCCESS)
            convert_p(h, chunk, p + (at - start) * shape.plane, &shape, n, false);
    }
    return result;
}

static wf_result read_p(wf_himeno *himeno, float *p)
{
    if (!himeno || !p)
        return WF_ERROR_INVALID_ARGUMENT;
    const uint32_t step =
        (uint32_t)wfi_least(planes_a_chunk(himeno->layout.p_plane), himeno->params.nk);
    float *chunk = wfi_malloc(step * himeno->layout.p_plane * sizeof *chunk);
    if (!chunk)
        return wfi_no_memory(&himeno->device->log);
    wf_result result = WF_SUCCESS;
    for (uint32_t b = 0; b < himeno->block_count && result == WF_SUCCESS; b++)
        result = read_block(himeno, b, p, chunk, step);
    wfi_free(chunk);
    return result;
}

wf_result wf_himeno_read(wf_himeno *himeno, float *p)
{
    const wfi_heap outer = wfi_heap_enter_device(himeno ? himeno->device : NULL);
    return wfi_heap_leave(outer, read_p(himeno, p));
}

/* --------------------------------------------------------------------------------- coefficients */

/* Copies `arrays` coefficients of inner planes [first, first + planes) of the grid into rows of
 * blocks, those of a block side by side. */
static void pack_cells(const wf_himeno *h, const float *const *from, uint32_t arrays,
                       uint32_t first, uint32_t planes, float *chunk)
{
    const wf_himeno_params *p = &h->params;
    const range i = held_along(&h->axes[0], &h->span_i), j = held_along(&h->axes[1], &h->span_j);
    /* Of the cells that are kept along i the first may be there for the alignment alone. */
    const uint64_t block = h->layout.c_block, skipped = h->span_i.first - h->span_i.before,
                   end = skipped + i.end - i.begin - 2;
    float *to = chunk;
    for (uint32_t k = first + 1; k <= first + planes; k++)
        for (uint32_t row = j.begin + 1; row + 1 < j.end; row++)
            for (uint64_t at = 0; at < h->layout.c_length; at += block)
                for (uint32_t m = 0; m < arrays; m++, to += block) {
                    const uint64_t low = at > skipped ? at : skipped,
                                   high = at + block < end ? at + block : end;
                    if (low < high)
                        memcpy(to + (low - at),
                               from[m] + ((uint64_t)k * p->nj + row) * p->ni + i.begin + 1 + low -
                                   skipped,
                               (high - low) * sizeof(float));
                }
}

/* Writes the coefficients from[0 … arrays - 1], kept together from element `base` on. */
static wf_result write_arrays(wf_himeno *h, const wfi_himeno_slab_data *slab_data,
                              const float *const *from, uint32_t arrays, uint64_t base,
                              float *chunk, uint32_t step)
{
    const uint32_t start = slab_data->first - slab_data->slab.lower;
    const uint32_t planes = slab_data->slab.lower + slab_data->slab.planes + slab_data->slab.upper;
    wf_result result = WF_SUCCESS;
    for (uint32_t at = 0; at < planes && result == WF_SUCCESS; at += step) {
        const uint32_t n = (uint32_t)wfi_least(step, planes - at);
        pack_cells(h, from, arrays, start + at, n, chunk);
        result = wf_buffer_write(slab_data->cells, (base + at * h->layout.c_plane) * sizeof(float),
                                 chunk, n * h->layout.c_plane * sizeof(float));
    }
    return result;
}

static wf_result write_cells(wf_himeno *h, const wf_himeno_arrays *arrays)
{
    const float *const from[WFI_HIMENO_COEFFICIENTS] = {
        arrays->a[0], arrays->a[1], arrays->a[2], arrays->a[3], arrays->b[0], arrays->b[1],
        arrays->b[2], arrays->c[0], arrays->c[1], arrays->c[2], arrays->wrk1, arrays->bnd};
    const uint32_t step = (uint32_t)wfi_least(planes_a_chunk(h->layout.c_plane), h->params.nk);
    float *chunk = wfi_calloc(step * h->layout.c_plane, sizeof *chunk);
    if (!chunk)
        return wfi_no_memory(&h->device->log);
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < h->slab_count && result == WF_SUCCESS; i++) {
        const wfi_himeno_slab_data *slab_data = &h->slabs[i];
        const uint64_t array = wfi_himeno_array(&h->layout, &slab_data->slab);
        if (h->layout.interleaved)
            result = write_arrays(h, slab_data, from, WFI_HIMENO_COEFFICIENTS, 0, chunk, step);
        for (uint32_t m = 0; !h->layout.interleaved && m < WFI_HIMENO_COEFFICIENTS; m++) {
            if (result == WF_SUCCESS)
                result = write_arrays(h, slab_data, &from[m], 1, m * array, chunk, step);
        }
    }
    wfi_free(chunk);
    return result;
}

static wf_result write_all(wf_himeno *himeno, const wf_himeno_arrays *arrays)
{
    if (!himeno || !arrays || !arrays->p || !arrays->bnd || !arrays->wrk1)
        return WF_ERROR_INVALID_ARGUMENT;
    for (int m = 0; m < 4; m++)
        if (!arrays->a[m] || (m < 3 && (!arrays->b[m] || !arrays->c[m])))
            return WF_ERROR_INVALID_ARGUMENT;
    host_planes shape = held_planes(himeno);
    shape.row = himeno->params.ni;
    shape.plane = shape.row * himeno->params.nj;
    wf_result result = write_p(himeno, 0, himeno->params.nk,
                               arrays->p + shape.j.begin * shape.row + shape.i.begin, &shape);
    return result == WF_SUCCESS ? write_cells(himeno, arrays) : result;
}

wf_result wf_himeno_write(wf_himeno *himeno, const wf_himeno_arrays *arrays)
{
    const wfi_heap outer = wfi_heap_enter_device(himeno ? himeno->device : NULL);
    return wfi_heap_leave(outer, write_all(himeno, arrays));
}

/* --------------------------------------------------------------------------------- start values */

static wf_result record_start_p(void *user, VkCommandBuffer command_buffer)
{
    const wf_himeno *h = user;
    const uint64_t bytes = h->layout.p_plane * sizeof(float);
    const float last = (float)(h->params.nk - 1);
    for (uint32_t b = 0; b < h->block_count; b++)
        for (uint32_t at = 0; at < h->blocks[b].held; at++) {
            const float k = (float)(h->blocks[b].origin + at);
            const float value = (k * k) / (last * last);
            uint32_t bits;
            memcpy(&bits, &value, sizeof bits);
            for (int n = 0; n < 2; n++)
                h->device->fn.vkCmdFillBuffer(command_buffer, h->blocks[b].p[n]->vk, at * bytes,
                                              bytes, bits);
        }
    return WF_SUCCESS;
}

static wf_result start_cells(wf_himeno *h, const wfi_himeno_slab_data *slab_data)
{
    const wf_bindings bindings = {.size = sizeof bindings, .items = {{.buffer = slab_data->cells}}};
    wf_plan *plan = NULL;
    wf_result result =
        wfi_himeno_start_plan(h->device, wfi_himeno_cells(&h->layout, &slab_data->slab),
                              wfi_himeno_array(&h->layout, &slab_data->slab), &plan);
    if (result == WF_SUCCESS)
        result = wf_plan_run(plan, &bindings);
    wf_plan_destroy(&plan);
    return result;
}

static wf_result start_arrays(wf_himeno *himeno)
{
    if (!himeno)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result = wfi_run(himeno->device, record_start_p, himeno);
    for (uint32_t i = 0; i < himeno->slab_count && result == WF_SUCCESS; i++)
        result = start_cells(himeno, &himeno->slabs[i]);
    return result;
}

wf_result wf_himeno_start(wf_himeno *himeno)
{
    const wfi_heap outer = wfi_heap_enter_device(himeno ? himeno->device : NULL);
    return wfi_heap_leave(outer, start_arrays(himeno));
}
