/* The reference of star and box stencils, with a bound on what the device's result may differ.
 *
 * A step over n coefficients is a chain of n multiply-adds, which Vulkan lets a device round twice
 * each. With e the bounds of the values read, |error| <= gamma_2n sum(|c| (|x| + e)) + sum(|c| e).
 * Storing f16 adds a rounding to nearest. */
#include <math.h>
#include <string.h>

#include "core/heap.h"
#include "core/params.h"
#include "kernels/check/bound.h"
#include "kernels/check/field.h"
#include "kernels/stencil/stencil.h"
#include "wfi_shaders.h"
#include "kernels/stencil/whole.h"

#define RANGE_SIDE 16      /* cells along each axis of the ranges drawn, in three dimensions */
#define FLAT_RANGE_SIDE 64 /* in two */
#define MOST_TAPS 729
#define HALF_ROUNDING 0x1p-11 /* of a normal f16 */
#define HALF_LEAST 0x1p-25    /* of a subnormal one */

typedef wfi_stencil_tap tap;

typedef struct reference {
    wfi_stencil_reference grid;
    tap taps[MOST_TAPS];
    wfi_field field; /* holds cells beyond the ends of a periodic grid too */
    wfi_watch watch;
} reference;

static uint64_t place(const reference *r, const int64_t at[3])
{
    return (uint64_t)at[2] * r->grid.plane + (uint64_t)at[1] * r->grid.row + (uint64_t)at[0];
}

/* The cell that the border puts at `at`. Of a periodic grid the field holds cells beyond the
 * ends. */
static int64_t mapped(const reference *r, int axis, int64_t at)
{
    const int64_t n = r->grid.size[axis];
    if (r->grid.border == WF_BORDER_NEUMANN)
        return at < 0 ? -1 - at : at >= n ? 2 * n - 1 - at : at;
    return at;
}

static bool fixed(const reference *r, const int64_t at[3])
{
    const int64_t radius = r->grid.radius;
    for (int axis = 0; axis < 3; axis++)
        if (r->grid.border == WF_BORDER_DIRICHLET && !(axis == 1 && r->grid.flat) &&
            (at[axis] < radius || at[axis] >= r->grid.size[axis] - radius))
            return true;
    return false;
}

static double rounded_coefficient(const reference *r, double value)
{
    return r->grid.type == WF_TYPE_F64 ? value : (double)(float)value;
}

static void make_star(reference *r, const double *coefficients)
{
    r->taps[r->grid.count++] = (tap){{0, 0, 0}, rounded_coefficient(r, coefficients[0])};
    for (int axis = 0; axis < 3; axis++)
        for (uint32_t d = 1; d <= r->grid.radius && !(axis == 1 && r->grid.flat); d++)
            for (int side = -1; side <= 1; side += 2) {
                tap *t = &r->taps[r->grid.count];
                *t = (tap){{0, 0, 0}, rounded_coefficient(r, coefficients[r->grid.count])};
                t->offset[axis] = side * (int64_t)d;
                r->grid.count++;
            }
}

static void make_range(reference *r, const double *coefficients)
{
    const int64_t radius = r->grid.radius, radius_j = r->grid.flat ? 0 : radius;
    for (int64_t k = -radius; k <= radius; k++)
        for (int64_t j = -radius_j; j <= radius_j; j++)
            for (int64_t i = -radius; i <= radius; i++) {
                r->taps[r->grid.count] =
                    (tap){{i, j, k}, rounded_coefficient(r, coefficients[r->grid.count])};
                r->grid.count++;
            }
}

static long double *values_of(const wfi_field *f)
{
    return f->value;
}

static void update(reference *r, const int64_t at[3])
{
    wfi_field *f = &r->field;
    const size_t here = wfi_cell_range_index(&f->held, at);
    long double sum = 0;
    double magnitude = 0, carried = 0;
    ((long double *)f->next_value)[here] = values_of(f)[here];
    f->next_error[here] = f->error[here];
    if (fixed(r, at))
        return;
    for (uint32_t n = 0; n < r->grid.count; n++) {
        const tap *t = &r->taps[n];
        int64_t from[3];
        for (int axis = 0; axis < 3; axis++)
            from[axis] = mapped(r, axis, at[axis] + t->offset[axis]);
        const size_t index = wfi_cell_range_index(&f->held, from);
        sum += (long double)t->value * values_of(f)[index];
        magnitude += fabs(t->value) * ((double)fabsl(values_of(f)[index]) + f->error[index]);
        carried += fabs(t->value) * f->error[index];
    }
    const wf_type computed = r->grid.type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32;
    double error = wfi_gamma(2.0 * r->grid.count, computed) * magnitude + carried +
                   wfi_underflow(2.0 * r->grid.count, computed);
    if (r->grid.type == WF_TYPE_F16)
        error += HALF_ROUNDING * ((double)fabsl(sum) + error) + HALF_LEAST;
    ((long double *)f->next_value)[here] = sum;
    f->next_error[here] = error;
}

/* Makes a step on the cells whose neighbours are all held and right: `margin` cells are lost on
 * each side that is not the grid's own edge. */
static void step(reference *r, int64_t margin)
{
    const bool open = r->grid.border == WF_BORDER_PERIODIC;
    wfi_cell_range inner = r->field.held;
    for (int axis = 0; axis < 3; axis++) {
        if (axis == 1 && r->grid.flat)
            continue;
        if (open || inner.low[axis] > 0)
            inner.low[axis] += margin;
        if (open || inner.high[axis] < r->grid.size[axis])
            inner.high[axis] -= margin;
    }
    int64_t at[3];
    memcpy(at, inner.low, sizeof at);
    do
        update(r, at);
    while (wfi_cell_range_advance(&inner, at) &&
           wfi_watch_goes_on(&r->watch, UINT64_C(2) * r->grid.count + 8));
    wfi_field_swap(&r->field);
}

static void read_start(reference *r)
{
    wfi_field *f = &r->field;
    int64_t at[3], from[3];
    memcpy(at, f->held.low, sizeof at);
    do {
        for (int axis = 0; axis < 3; axis++)
            from[axis] =
                ((at[axis] % r->grid.size[axis]) + r->grid.size[axis]) % r->grid.size[axis];
        values_of(f)[wfi_cell_range_index(&f->held, at)] =
            wf_element_get(r->grid.type, r->grid.in, place(r, from));
    } while (wfi_cell_range_advance(&f->held, at));
}

static wf_result check_range(void *user, const wfi_cell_range *wanted, wf_check *check)
{
    reference *r = user;
    wfi_field *f = &r->field;
    const int64_t reach = (int64_t)r->grid.radius * r->grid.steps;
    const bool open = r->grid.border == WF_BORDER_PERIODIC;
    int64_t at[3];
    f->held = *wanted;
    for (int axis = 0; axis < 3; axis++) {
        if (axis == 1 && r->grid.flat)
            continue;
        const int64_t low = wanted->low[axis] - reach, high = wanted->high[axis] + reach;
        f->held.low[axis] = !open && low < 0 ? 0 : low;
        f->held.high[axis] = !open && high > r->grid.size[axis] ? r->grid.size[axis] : high;
    }
    if (!wfi_field_open(f, sizeof(long double)))
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    read_start(r);
    for (uint32_t n = 1; n <= r->grid.steps && !r->watch.stopped; n++)
        step(r, (int64_t)r->grid.radius * n);
    memcpy(at, wanted->low, sizeof at);
    do {
        const size_t index = wfi_cell_range_index(&f->held, at);
        if (r->watch.stopped)
            break;
        wfi_check_element(check, place(r, at),
                          wf_element_get(r->grid.type, r->grid.out, place(r, at)),
                          values_of(f)[index], f->error[index]);
    } while (wfi_cell_range_advance(wanted, at));
    wfi_field_close(f);
    return r->watch.stopped ? WF_ERROR_CANCELLED : WF_SUCCESS;
}

/* Reads the parameters as the public header describes them. A grid of two dimensions has its rows
 * along k. */
static void read_params(reference *r, const wf_stencil_params *p, const void *in, const void *out)
{
    const uint64_t row = p->row_stride ? p->row_stride : p->nx;
    r->grid = (wfi_stencil_reference){.size = {p->nx, p->nz ? p->ny : 1, p->nz ? p->nz : p->ny},
                                      .row = p->nz ? row : 0,
                                      .plane = p->nz ? row * p->ny : row,
                                      .flat = p->nz == 0,
                                      .border = p->border,
                                      .radius = p->radius ? p->radius : 1,
                                      .steps = p->steps ? p->steps : 1,
                                      .type = p->type,
                                      .taps = r->taps,
                                      .in = in,
                                      .out = out,
                                      .watch = &r->watch};
    if (p->shape == WF_STENCIL_STAR)
        make_star(r, p->coefficients);
    else
        make_range(r, p->coefficients);
}

/* Checks the cell that the loose bound finds farthest off, and those around it, by the tight
 * bound. */
static wf_result check_around(reference *r, const int64_t at[3], wf_check *check)
{
    wfi_cell_range range;
    for (int axis = 0; axis < 3; axis++) {
        range.low[axis] = at[axis] > 2 ? at[axis] - 2 : 0;
        range.high[axis] = at[axis] + 3 < r->grid.size[axis] ? at[axis] + 3 : r->grid.size[axis];
    }
    return check_range(r, &range, check);
}

static wf_result check_drawn(reference *r, uint64_t max_checked, uint64_t seed, wf_check *check)
{
    int64_t worst[3];
    wf_result result =
        wfi_check_cell_ranges(r->grid.size, r->grid.flat ? FLAT_RANGE_SIDE : RANGE_SIDE,
                              max_checked, seed, check_range, r, check);
    if (result != WF_SUCCESS || wfi_checks_whole(check->total, max_checked))
        return result;
    result = wfi_stencil_check_whole(&r->grid, seed, check, worst);
    if (result == WF_SUCCESS && worst[0] >= 0) {
        result = check_around(r, worst, check);
        check->checked = check->total;
    }
    return result;
}

wf_result wf_stencil_check(const wf_stencil_params *given, const void *in, const void *out,
                           uint64_t max_checked, uint64_t seed, wf_check *check)
{
    static const wfi_spirv *const modules[WF_TYPE_COUNT] = WFI_MODULES_stencil_naive;
    wfi_stencil_problem problem;
    wf_stencil_params read;
    const wf_stencil_params *params = &read;
    if (wfi_params_read(&(wfi_log){0}, "wf_stencil_check", given, &read, sizeof read) !=
            WF_SUCCESS ||
        !wfi_stencil_problem_of(params, &problem) || !in || !out || !check)
        return WF_ERROR_INVALID_ARGUMENT;
    if ((unsigned)params->type >= WF_TYPE_COUNT || !modules[params->type])
        return WF_ERROR_UNSUPPORTED;
    reference *r = wfi_calloc(1, sizeof *r);
    if (!r)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    r->watch.cancel = params->cancel;
    read_params(r, params, in, out);
    const wf_result result = check_drawn(r, max_checked, seed, check);
    wfi_free(r);
    return result;
}
