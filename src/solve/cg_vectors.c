/* What the host does with the vectors and the matrix of a solve, by several threads: lengths, the
 * scaling to length one and back, and the residual of the answer. Sums are added in the same order
 * whatever the number of threads. */
#include <math.h>

#include "core/heap.h"
#include "core/share.h"
#include "solve/cg.h"

#define ELEMENTS 65536u /* of a vector's part */
#define ROWS 8192u      /* of a matrix' part */

/* As wf_element_get and wf_element_set of f32 and f64, in loops over all entries. */
static inline double get(wf_type type, const void *data, size_t i)
{
    return type == WF_TYPE_F64 ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

static inline void put(wf_type type, void *data, size_t i, double value)
{
    if (type == WF_TYPE_F64)
        ((double *)data)[i] = value;
    else
        ((float *)data)[i] = (float)value;
}

static uint32_t parts_of(uint32_t count, uint32_t part)
{
    return count / part + (count % part != 0);
}

/* The end of a part of so many elements. */
static uint32_t end_of(uint32_t count, uint32_t part, uint32_t number)
{
    const uint32_t begin = number * part;
    return count - begin < part ? count : begin + part;
}

/* --------------------------------------------------------------------------------------- length */

typedef struct length {
    wf_type type;
    uint32_t count;
    const void *vector;
    long double *squares; /* of each part */
} length;

static void add_squares(void *user, uint32_t part)
{
    const length *l = user;
    const uint32_t end = end_of(l->count, ELEMENTS, part);
    long double sum = 0;
    for (uint32_t i = part * ELEMENTS; i < end; i++) {
        const long double value = get(l->type, l->vector, i);
        sum += value * value;
    }
    l->squares[part] = sum;
}

wf_result wfi_cg_norm(wf_device *device, wf_type type, uint32_t count, const void *vector,
                      double *norm)
{
    const uint32_t parts = parts_of(count, ELEMENTS);
    length l = {type, count, vector, wfi_calloc(parts + (size_t)1, sizeof *l.squares)};
    long double squares = 0;
    if (!l.squares)
        return wfi_no_memory(&device->log);
    wfi_share(device, parts, add_squares, &l);
    for (uint32_t i = 0; i < parts; i++)
        squares += l.squares[i];
    wfi_free(l.squares);
    *norm = (double)sqrtl(squares);
    return WF_SUCCESS;
}

wf_result wfi_cg_length(wf_device *device, const wf_spmv_params *m, const void *b, double *norm)
{
    const wf_result result = wfi_cg_norm(device, m->type, m->rows, b, norm);
    if (result != WF_SUCCESS || isfinite(*norm))
        return result;
    return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT, "wf_cg_solve: b is not finite");
}

/* -------------------------------------------------------------------------------------- scaling */

typedef struct scaling {
    wf_type type;
    uint32_t count;
    double norm;
    const void *b;
    void *x;
} scaling;

static void make_scaled(void *user, uint64_t at, uint64_t bytes, void *to)
{
    const scaling *s = user;
    const size_t real = wf_type_size(s->type), first = (size_t)at / real;
    for (size_t i = 0; i < bytes / real; i++)
        put(s->type, to, i, get(s->type, s->b, first + i) / s->norm);
}

/* b is scaled to length one, so that squares neither overflow nor vanish. */
wf_result wfi_cg_write_scaled(wfi_cg *c, const void *b, double norm)
{
    const size_t real = wf_type_size(c->type);
    scaling s = {.type = c->type, .norm = norm, .b = b};
    const wfi_maker maker = {make_scaled, &s, ELEMENTS * (uint64_t)real};
    return wfi_buffer_make(c->a, wfi_cg_vector_bytes(c), c->count * (uint64_t)real, &maker);
}

static void scale_back(void *user, uint32_t part)
{
    const scaling *s = user;
    const uint32_t end = end_of(s->count, ELEMENTS, part);
    for (uint32_t i = part * ELEMENTS; i < end; i++)
        put(s->type, s->x, i, get(s->type, s->x, i) * s->norm);
}

wf_result wfi_cg_read_scaled(wfi_cg *c, double norm, void *x)
{
    scaling s = {.type = c->type, .count = c->count, .norm = norm, .x = x};
    const wf_result result = wfi_cg_read_solution(c, x);
    if (result == WF_SUCCESS)
        wfi_share(c->device, parts_of(c->count, ELEMENTS), scale_back, &s);
    return result;
}

/* -------------------------------------------------------------------------------------- finding */

/* Sums of a part of the rows. */
typedef struct part_finding {
    long double residual, x;
    double largest_row;
    uint32_t longest_row;
} part_finding;

typedef struct look {
    const wf_spmv_params *m;
    const void *b, *x;
    part_finding *parts;
} look;

static void look_at_part(void *user, uint32_t part)
{
    const look *l = user;
    const wf_spmv_params *m = l->m;
    const uint32_t last = end_of(m->rows, ROWS, part);
    part_finding found = {0};
    for (uint32_t row = part * ROWS; row < last; row++) {
        const uint32_t begin = m->row_offsets[row], end = m->row_offsets[row + 1];
        const long double own = get(m->type, l->x, row);
        long double residual = get(m->type, l->b, row);
        double sum = 0;
        for (uint32_t i = begin; i < end; i++) {
            const long double value = get(m->type, m->values, i);
            residual -= value * get(m->type, l->x, m->column_indices[i]);
            sum += fabs((double)value);
        }
        found.residual += residual * residual;
        found.x += own * own;
        found.largest_row = fmax(found.largest_row, sum);
        found.longest_row = end - begin > found.longest_row ? end - begin : found.longest_row;
    }
    l->parts[part] = found;
}

wf_result wfi_cg_look(wf_device *device, const wf_spmv_params *m, const void *b, const void *x,
                      double norm, wfi_cg_finding *out)
{
    const uint32_t parts = parts_of(m->rows, ROWS);
    look l = {m, b, x, wfi_calloc(parts + (size_t)1, sizeof *l.parts)};
    part_finding all = {0};
    if (!l.parts)
        return wfi_no_memory(&device->log);
    wfi_share(device, parts, look_at_part, &l);
    for (uint32_t i = 0; i < parts; i++) {
        const part_finding *part = &l.parts[i];
        all.residual += part->residual;
        all.x += part->x;
        all.largest_row = fmax(all.largest_row, part->largest_row);
        all.longest_row = part->longest_row > all.longest_row ? part->longest_row : all.longest_row;
    }
    wfi_free(l.parts);
    *out = (wfi_cg_finding){.residual = (double)(sqrtl(all.residual) / norm),
                            .x = (double)(sqrtl(all.x) / norm),
                            .largest_row = all.largest_row,
                            .longest_row = all.longest_row};
    return WF_SUCCESS;
}
