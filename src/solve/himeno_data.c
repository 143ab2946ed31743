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

/* Copies planes of one block between the host's packed array and the buffers' padded rows. */
static void convert_p(const wf_himeno *h, float *padded, float *packed, uint32_t planes,
                      bool to_device)
{
    const uint64_t rows = (uint64_t)planes * h->params.nj;
    for (uint64_t row = 0; row < rows; row++) {
        float *there = padded + row * h->layout.p_row + h->layout.p_left - 1;
        float *here = packed + row * h->params.ni;
        if (to_device)
            memcpy(there, here, h->params.ni * sizeof(float));
        else
            memcpy(here, there, h->params.ni * sizeof(float));
    }
}

/* Of the grid's planes [first, end), which p has, those that the block holds. */
static wf_result write_block(wf_himeno *h, const wfi_himeno_block *block, uint32_t first,
                             uint32_t end, const float *p, float *chunk, uint32_t step)
{
    const uint64_t plane = h->layout.p_plane;
    const uint64_t packed = (uint64_t)h->params.ni * h->params.nj;
    const uint32_t held = block->origin + block->held,
                   start = block->origin > first ? block->origin : first;
    wf_result result = WF_SUCCESS;
    end = end < held ? end : held;
    for (uint32_t at = start; at < end && result == WF_SUCCESS; at += step) {
        const uint32_t n = (uint32_t)wfi_least(step, end - at);
        /* convert_p only reads the packed side here. */
        convert_p(h, chunk, (float *)(uintptr_t)(p + (at - first) * packed), n, true);
        for (int b = 0; b < 2 && result == WF_SUCCESS; b++)
            result = wf_buffer_write(block->p[b], (at - block->origin) * plane * sizeof(float),
                                     chunk, n * plane * sizeof(float));
    }
    return result;
}

static wf_result write_p(wf_himeno *h, uint32_t first, uint32_t end, const float *p)
{
    const uint32_t step = (uint32_t)wfi_least(planes_a_chunk(h->layout.p_plane), h->params.nk);
    float *chunk = wfi_calloc(step * h->layout.p_plane, sizeof *chunk);
    if (!chunk)
        return wfi_no_memory(&h->device->log);
    wf_result result = WF_SUCCESS;
    for (uint32_t b = 0; b < h->block_count && result == WF_SUCCESS; b++)
        result = write_block(h, &h->blocks[b], first, end, p, chunk, step);
    wfi_free(chunk);
    return result;
}

wf_result wf_himeno_write_planes(wf_himeno *himeno, uint32_t first, uint32_t planes, const float *p)
{
    if (!himeno || !p || planes == 0 || first >= himeno->params.nk ||
        planes > himeno->params.nk - first)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(himeno->device);
    return wfi_heap_leave(outer, write_p(himeno, first, first + planes, p));
}

/* Moves the planes that the block updates, and the grid's borders next to them. */
static wf_result read_block(const wf_himeno *h, uint32_t index, float *p, float *chunk,
                            uint32_t step)
{
    const wfi_himeno_block *block = &h->blocks[index];
    const uint64_t plane = h->layout.p_plane;
    const uint64_t packed = (uint64_t)h->params.ni * h->params.nj;
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
            convert_p(h, chunk, p + (at - start) * packed, n, false);
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
    const uint64_t block = h->layout.c_block, inner = p->ni - 2;
    float *to = chunk;
    for (uint32_t k = first + 1; k <= first + planes; k++)
        for (uint32_t j = 1; j + 1 < p->nj; j++)
            for (uint64_t i = 0; i < h->layout.c_length; i += block)
                for (uint32_t m = 0; m < arrays; m++, to += block)
                    if (i < inner)
                        memcpy(to, from[m] + ((uint64_t)k * p->nj + j) * p->ni + 1 + i,
                               (inner - i < block ? inner - i : block) * sizeof(float));
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
    wf_result result = write_p(himeno, 0, himeno->params.nk, arrays->p);
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
