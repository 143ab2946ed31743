/* The f64 reference of Himeno's relaxation, with a bound on what f32 may differ from it.
 *
 * One update is s0, a sum of ten products or terms of which the longest passes 13 roundings, then
 * three operations to ss and two to p. So with S the sum of the magnitudes in s0, M = |bnd| (|a3| S
 * + |p|) and e the bounds of the values read,
 *   |ss error| <= gamma_16 M + |bnd| (|a3| sum(|coefficient| e) + e_p)
 *   |p error|  <= gamma_18 (|p| + |omega| M) + e_p + |omega| (propagated part of ss)
 * where magnitudes include the bounds already there. gosa sums ss^2 over chains of at most 96
 * additions: its error is at most sum(2 |ss| d + d^2) + gamma_97 sum((|ss| + d)^2). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/params.h"
#include "kernels/bound.h"

#define BOX_SIDE 16
#define COEFFICIENTS 12

/* Cells [low, high) along i, j, k of the grid, borders counted. */
typedef struct box {
    uint64_t low[3], high[3];
} box;

typedef struct reference {
    const wf_himeno_params *params;
    const wf_himeno_arrays *start; /* NULL: the benchmark's own */
    double omega;
    box held;                   /* what the four arrays cover */
    double *p, *next;           /* values */
    double *error, *next_error; /* their bounds */
    double gosa, gosa_bound;    /* of the last iteration, over the cells updated */
} reference;

static uint64_t extent(const box *b, int axis)
{
    return b->high[axis] - b->low[axis];
}

static uint64_t cells_of(const box *b)
{
    return extent(b, 0) * extent(b, 1) * extent(b, 2);
}

static uint64_t index_in(const box *b, uint64_t i, uint64_t j, uint64_t k)
{
    return ((k - b->low[2]) * extent(b, 1) + (j - b->low[1])) * extent(b, 0) + (i - b->low[0]);
}

static uint64_t grid_index(const wf_himeno_params *p, uint64_t i, uint64_t j, uint64_t k)
{
    return (k * p->nj + j) * p->ni + i;
}

static double start_p(const reference *r, uint64_t i, uint64_t j, uint64_t k)
{
    if (r->start)
        return (double)r->start->p[grid_index(r->params, i, j, k)];
    const float plane = (float)k, last = (float)(r->params->nk - 1);
    return (double)((plane * plane) / (last * last));
}

/* a0 … a3, b0 … b2, c0 … c2, wrk1, bnd of a cell. */
static void coefficients(const reference *r, uint64_t at, double out[COEFFICIENTS])
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

static void add(term *sum, double coefficient, double value, double magnitude, double error)
{
    sum->value += coefficient * value;
    sum->magnitude += fabs(coefficient) * magnitude;
    sum->error += fabs(coefficient) * error;
}

static void add_single(term *sum, const reference *r, double coefficient, uint64_t at)
{
    add(sum, coefficient, r->p[at], fabs(r->p[at]) + r->error[at], r->error[at]);
}

/* coefficient * (p(+,+) - p(+,-) - p(-,+) + p(-,-)) for the steps d and e along two axes. */
static void add_cross(term *sum, const reference *r, double coefficient, uint64_t at, uint64_t d,
                      uint64_t e)
{
    const uint64_t corners[4] = {at + d + e, at + d - e, at - d + e, at - d - e};
    double value = 0, magnitude = 0, error = 0;
    for (int n = 0; n < 4; n++) {
        value += n == 0 || n == 3 ? r->p[corners[n]] : -r->p[corners[n]];
        magnitude += fabs(r->p[corners[n]]) + r->error[corners[n]];
        error += r->error[corners[n]];
    }
    add(sum, coefficient, value, magnitude, error);
}

static term sum_of(const reference *r, const double c[COEFFICIENTS], uint64_t at)
{
    const uint64_t j = extent(&r->held, 0), k = j * extent(&r->held, 1);
    term s = {0, 0, 0};
    add_single(&s, r, c[0], at + 1);
    add_single(&s, r, c[1], at + j);
    add_single(&s, r, c[2], at + k);
    add_cross(&s, r, c[4], at, 1, j);
    add_cross(&s, r, c[5], at, j, k);
    add_cross(&s, r, c[6], at, k, 1);
    add_single(&s, r, c[7], at - 1);
    add_single(&s, r, c[8], at - j);
    add_single(&s, r, c[9], at - k);
    add(&s, 1, c[10], fabs(c[10]), 0);
    return s;
}

static void update(reference *r, uint64_t i, uint64_t j, uint64_t k)
{
    const uint64_t at = index_in(&r->held, i, j, k);
    double c[COEFFICIENTS];
    coefficients(r, grid_index(r->params, i, j, k), c);
    const term s = sum_of(r, c, at);
    const double p = r->p[at], e = r->error[at], omega = fabs(r->omega);
    const double ss = (s.value * c[3] - p) * c[11];
    const double magnitude = fabs(c[11]) * (fabs(c[3]) * s.magnitude + fabs(p) + e);
    const double carried = fabs(c[11]) * (fabs(c[3]) * s.error + e);
    const double tiny = wfi_underflow(24, WF_TYPE_F32) * (1 + fabs(c[3])) * (1 + fabs(c[11]));
    const double d = wfi_gamma(16, WF_TYPE_F32) * magnitude + carried + tiny;
    r->next[at] = p + r->omega * ss;
    r->next_error[at] = wfi_gamma(18, WF_TYPE_F32) * (fabs(p) + e + omega * magnitude) + e +
                        omega * (carried + tiny) + tiny;
    r->gosa += ss * ss;
    r->gosa_bound +=
        2 * fabs(ss) * d + d * d + wfi_gamma(97, WF_TYPE_F32) * (fabs(ss) + d) * (fabs(ss) + d);
}

/* One iteration over the inner cells whose neighbours are all held and right: `margin` cells are
 * lost at each side that is not a border of the grid. */
static void iterate(reference *r, uint64_t margin)
{
    const uint64_t size[3] = {r->params->ni, r->params->nj, r->params->nk};
    uint64_t low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = r->held.low[axis] == 0 ? 1 : r->held.low[axis] + margin;
        high[axis] =
            r->held.high[axis] == size[axis] ? size[axis] - 1 : r->held.high[axis] - margin;
    }
    memcpy(r->next, r->p, cells_of(&r->held) * sizeof *r->p);
    memcpy(r->next_error, r->error, cells_of(&r->held) * sizeof *r->p);
    r->gosa = r->gosa_bound = 0;
    for (uint64_t k = low[2]; k < high[2]; k++)
        for (uint64_t j = low[1]; j < high[1]; j++)
            for (uint64_t i = low[0]; i < high[0]; i++)
                update(r, i, j, k);
    double *swap = r->p;
    r->p = r->next;
    r->next = swap;
    swap = r->error;
    r->error = r->next_error;
    r->next_error = swap;
}

static bool allocate(reference *r)
{
    const uint64_t cells = cells_of(&r->held);
    r->p = malloc(cells * sizeof *r->p);
    r->next = malloc(cells * sizeof *r->p);
    r->error = calloc(cells, sizeof *r->p);
    r->next_error = calloc(cells, sizeof *r->p);
    return r->p && r->next && r->error && r->next_error;
}

static void release(reference *r)
{
    free(r->p);
    free(r->next);
    free(r->error);
    free(r->next_error);
}

/* Runs the iterations on the cells that `wanted` depends on, and compares there. */
static wf_result check_box(reference *r, const box *wanted, uint32_t iterations, const float *p,
                           wf_check *check)
{
    const uint64_t size[3] = {r->params->ni, r->params->nj, r->params->nk};
    for (int axis = 0; axis < 3; axis++) {
        const uint64_t low = wanted->low[axis], high = wanted->high[axis];
        r->held.low[axis] = low > iterations ? low - iterations : 0;
        r->held.high[axis] = high + iterations < size[axis] ? high + iterations : size[axis];
    }
    if (!allocate(r)) {
        release(r);
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint64_t k = r->held.low[2]; k < r->held.high[2]; k++)
        for (uint64_t j = r->held.low[1]; j < r->held.high[1]; j++)
            for (uint64_t i = r->held.low[0]; i < r->held.high[0]; i++)
                r->p[index_in(&r->held, i, j, k)] = start_p(r, i, j, k);
    for (uint32_t n = 1; n <= iterations; n++)
        iterate(r, n);
    for (uint64_t k = wanted->low[2]; k < wanted->high[2]; k++)
        for (uint64_t j = wanted->low[1]; j < wanted->high[1]; j++)
            for (uint64_t i = wanted->low[0]; i < wanted->high[0]; i++) {
                const uint64_t at = index_in(&r->held, i, j, k);
                const uint64_t index = grid_index(r->params, i, j, k);
                wfi_check_element(check, index, (double)p[index], r->p[at], r->error[at]);
            }
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

/* A cube of cells; the first lies at the origin, so that borders are always looked at. */
static box draw_box(const wf_himeno_params *params, bool first, uint64_t *state)
{
    const uint64_t size[3] = {params->ni, params->nj, params->nk};
    box b;
    for (int axis = 0; axis < 3; axis++) {
        const uint64_t side = size[axis] < BOX_SIDE ? size[axis] : BOX_SIDE;
        b.low[axis] = first ? 0 : next_random(state) % (size[axis] - side + 1);
        b.high[axis] = b.low[axis] + side;
    }
    return b;
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
        params->nj < 3 || params->nk < 3)
        return WF_ERROR_INVALID_ARGUMENT;
    const bool default_omega = !(params->omega > 0 || params->omega < 0);
    reference r = {
        .params = params, .start = start, .omega = (double)(default_omega ? 0.8f : params->omega)};
    const box whole = {{0, 0, 0}, {params->ni, params->nj, params->nk}};
    *check = (wf_check){.total = cells_of(&whole)};
    *gosa_error_over_bound = -1;
    if (max_checked == 0 || max_checked >= check->total) {
        wf_result result = check_box(&r, &whole, iterations, p, check);
        if (result == WF_SUCCESS) {
            wf_check sum = {0};
            wfi_check_element(&sum, 0, (double)gosa, r.gosa, r.gosa_bound);
            *gosa_error_over_bound = sum.error_over_bound;
        }
        return result;
    }
    do {
        const box b = draw_box(params, check->checked == 0, &seed);
        wf_result result = check_box(&r, &b, iterations, p, check);
        if (result != WF_SUCCESS)
            return result;
    } while (check->checked < max_checked);
    return WF_SUCCESS;
}
