/* The reference of star and box stencils, with a bound on what the device's result may differ.
 *
 * A step over n coefficients is a chain of n multiply-adds, which Vulkan lets a device round twice
 * each. With e the bounds of the values read, |error| <= gamma_2n sum(|c| (|x| + e)) + sum(|c| e).
 * Storing f16 adds a rounding to nearest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/params.h"
#include "kernels/bound.h"
#include "kernels/grid_stencil.h"

#define BOX_SIDE 16      /* of the blocks drawn, in three dimensions */
#define FLAT_BOX_SIDE 64 /* in two */
#define MOST_TAPS 729
#define HALF_ROUNDING 0x1p-11 /* of a normal f16 */
#define HALF_LEAST 0x1p-25    /* of a subnormal one */

/* Cells [low, high) along i, j, k; of a periodic grid also beyond its ends. */
typedef struct box {
    int64_t low[3], high[3];
} box;

typedef struct tap {
    int64_t offset[3]; /* i, j, k */
    double value;
} tap;

typedef struct reference {
    wfi_grid_problem problem;
    wfi_grid_axes axes;
    int64_t size[3]; /* ni, nj, nk */
    wf_type type;
    uint32_t count;
    tap taps[MOST_TAPS];
    const void *in;
    box held; /* what the arrays cover */
    long double *value, *next_value;
    double *error, *next_error;
} reference;

static uint64_t place(const reference *r, const int64_t at[3])
{
    return (uint64_t)at[2] * r->axes.plane + (uint64_t)at[1] * r->axes.row + (uint64_t)at[0];
}

/* The cell that stands for `at`; a periodic grid's own cells keep beyond its ends. */
static int64_t mapped(const reference *r, int axis, int64_t at)
{
    const int64_t n = r->size[axis];
    if (r->problem.border == WF_BORDER_NEUMANN)
        return at < 0 ? -1 - at : at >= n ? 2 * n - 1 - at : at;
    return at;
}

static bool fixed(const reference *r, const int64_t at[3])
{
    const int64_t radius = r->problem.radius;
    for (int axis = 0; axis < 3; axis++)
        if (r->problem.border == WF_BORDER_DIRICHLET && !(axis == 1 && r->axes.flat) &&
            (at[axis] < radius || at[axis] >= r->size[axis] - radius))
            return true;
    return false;
}

static double rounded_coefficient(const reference *r, double value)
{
    return r->type == WF_TYPE_F64 ? value : (double)(float)value;
}

static void make_star(reference *r, const double *coefficients)
{
    r->taps[r->count++] = (tap){{0, 0, 0}, rounded_coefficient(r, coefficients[0])};
    for (int axis = 0; axis < 3; axis++)
        for (uint32_t d = 1; d <= r->problem.radius && !(axis == 1 && r->axes.flat); d++)
            for (int side = -1; side <= 1; side += 2) {
                tap *t = &r->taps[r->count];
                *t = (tap){{0, 0, 0}, rounded_coefficient(r, coefficients[r->count])};
                t->offset[axis] = side * (int64_t)d;
                r->count++;
            }
}

static void make_box(reference *r, const double *coefficients)
{
    const int64_t radius = r->problem.radius, radius_j = r->axes.flat ? 0 : radius;
    for (int64_t k = -radius; k <= radius; k++)
        for (int64_t j = -radius_j; j <= radius_j; j++)
            for (int64_t i = -radius; i <= radius; i++) {
                r->taps[r->count] =
                    (tap){{i, j, k}, rounded_coefficient(r, coefficients[r->count])};
                r->count++;
            }
}

static size_t index_in(const box *b, const int64_t at[3])
{
    const int64_t ni = b->high[0] - b->low[0], nj = b->high[1] - b->low[1];
    return (size_t)(((at[2] - b->low[2]) * nj + at[1] - b->low[1]) * ni + at[0] - b->low[0]);
}

static size_t cells_of(const box *b)
{
    size_t cells = 1;
    for (int axis = 0; axis < 3; axis++)
        cells *= (size_t)(b->high[axis] - b->low[axis]);
    return cells;
}

/* The next cell of a box in memory's order; false past the last. */
static bool advance(const box *b, int64_t at[3])
{
    for (int axis = 0; axis < 3; axis++) {
        if (++at[axis] < b->high[axis])
            return true;
        at[axis] = b->low[axis];
    }
    return false;
}

static void update(reference *r, const int64_t at[3])
{
    const size_t here = index_in(&r->held, at);
    long double sum = 0;
    double magnitude = 0, carried = 0;
    r->next_value[here] = r->value[here];
    r->next_error[here] = r->error[here];
    if (fixed(r, at))
        return;
    for (uint32_t n = 0; n < r->count; n++) {
        const tap *t = &r->taps[n];
        int64_t from[3];
        for (int axis = 0; axis < 3; axis++)
            from[axis] = mapped(r, axis, at[axis] + t->offset[axis]);
        const size_t index = index_in(&r->held, from);
        sum += (long double)t->value * r->value[index];
        magnitude += fabs(t->value) * ((double)fabsl(r->value[index]) + r->error[index]);
        carried += fabs(t->value) * r->error[index];
    }
    const wf_type computed = r->type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32;
    double error = wfi_gamma(2.0 * r->count, computed) * magnitude + carried +
                   wfi_underflow(2.0 * r->count, computed);
    if (r->type == WF_TYPE_F16)
        error += HALF_ROUNDING * ((double)fabsl(sum) + error) + HALF_LEAST;
    r->next_value[here] = sum;
    r->next_error[here] = error;
}

/* One step over the cells whose neighbours are all held and right: `margin` cells are lost on each
 * side that is not the grid's own edge. */
static void step(reference *r, int64_t margin)
{
    const bool open = r->problem.border == WF_BORDER_PERIODIC;
    box inner = r->held;
    for (int axis = 0; axis < 3; axis++) {
        if (axis == 1 && r->axes.flat)
            continue;
        if (open || inner.low[axis] > 0)
            inner.low[axis] += margin;
        if (open || inner.high[axis] < r->size[axis])
            inner.high[axis] -= margin;
    }
    int64_t at[3];
    memcpy(at, inner.low, sizeof at);
    do
        update(r, at);
    while (advance(&inner, at));
    long double *value = r->value;
    double *error = r->error;
    r->value = r->next_value;
    r->next_value = value;
    r->error = r->next_error;
    r->next_error = error;
}

static void read_start(reference *r)
{
    int64_t at[3], from[3];
    memcpy(at, r->held.low, sizeof at);
    do {
        for (int axis = 0; axis < 3; axis++)
            from[axis] = ((at[axis] % r->size[axis]) + r->size[axis]) % r->size[axis];
        r->value[index_in(&r->held, at)] = wf_element_get(r->type, r->in, place(r, from));
    } while (advance(&r->held, at));
}

static bool allocate(reference *r)
{
    const size_t cells = cells_of(&r->held);
    r->value = malloc(cells * sizeof *r->value);
    r->next_value = malloc(cells * sizeof *r->value);
    r->error = calloc(cells, sizeof *r->error);
    r->next_error = calloc(cells, sizeof *r->error);
    return r->value && r->next_value && r->error && r->next_error;
}

static void release(reference *r)
{
    free(r->value);
    free(r->next_value);
    free(r->error);
    free(r->next_error);
}

static wf_result check_box(reference *r, const box *wanted, const void *out, wf_check *check)
{
    const int64_t reach = (int64_t)r->problem.radius * r->problem.steps;
    const bool open = r->problem.border == WF_BORDER_PERIODIC;
    int64_t at[3];
    r->held = *wanted;
    for (int axis = 0; axis < 3; axis++) {
        if (axis == 1 && r->axes.flat)
            continue;
        const int64_t low = wanted->low[axis] - reach, high = wanted->high[axis] + reach;
        r->held.low[axis] = !open && low < 0 ? 0 : low;
        r->held.high[axis] = !open && high > r->size[axis] ? r->size[axis] : high;
    }
    if (!allocate(r)) {
        release(r);
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    }
    read_start(r);
    for (uint32_t n = 1; n <= r->problem.steps; n++)
        step(r, (int64_t)r->problem.radius * n);
    memcpy(at, wanted->low, sizeof at);
    do {
        const size_t index = index_in(&r->held, at);
        wfi_check_element(check, place(r, at), wf_element_get(r->type, out, place(r, at)),
                          r->value[index], r->error[index]);
    } while (advance(wanted, at));
    release(r);
    return WF_SUCCESS;
}

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A block of cells; the first two lie in the corners, so that every edge is looked at. */
static box draw_box(const reference *r, uint32_t number, uint64_t *state)
{
    const int64_t most = r->axes.flat ? FLAT_BOX_SIDE : BOX_SIDE;
    box b;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t side = r->size[axis] < most ? r->size[axis] : most;
        const uint64_t places = (uint64_t)(r->size[axis] - side) + 1;
        const uint64_t drawn = next_random(state) % places;
        b.low[axis] = number == 0 ? 0 : number == 1 ? (int64_t)places - 1 : (int64_t)drawn;
        b.high[axis] = b.low[axis] + side;
    }
    return b;
}

static wf_result check_all(reference *r, const void *out, uint64_t max_checked, uint64_t seed,
                           wf_check *check)
{
    if (max_checked == 0 || max_checked >= check->total) {
        const box whole = {{0, 0, 0}, {r->size[0], r->size[1], r->size[2]}};
        return check_box(r, &whole, out, check);
    }
    wf_result result = WF_SUCCESS;
    for (uint32_t n = 0; (n < 2 || check->checked < max_checked) && result == WF_SUCCESS; n++) {
        const box b = draw_box(r, n, &seed);
        result = check_box(r, &b, out, check);
    }
    return result;
}

wf_result wf_stencil_check(const wf_stencil_params *given, const void *in, const void *out,
                           uint64_t max_checked, uint64_t seed, wf_check *check)
{
    wfi_grid_problem problem;
    wf_stencil_params read;
    const wf_stencil_params *params = &read;
    if (wfi_params_read(&(wfi_log){0}, "wf_stencil_check", given, &read, sizeof read) !=
            WF_SUCCESS ||
        !wfi_grid_problem_of(params, &problem) || !in || !out || !check)
        return WF_ERROR_INVALID_ARGUMENT;
    if (params->type != WF_TYPE_F32 && params->type != WF_TYPE_F64 && params->type != WF_TYPE_F16)
        return WF_ERROR_UNSUPPORTED;
    reference *r = calloc(1, sizeof *r);
    if (!r)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    r->problem = problem;
    r->axes = wfi_grid_axes_of(&problem);
    r->type = params->type;
    r->in = in;
    r->size[0] = (int64_t)r->axes.ni;
    r->size[1] = (int64_t)r->axes.nj;
    r->size[2] = (int64_t)r->axes.nk;
    if (problem.shape == WF_STENCIL_STAR)
        make_star(r, params->coefficients);
    else
        make_box(r, params->coefficients);
    *check = (wf_check){.total = r->axes.ni * r->axes.nj * r->axes.nk};
    wf_result result = check_all(r, out, max_checked, seed, check);
    free(r);
    return result;
}
