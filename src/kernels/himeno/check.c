/* The f64 reference of Himeno's relaxation, with a bound on what f32 may differ from it.
 *
 * One update is s0, a sum of ten products or terms of which the longest passes 13 roundings, then
 * three operations to ss and two to p. So with S the sum of the magnitudes in s0, M = |bnd| (|a3| S
 * + |p|) and e the bounds of the values read,
 *   |ss error| <= gamma_16 M + |bnd| (|a3| sum(|coefficient| e) + e_p)
 *   |p error|  <= gamma_18 (|p| + |omega| M) + |1 - omega bnd| e_p
 *                 + |omega bnd a3| sum(|coefficient| e)
 * where magnitudes include the bounds already there: p stands in ss too, so that the errors of a
 * mean of values do not grow. gosa sums ss^2 over chains of at most 96 additions: its error is at
 * most sum(2 |ss| d + d^2) + gamma_97 sum((|ss| + d)^2). Beside that each square and each addition
 * may lose a subnormal number.
 *
 * Coefficients that are no mean let the bounds grow by a factor an iteration, to infinity. What is
 * multiplied by 0 is then still 0 (function scaled).
 *
 * The benchmark's own start values are those of k alone, and so are its coefficients. After T
 * iterations all cells that are at least T away from the ends of i are then alike, and of j: a grid
 * with 2 T + 2 cells along each says what every cell of a larger one must hold, and gosa counts
 * each as often as it stands there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/params.h"
#include "kernels/check/bound.h"
#include "kernels/check/field.h"
#include "kernels/himeno/long.h"

#define RANGE_SIDE 16 /* cells along each axis of the ranges drawn */
#define COEFFICIENTS 12
#define UPDATE_OPERATIONS 64
#define MOST_UPDATES 1e7 /* of the smaller grid */

typedef struct reference {
    const wf_himeno_arrays *start; /* NULL: the benchmark's own */
    const float *p;                /* the device's */
    uint32_t iterations;
    double omega;
    int64_t size[3]; /* of the grid that is relaxed: ni, nj, nk, or fewer */
    int64_t whole[3];
    wfi_field field;
    double gosa, gosa_bound; /* of the last iteration, over the cells updated */
    wfi_watch watch;
} reference;

static size_t grid_index(const reference *r, const int64_t at[3])
{
    return (size_t)((at[2] * r->size[1] + at[1]) * r->size[0] + at[0]);
}

static double start_p(const reference *r, const int64_t at[3])
{
    if (r->start)
        return (double)r->start->p[grid_index(r, at)];
    const float plane = (float)at[2], last = (float)(r->whole[2] - 1);
    return (double)((plane * plane) / (last * last));
}

/* a0 … a3, b0 … b2, c0 … c2, wrk1, bnd of a cell. */
static void coefficients(const reference *r, size_t at, double out[COEFFICIENTS])
{
    static const float own[COEFFICIENTS] = {1, 1, 1, 1.0f / 6.0f, 0, 0, 0, 1, 1, 1, 0, 1};
    for (int m = 0; m < COEFFICIENTS; m++) {
        const float *array = NULL;
        if (r->start)
            array = m < 4     ? r->start->a[m]
                    : m < 7   ? r->start->b[m - 4]
                    : m < 10  ? r->start->c[m - 7]
                    : m == 10 ? r->start->wrk1
                              : r->start->bnd;
        out[m] = (double)(array ? array[at] : own[m]);
    }
}

typedef struct term {
    double value, magnitude, error;
} term;

/* |coefficient| bound; a bound may be infinite. */
static double scaled(double coefficient, double bound)
{
    return fabs(coefficient) > 0 ? fabs(coefficient) * bound : 0;
}

static void add(term *sum, double coefficient, double value, double magnitude, double error)
{
    sum->value += coefficient * value;
    sum->magnitude += scaled(coefficient, magnitude);
    sum->error += scaled(coefficient, error);
}

static double *values_of(const wfi_field *f)
{
    return f->value;
}

static void add_single(term *sum, const wfi_field *f, double coefficient, size_t at)
{
    const double p = values_of(f)[at];
    add(sum, coefficient, p, fabs(p) + f->error[at], f->error[at]);
}

/* coefficient * (p(+,+) - p(+,-) - p(-,+) + p(-,-)) for the steps d and e along two axes. */
static void add_cross(term *sum, const wfi_field *f, double coefficient, size_t at, size_t d,
                      size_t e)
{
    const size_t corners[4] = {at + d + e, at + d - e, at - d + e, at - d - e};
    double value = 0, magnitude = 0, error = 0;
    for (int n = 0; n < 4; n++) {
        const double p = values_of(f)[corners[n]];
        value += n == 0 || n == 3 ? p : -p;
        magnitude += fabs(p) + f->error[corners[n]];
        error += f->error[corners[n]];
    }
    add(sum, coefficient, value, magnitude, error);
}

static term sum_of(const wfi_field *f, const double c[COEFFICIENTS], size_t at)
{
    const size_t j = (size_t)(f->held.high[0] - f->held.low[0]),
                 k = j * (size_t)(f->held.high[1] - f->held.low[1]);
    term s = {0, 0, 0};
    add_single(&s, f, c[0], at + 1);
    add_single(&s, f, c[1], at + j);
    add_single(&s, f, c[2], at + k);
    add_cross(&s, f, c[4], at, 1, j);
    add_cross(&s, f, c[5], at, j, k);
    add_cross(&s, f, c[6], at, k, 1);
    add_single(&s, f, c[7], at - 1);
    add_single(&s, f, c[8], at - j);
    add_single(&s, f, c[9], at - k);
    add(&s, 1, c[10], fabs(c[10]), 0);
    return s;
}

/* How many cells of the whole grid along an axis the smaller grid's cell at `at` stands for. */
static double copies(const reference *r, int axis, int64_t at)
{
    return at == r->size[axis] / 2 - 1 ? (double)(1 + r->whole[axis] - r->size[axis]) : 1;
}

/* The smaller grid's row that stands for row j of the whole one. */
static int64_t stand_in(const reference *r, int64_t j)
{
    const int64_t more = r->whole[1] - r->size[1], low = r->size[1] / 2 - 1;
    return more == 0 || j <= low ? j : j - more <= low ? low : j - more;
}

static void update(reference *r, const int64_t cell[3])
{
    wfi_field *f = &r->field;
    const size_t at = wfi_cell_range_index(&f->held, cell);
    double c[COEFFICIENTS];
    coefficients(r, grid_index(r, cell), c);
    const term s = sum_of(f, c, at);
    const double p = values_of(f)[at], e = f->error[at], omega = fabs(r->omega);
    const double ss = (s.value * c[3] - p) * c[11];
    const double magnitude = scaled(c[11], scaled(c[3], s.magnitude) + fabs(p) + e);
    const double around = scaled(c[11], scaled(c[3], s.error)), own = scaled(c[11], e);
    const double tiny = wfi_underflow(24, WF_TYPE_F32) * (1 + fabs(c[3])) * (1 + fabs(c[11]));
    const double d = wfi_gamma(16, WF_TYPE_F32) * magnitude + around + own + tiny;
    ((double *)f->next_value)[at] = p + r->omega * ss;
    f->next_error[at] = wfi_gamma(18, WF_TYPE_F32) * (fabs(p) + e + omega * magnitude) +
                        scaled(1 - r->omega * c[11], e) + omega * (around + tiny) + tiny;
    const double often = copies(r, 0, cell[0]) * copies(r, 1, cell[1]);
    r->gosa += often * ss * ss;
    r->gosa_bound += often * ((2 * fabs(ss) + d) * d + wfi_underflow(2, WF_TYPE_F32) +
                              wfi_gamma(97, WF_TYPE_F32) * (fabs(ss) + d) * (fabs(ss) + d));
}

/* Makes an iteration on the inner cells whose neighbours are all held and right: `margin` cells are
 * lost at each side that is not a border of the grid. */
static void iterate(reference *r, int64_t margin)
{
    wfi_field *f = &r->field;
    const size_t cells = wfi_cell_range_cells(&f->held);
    wfi_cell_range inner = f->held;
    int64_t at[3];
    for (int axis = 0; axis < 3; axis++) {
        inner.low[axis] += inner.low[axis] == 0 ? 1 : margin;
        inner.high[axis] -= inner.high[axis] == r->size[axis] ? 1 : margin;
    }
    memcpy(f->next_value, f->value, cells * sizeof(double));
    memcpy(f->next_error, f->error, cells * sizeof *f->error);
    r->gosa = r->gosa_bound = 0;
    memcpy(at, inner.low, sizeof at);
    do
        update(r, at);
    while (wfi_cell_range_advance(&inner, at) && wfi_watch_goes_on(&r->watch, UPDATE_OPERATIONS));
    wfi_field_swap(f);
}

/* Runs the iterations on the cells that `wanted` depends on. */
static wf_result relax(reference *r, const wfi_cell_range *wanted)
{
    wfi_field *f = &r->field;
    int64_t at[3];
    for (int axis = 0; axis < 3; axis++) {
        const int64_t low = wanted->low[axis] - r->iterations,
                      high = wanted->high[axis] + r->iterations;
        f->held.low[axis] = low > 0 ? low : 0;
        f->held.high[axis] = high < r->size[axis] ? high : r->size[axis];
    }
    if (!wfi_field_open(f, sizeof(double)))
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(at, f->held.low, sizeof at);
    do
        values_of(f)[wfi_cell_range_index(&f->held, at)] = start_p(r, at);
    while (wfi_cell_range_advance(&f->held, at));
    for (uint32_t n = 1; n <= r->iterations && !r->watch.stopped; n++)
        iterate(r, n);
    return WF_SUCCESS;
}

/* Relaxes, and compares the cells wanted. */
static wf_result check_range(void *user, const wfi_cell_range *wanted, wf_check *check)
{
    reference *r = user;
    const wfi_field *f = &r->field;
    int64_t at[3];
    const wf_result result = relax(r, wanted);
    if (result != WF_SUCCESS)
        return result;
    memcpy(at, wanted->low, sizeof at);
    do {
        const size_t here = wfi_cell_range_index(&f->held, at), index = grid_index(r, at);
        if (r->watch.stopped)
            break;
        wfi_check_element(check, index, (double)r->p[index], values_of(f)[here], f->error[here]);
    } while (wfi_cell_range_advance(wanted, at));
    wfi_field_close(&r->field);
    return r->watch.stopped ? WF_ERROR_CANCELLED : WF_SUCCESS;
}

/* Compares cells in a row that must all hold the same: where none is wrong the farthest one tells
 * of all. */
static void check_alike(wf_check *check, size_t first, const float *p, size_t count, double value,
                        double bound)
{
    bool right = isfinite(value) && isfinite(bound);
    double farthest = -1;
    size_t at = first;
    for (size_t i = first; i < first + count; i++) {
        const double error = fabs((double)p[i] - value);
        right = right && error <= bound;
        if (error > farthest) {
            farthest = error;
            at = i;
        }
    }
    if (right) {
        wfi_check_element(check, at, (double)p[at], value, bound);
        check->checked += count - 1;
        return;
    }
    for (size_t i = first; i < first + count; i++)
        wfi_check_element(check, i, (double)p[i], value, bound);
}

/* Compares a row of the whole grid with the smaller grid's, of which one cell stands for many. */
static void check_row(const reference *r, int64_t j, int64_t k, double most, wf_check *check)
{
    const wfi_field *f = &r->field;
    const int64_t middle = r->size[0] / 2 - 1, more = r->whole[0] - r->size[0];
    const int64_t from[3] = {0, stand_in(r, j), k};
    size_t here = wfi_cell_range_index(&f->held, from),
           index = (size_t)((k * r->whole[1] + j) * r->whole[0]);
    for (int64_t i = 0; i < r->size[0]; i++, here++) {
        const size_t count = i == middle ? (size_t)more + 1 : 1;
        check_alike(check, index, r->p, count, values_of(f)[here], fmin(f->error[here], most));
        index += count;
    }
}

/* Whether p' is a mean of values of p, so that errors only add up. */
static bool mixes(const reference *r)
{
    return r->omega > 0 && r->omega <= 1;
}

/* Relaxes the smaller grid and compares every cell of the larger one. */
static wf_result check_own(reference *r, const wfi_himeno_long *problem, wf_check *check)
{
    const wfi_cell_range small = {{0, 0, 0}, {r->size[0], r->size[1], r->size[2]}};
    const wfi_cell_range whole = {{0, 0, 0}, {r->whole[0], r->whole[1], r->whole[2]}};
    const uint64_t row = (uint64_t)r->whole[0];
    *check = (wf_check){.total = wfi_cell_range_cells(&whole)};
    const wf_result result = relax(r, &small);
    if (result != WF_SUCCESS)
        return result;
    for (int64_t k = 0; k < r->whole[2] && !r->watch.stopped; k++) {
        const double most = mixes(r) ? wfi_himeno_cell_bound(problem, (double)k) : INFINITY;
        for (int64_t j = 0; j < r->whole[1] && wfi_watch_goes_on(&r->watch, row); j++)
            check_row(r, j, k, most, check);
    }
    wfi_field_close(&r->field);
    return r->watch.stopped ? WF_ERROR_CANCELLED : WF_SUCCESS;
}

/* Makes the grid that is relaxed as small as it may be; returns the updates that it needs. */
static double shrink(reference *r)
{
    double updates = r->iterations;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t enough = 2 * (int64_t)r->iterations + 2;
        if (axis < 2 && r->size[axis] > enough)
            r->size[axis] = enough;
        updates *= (double)r->size[axis];
    }
    return updates;
}

static double sum_error(double gosa, double expected, double bound)
{
    wf_check sum = {0};
    wfi_check_element(&sum, 0, gosa, expected, bound);
    return sum.error_over_bound;
}

static wf_result check_started(reference *r, uint64_t max_checked, uint64_t seed, float gosa,
                               wf_check *check, double *gosa_error_over_bound)
{
    wf_result result =
        wfi_check_cell_ranges(r->size, RANGE_SIDE, max_checked, seed, check_range, r, check);
    if (result == WF_SUCCESS && wfi_checks_whole(check->total, max_checked))
        *gosa_error_over_bound = sum_error((double)gosa, r->gosa, r->gosa_bound);
    return result;
}

wf_result wf_himeno_check(const wf_himeno_params *given, const wf_himeno_arrays *start,
                          uint32_t iterations, const float *p, float gosa, uint64_t max_checked,
                          uint64_t seed, wf_check *check, double *gosa_error_over_bound)
{
    wf_himeno_params read;
    const wf_himeno_params *params = &read;
    if (wfi_params_read(&(wfi_log){0}, "wf_himeno_check", given, &read, sizeof read) !=
            WF_SUCCESS ||
        !p || !check || !gosa_error_over_bound || iterations == 0 || params->ni < 3 ||
        params->nj < 3 || params->nk < 3 || !isfinite(params->omega))
        return WF_ERROR_INVALID_ARGUMENT;
    const bool default_omega = !(params->omega > 0 || params->omega < 0);
    reference r = {.start = start,
                   .p = p,
                   .iterations = iterations,
                   .omega = (double)(default_omega ? 0.8f : params->omega),
                   .size = {params->ni, params->nj, params->nk},
                   .whole = {params->ni, params->nj, params->nk},
                   .watch = {.cancel = params->cancel}};
    *gosa_error_over_bound = -1;
    if (start)
        return check_started(&r, max_checked, seed, gosa, check, gosa_error_over_bound);
    const wfi_himeno_long problem = {{params->ni, params->nj, params->nk}, iterations, r.omega, p};
    if (shrink(&r) > MOST_UPDATES && max_checked && mixes(&r))
        return wfi_himeno_check_long(&problem, (double)gosa, seed, &r.watch, check,
                                     gosa_error_over_bound);
    const wf_result result = check_own(&r, &problem, check);
    if (result == WF_SUCCESS)
        *gosa_error_over_bound = sum_error((double)gosa, r.gosa, r.gosa_bound);
    if (result == WF_SUCCESS && mixes(&r))
        *gosa_error_over_bound =
            fmax(*gosa_error_over_bound, wfi_himeno_gosa_error(&problem, (double)gosa));
    return result;
}
