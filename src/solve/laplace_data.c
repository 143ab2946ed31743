/* Copies the grid to the device and back: for Jacobi rows are padded, for red-black order each
 * colour goes to an array of its own. */
#include <math.h>

#include "core/heap.h"
#include "solve/laplace.h"

/* The row's first cell in array `n`, and from one to the next. */
static uint32_t first_cell(const wfi_laplace *l, uint32_t n, uint32_t y)
{
    return l->coloured ? (y + n) & 1 : 0;
}

static uint64_t array_bytes(const wfi_laplace *l)
{
    return l->stride * (uint64_t)l->ny * wf_type_size(l->type);
}

static wf_result write_array(wfi_laplace *l, uint32_t n, const void *u, void *data)
{
    const uint32_t step = l->coloured ? 2 : 1;
    for (uint32_t y = 0; y < l->ny; y++) {
        size_t to = y * (size_t)l->stride;
        for (uint32_t x = first_cell(l, n, y); x < l->nx; x += step, to++)
            wfi_laplace_put(
                data, l->type, to,
                ldexp(wfi_laplace_get(u, l->type, y * (size_t)l->nx + x), -l->exponent));
    }
    return wf_buffer_write(l->arrays[n], 0, data, array_bytes(l));
}

wf_result wfi_laplace_write(wfi_laplace *l, const void *u)
{
    void *data = wfi_calloc(1, (size_t)array_bytes(l)); /* padding of rows is 0 */
    if (!data)
        return wfi_no_memory(&l->device->log);
    wf_result result = write_array(l, 0, u, data);
    if (result == WF_SUCCESS && l->coloured)
        result = write_array(l, 1, u, data);
    wfi_free(data);
    return result;
}

static wf_result read_array(wfi_laplace *l, uint32_t n, void *data, void *u)
{
    const uint32_t step = l->coloured ? 2 : 1;
    wf_result result = wf_buffer_read(l->arrays[n], 0, data, array_bytes(l));
    for (uint32_t y = 1; result == WF_SUCCESS && y < l->ny - 1; y++) {
        size_t from = y * (size_t)l->stride;
        for (uint32_t x = first_cell(l, n, y); x < l->nx - 1; x += step, from++)
            if (x > 0)
                wfi_laplace_put(u, l->type, y * (size_t)l->nx + x,
                                ldexp(wfi_laplace_get(data, l->type, from), l->exponent));
    }
    return result;
}

wf_result wfi_laplace_read(wfi_laplace *l, uint32_t checks, void *u)
{
    void *data = wfi_malloc((size_t)array_bytes(l));
    if (!data)
        return wfi_no_memory(&l->device->log);
    wf_result result = read_array(l, l->coloured ? 0 : checks & 1, data, u);
    if (result == WF_SUCCESS && l->coloured)
        result = read_array(l, 1, data, u);
    wfi_free(data);
    return result;
}
