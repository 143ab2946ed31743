/* Copies the grid to the device and back: for Jacobi rows are padded, for red-black order each
 * colour goes to an array of its own. */
#include <math.h>

#include "core/heap.h"
#include "core/share.h"
#include "solve/laplace.h"

#define PART_ROWS 64u /* that a thread takes at a time */

/* The row's first cell in array `n`, and from one to the next. */
static uint32_t first_cell(const wfi_laplace *l, uint32_t n, uint32_t y)
{
    return l->coloured ? (y + n) & 1 : 0;
}

static uint64_t array_bytes(const wfi_laplace *l)
{
    return l->stride * (uint64_t)l->ny * wf_type_size(l->type);
}

/* Two factors whose product is 2^exponent, which may be out of range itself. Products with both
 * are what ldexp gives: where the first one is rounded, the second one makes it 0. */
typedef struct power {
    double first, second;
} power;

static power power_of(int exponent)
{
    return (power){ldexp(1, exponent / 2), ldexp(1, exponent - exponent / 2)};
}

/* An array of the device and the grid u, row by row. */
typedef struct rows {
    const wfi_laplace *l;
    uint32_t array;
    power scale;
    const void *from;
    void *to;
} rows;

static uint64_t row_bytes(const wfi_laplace *l)
{
    return l->stride * (uint64_t)wf_type_size(l->type);
}

/* Rows of an array of the device; `from` is u. */
static void make_rows(void *user, uint64_t at, uint64_t bytes, void *to)
{
    const rows *r = user;
    const wfi_laplace *l = r->l;
    const uint32_t step = l->coloured ? 2 : 1, first = (uint32_t)(at / row_bytes(l)),
                   end = first + (uint32_t)(bytes / row_bytes(l));
    for (uint32_t y = first; y < end; y++) {
        const size_t there = (y - first) * (size_t)l->stride, here = y * (size_t)l->nx;
        uint32_t i = 0;
        for (uint32_t x = first_cell(l, r->array, y); x < l->nx; x += step, i++)
            wfi_laplace_put(to, l->type, there + i,
                            wfi_laplace_get(r->from, l->type, here + x) * r->scale.first *
                                r->scale.second);
        for (; i < l->stride; i++) /* padding */
            wfi_laplace_put(to, l->type, there + i, 0);
    }
}

static wf_result write_array(wfi_laplace *l, uint32_t n, const void *u)
{
    rows r = {.l = l, .array = n, .scale = power_of(-l->exponent), .from = u};
    const wfi_maker maker = {make_rows, &r, PART_ROWS * row_bytes(l)};
    return wfi_buffer_make(l->arrays[n], 0, array_bytes(l), &maker);
}

wf_result wfi_laplace_write(wfi_laplace *l, const void *u)
{
    const wf_result result = write_array(l, 0, u);
    return result == WF_SUCCESS && l->coloured ? write_array(l, 1, u) : result;
}

/* The inner cells of some rows of u; `from` is an array of the device. */
static void take_rows(void *user, uint32_t part)
{
    const rows *r = user;
    const wfi_laplace *l = r->l;
    const uint32_t step = l->coloured ? 2 : 1, last = (part + 1) * PART_ROWS;
    for (uint32_t y = part ? part * PART_ROWS : 1; y < last && y < l->ny - 1; y++) {
        size_t there = y * (size_t)l->stride;
        for (uint32_t x = first_cell(l, r->array, y); x < l->nx - 1; x += step, there++)
            if (x > 0)
                wfi_laplace_put(r->to, l->type, y * (size_t)l->nx + x,
                                wfi_laplace_get(r->from, l->type, there) * r->scale.first *
                                    r->scale.second);
    }
}

static wf_result read_array(wfi_laplace *l, uint32_t n, void *data, void *u)
{
    rows r = {.l = l, .array = n, .scale = power_of(l->exponent), .from = data, .to = u};
    const wf_result result = wf_buffer_read(l->arrays[n], 0, data, array_bytes(l));
    if (result == WF_SUCCESS)
        wfi_share(l->device, (l->ny - 1) / PART_ROWS + 1, take_rows, &r);
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
