/* Star and box stencils in f32 or f64: rows in blocks that stay in the first cache, one coefficient
 * after the other. Cells beyond an edge stand in layers around the grid, filled before each step;
 * with fixed edges there are none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/cases/random.h"
#include "tool/host/host.h"

#define MOST_TAPS 729 /* a box of radius 4 */
#define BLOCK 128     /* cells of a row */
#define CHECKED_CELLS 20000

enum { IN, OUT, OTHER, GRIDS };

typedef struct stencil {
    wf_stencil_params params;
    size_t size;              /* of an element */
    size_t n[3], pad[3];      /* cells, layers around them: none in z of a plane */
    size_t row, plane, cells; /* elements from one to the next, of all */
    size_t low[3], high[3];   /* the cells that a step computes */
    ptrdiff_t offset[MOST_TAPS];
    union {
        float f32[MOST_TAPS];
        double f64[MOST_TAPS];
    } coefficient;
    uint32_t taps;
    char *grids[GRIDS];
    int result; /* the grid that the last step wrote */
} stencil;

#define COMPUTE_ROW(name, real, member)                                                            \
    static void name(const stencil *s, const char *source, char *target, size_t at, size_t count)  \
    {                                                                                              \
        const real *in = (const real *)source + at;                                                \
        real *out = (real *)target + at;                                                           \
        for (size_t first = 0; first < count; first += BLOCK) {                                    \
            const size_t n = count - first < BLOCK ? count - first : BLOCK;                        \
            real sum[BLOCK] = {0};                                                                 \
            for (uint32_t tap = 0; tap < s->taps; tap++) {                                         \
                const real c = s->coefficient.member[tap];                                         \
                const real *restrict p = in + first + s->offset[tap];                              \
                for (size_t i = 0; i < n; i++)                                                     \
                    sum[i] += c * p[i];                                                            \
            }                                                                                      \
            memcpy(out + first, sum, n * sizeof *sum);                                             \
        }                                                                                          \
    }

COMPUTE_ROW(compute_row_f32, float, f32)
COMPUTE_ROW(compute_row_f64, double, f64)

/* The cell whose value stands `beyond` layers past the low or the high edge of n cells. */
static size_t mirrored(const stencil *s, size_t n, size_t beyond, bool high)
{
    return (s->params.border == WF_BORDER_PERIODIC) != high ? n - 1 - beyond : beyond;
}

/* Fills the layers beyond both edges of an axis: `count` lines that are `stride` elements apart, of
 * n pieces of `piece` elements. */
static void fill_edges(const stencil *s, char *grid, int axis, size_t count, size_t stride,
                       size_t piece)
{
    const size_t n = s->n[axis], pad = s->pad[axis], bytes = piece * s->size;
    const long long lines = pad ? (long long)count : 0;
#pragma omp parallel for
    for (long long line = 0; line < lines; line++) {
        char *first = grid + ((size_t)line * stride + pad * piece) * s->size;
        for (size_t i = 0; i < pad; i++) {
            memcpy(first - (i + 1) * bytes, first + mirrored(s, n, i, false) * bytes, bytes);
            memcpy(first + (n + i) * bytes, first + mirrored(s, n, i, true) * bytes, bytes);
        }
    }
}

static void step(const stencil *s, char *source, char *target)
{
    const size_t rows = s->high[1] - s->low[1], count = s->high[0] - s->low[0];
    const long long planes = (long long)(s->high[2] - s->low[2]);
    const long long lines = planes * (long long)rows;
    void (*const compute)(const stencil *, const char *, char *, size_t, size_t) =
        s->params.type == WF_TYPE_F64 ? compute_row_f64 : compute_row_f32;
    fill_edges(s, source, 0, s->cells / s->row, s->row, 1);
    fill_edges(s, source, 1, s->cells / s->plane, s->plane, s->row);
    fill_edges(s, source, 2, 1, s->cells, s->plane);
#pragma omp parallel for
    for (long long line = 0; line < lines; line++) {
        const size_t y = s->low[1] + (size_t)line % rows, z = s->low[2] + (size_t)line / rows;
        compute(s, source, target, z * s->plane + y * s->row + s->low[0], count);
    }
}

static void apply(void *user)
{
    stencil *s = user;
    const uint32_t steps = s->params.steps ? s->params.steps : 1;
    int source = IN;
    for (uint32_t i = 0; i < steps; i++) {
        s->result = source == OUT ? OTHER : OUT;
        step(s, s->grids[source], s->grids[s->result]);
        source = s->result;
    }
}

/* Where each coefficient's cell is, in the order of wf_stencil_params.coefficients. */
static void place_taps(stencil *s)
{
    const ptrdiff_t strides[3] = {1, (ptrdiff_t)s->row, (ptrdiff_t)s->plane};
    const int radius = (int)s->params.radius, dimensions = s->params.nz ? 3 : 2;
    const int deep = dimensions == 3 ? radius : 0;
    s->taps = 0;
    if (s->params.shape == WF_STENCIL_STAR) {
        s->offset[s->taps++] = 0;
        for (int axis = 0; axis < dimensions; axis++)
            for (int distance = 1; distance <= radius; distance++) {
                s->offset[s->taps++] = -distance * strides[axis];
                s->offset[s->taps++] = distance * strides[axis];
            }
        return;
    }
    for (int z = -deep; z <= deep; z++)
        for (int y = -radius; y <= radius; y++)
            for (int x = -radius; x <= radius; x++)
                s->offset[s->taps++] = x + y * strides[1] + z * strides[2];
}

static void place(stencil *s)
{
    const wf_stencil_params *p = &s->params;
    const size_t n[3] = {p->nx, p->ny, p->nz ? p->nz : 1};
    size_t wide[3];
    for (int axis = 0; axis < 3; axis++) {
        const bool fixed = p->border == WF_BORDER_DIRICHLET;
        const size_t reach = axis < 2 || p->nz ? p->radius : 0;
        s->n[axis] = n[axis];
        s->pad[axis] = fixed ? 0 : reach;
        s->low[axis] = reach;
        s->high[axis] = fixed ? n[axis] - reach : n[axis] + reach;
        wide[axis] = n[axis] + 2 * s->pad[axis];
    }
    s->size = wf_type_size(p->type);
    s->row = wide[0];
    s->plane = wide[0] * wide[1];
    s->cells = s->plane * wide[2];
    place_taps(s);
    for (uint32_t tap = 0; tap < s->taps; tap++)
        if (p->type == WF_TYPE_F64)
            s->coefficient.f64[tap] = p->coefficients[tap];
        else
            s->coefficient.f32[tap] = (float)p->coefficients[tap];
}

/* Copies the cells without the layers around them. */
static void copy_cells(const stencil *s, const char *from, char *to)
{
    const size_t bytes = s->n[0] * s->size;
    for (size_t z = 0; z < s->n[2]; z++)
        for (size_t y = 0; y < s->n[1]; y++, to += bytes)
            memcpy(to,
                   from + ((z + s->pad[2]) * s->plane + (y + s->pad[1]) * s->row + s->pad[0]) *
                              s->size,
                   bytes);
}

/* All grids begin alike, since steps leave fixed edges as they are. */
static bool make(stencil *s, uint64_t seed)
{
    for (int i = 0; i < (s->params.steps > 1 ? GRIDS : OTHER); i++) {
        s->grids[i] = malloc(s->cells * s->size);
        if (!s->grids[i])
            return false;
        if (i == IN)
            wfi_random_fill(s->grids[IN], s->params.type, s->cells, seed);
        else
            memcpy(s->grids[i], s->grids[IN], s->cells * s->size);
    }
    return true;
}

static wf_result verify(stencil *s, uint64_t seed, wfi_result_host *out)
{
    const size_t bytes = s->n[0] * s->n[1] * s->n[2] * s->size;
    char *in = malloc(bytes), *left = malloc(bytes);
    wf_result result = in && left ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS) {
        apply(s);
        copy_cells(s, s->grids[IN], in);
        copy_cells(s, s->grids[s->result], left);
        result = wf_stencil_check(&s->params, in, left, CHECKED_CELLS, seed, &out->check);
    }
    free(in);
    free(left);
    return result;
}

void wfi_host_stencil(const wf_stencil_params *params, double seconds, uint64_t seed,
                      wfi_result_host *out)
{
    stencil s = {.params = *params};
    if (params->type != WF_TYPE_F32 && params->type != WF_TYPE_F64) {
        wfi_host_begin(0, out);
        snprintf(out->reason, sizeof out->reason, "skipped: plain C has no %s",
                 wf_type_name(params->type));
        return;
    }
    s.params.radius = params->radius ? params->radius : 1;
    place(&s);
    const double steps = params->steps ? params->steps : 1;
    if (!wfi_host_begin(2.0 * s.taps * steps * (double)s.n[0] * (double)s.n[1] * (double)s.n[2],
                        out))
        return;
    const wf_result result = make(&s, seed) ? verify(&s, seed, out) : WF_ERROR_OUT_OF_HOST_MEMORY;
    if (wfi_host_verified(result, out))
        wfi_host_time(apply, &s, seconds, out);
    for (int i = 0; i < GRIDS; i++)
        free(s.grids[i]);
}
