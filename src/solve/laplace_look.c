#include "solve/laplace_look.h"

#include <math.h>

#include "core/heap.h"
#include "core/share.h"

#define PART_ROWS 64u /* of the grid, that a thread takes at a time */

/* The host's look at rows, by several threads. Sums are added in the same order whatever their
 * number. */
typedef struct look {
    const wfi_laplace_rows *rows;
    long double unit;
    wfi_laplace_found *parts;
} look;

static uint32_t end_of_rows(const wfi_laplace_rows *r)
{
    return r->first + r->count;
}

/* Row y of the grid, one of these rows or one beside them. */
static const void *row(const wfi_laplace_rows *r, uint32_t y)
{
    const size_t bytes = r->grid->nx * wf_type_size(r->grid->type);
    if (y + 1 == r->first)
        return r->lower;
    return y == end_of_rows(r) ? r->upper : (const unsigned char *)r->own + (y - r->first) * bytes;
}

static long double cell(const wfi_laplace_rows *r, uint32_t x, uint32_t y)
{
    return wfi_laplace_get(row(r, y), r->grid->type, x);
}

static wf_result look_at(wf_device *device, look *l, void (*part)(void *user, uint32_t number),
                         wfi_laplace_found *out)
{
    const uint32_t parts = l->rows->count ? (l->rows->count - 1) / PART_ROWS + 1 : 0;
    l->parts = wfi_calloc(parts + (size_t)1, sizeof *l->parts);
    if (!l->parts)
        return wfi_no_memory(&device->log);
    wfi_share(device, parts, part, l);
    for (uint32_t i = 0; i < parts; i++) {
        out->largest = fmax(out->largest, l->parts[i].largest);
        out->residual += l->parts[i].residual;
        out->scale += l->parts[i].scale;
    }
    wfi_free(l->parts);
    return WF_SUCCESS;
}

static uint32_t begin_of_part(const wfi_laplace_rows *r, uint32_t part)
{
    return r->first + part * PART_ROWS;
}

static uint32_t end_of_part(const wfi_laplace_rows *r, uint32_t part)
{
    const uint32_t end = begin_of_part(r, part + 1);
    return end < end_of_rows(r) ? end : end_of_rows(r);
}

static void find_largest(void *user, uint32_t part)
{
    const look *l = user;
    const wfi_laplace_rows *r = l->rows;
    double most = 0;
    for (uint32_t y = begin_of_part(r, part); y < end_of_part(r, part); y++) {
        const void *values = row(r, y);
        for (uint32_t x = 0; x < r->grid->nx; x++) {
            const double value = fabs(wfi_laplace_get(values, r->grid->type, x));
            most = value > most ? value : isfinite(value) ? most : INFINITY;
        }
    }
    l->parts[part].largest = most;
}

wf_result wfi_laplace_find_largest(wf_device *device, const wfi_laplace_rows *rows,
                                   wfi_laplace_found *found)
{
    look l = {.rows = rows};
    *found = (wfi_laplace_found){0};
    return look_at(device, &l, find_largest, found);
}

/* The sum of those neighbours of an inner cell that are on the border. */
static long double border_sum(const wfi_laplace_rows *r, uint32_t x, uint32_t y)
{
    const wf_laplace_params *p = r->grid;
    long double sum = 0;
    if (x == 1)
        sum += cell(r, 0, y);
    if (x == p->nx - 2)
        sum += cell(r, x + 1, y);
    if (y == 1)
        sum += cell(r, x, 0);
    if (y == p->ny - 2)
        sum += cell(r, x, y + 1);
    return sum;
}

void wfi_laplace_find_border(const wfi_laplace_rows *r, double unit, wfi_laplace_found *found)
{
    const wf_laplace_params *p = r->grid;
    long double squares = 0;
    for (uint32_t y = r->first > 1 ? r->first : 1; y < end_of_rows(r) && y < p->ny - 1; y++) {
        const bool whole = y == 1 || y == p->ny - 2;
        const uint32_t step = whole || p->nx < 4 ? 1 : p->nx - 3; /* else the first and the last */
        for (uint32_t x = 1; x < p->nx - 1; x += step) {
            const long double sum = border_sum(r, x, y) / unit;
            squares += sum * sum;
        }
    }
    found->border = squares;
}

static void find_residual(void *user, uint32_t part)
{
    const look *l = user;
    const wfi_laplace_rows *r = l->rows;
    const wf_laplace_params *p = r->grid;
    const uint32_t begin = begin_of_part(r, part);
    long double squares = 0, scales = 0;
    for (uint32_t y = begin ? begin : 1; y < end_of_part(r, part) && y < p->ny - 1; y++) {
        const void *here = row(r, y), *above = row(r, y - 1), *below = row(r, y + 1);
        for (uint32_t x = 1; x < p->nx - 1; x++) {
            const long double west = wfi_laplace_get(here, p->type, x - 1),
                              east = wfi_laplace_get(here, p->type, x + 1),
                              north = wfi_laplace_get(above, p->type, x),
                              south = wfi_laplace_get(below, p->type, x),
                              own = 4 * (long double)wfi_laplace_get(here, p->type, x);
            const long double residual = (west + east + north + south - own) / l->unit;
            const long double all =
                (fabsl(west) + fabsl(east) + fabsl(north) + fabsl(south) + fabsl(own)) / l->unit;
            squares += residual * residual;
            scales += all * all;
        }
    }
    l->parts[part].residual = squares;
    l->parts[part].scale = scales;
}

wf_result wfi_laplace_find_residual(wf_device *device, const wfi_laplace_rows *rows, double unit,
                                    wfi_laplace_found *found)
{
    look l = {.rows = rows, .unit = unit};
    found->residual = found->scale = 0;
    return look_at(device, &l, find_residual, found);
}
