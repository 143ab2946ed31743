/* With the benchmark's own coefficients an iteration is p' = p + omega s, where s is the mean of
 * six neighbours less p in the inner cells, so s' = M s with M = (1 - omega) I + omega mean, whose
 * eigenvectors are products of sines. At the start p = (k / K)^2, K = nk - 1, and s = c = 1 / (3
 * K^2) in all inner cells. So, exactly:
 *   - s is between 0 and c for ever: (k / K)^2 <= p <= (k / K)^2 + n omega c; and p <= k / K, which
 *     is harmonic and at no border less than p;
 *   - the sum of w (p - p_start) over a sine wave w of eigenvalue mu is omega c sum(w) (1 - mu^n) /
 *     (1 - mu);
 *   - gosa of iteration n is c^2 times the sum of W mu^(2n-2) over all waves, W the square of the
 *     wave's part in 1.
 * Rounding: an iteration in f32 is off by d <= u P (3 + 17 omega) at most, P = k / K: five
 * additions, two products and two differences of terms that add up to 2 P, coefficients and borders
 * that are rounded themselves; and 18 operations may lose a subnormal number each. M is symmetric
 * and no eigenvalue is above 1 or below 1 - 2 omega, so p is off by n d at most, a wave's sum by
 * |w| |d| sum |mu|^j, and s by |d| / omega times the sum over j of the largest |1 - mu| |mu|^j,
 * which is 1 / (e j) where mu > 0 and 2 omega |1 - 2 omega|^j where it is not. */
#include "kernels/himeno/long.h"

#include <float.h>
#include <math.h>

#include "core/heap.h"
#include "core/random.h"

#define WAVES 4
#define UPDATE_ROUNDINGS 18
#define LEAST_PART 1e-10 /* of a wave in 1, below which it is left out and counted as lost */

typedef struct wave {
    uint32_t mode[3];
    double *along[3]; /* sines of the cells of an axis */
    double sum;       /* over all cells: w (p - p_start) */
} wave;

typedef struct state {
    const wfi_himeno_long *h;
    double last, c; /* K; s at the start */
    double spread;  /* |d| over all inner cells, as a vector */
    wave waves[WAVES];
    wfi_watch *watch;
} state;

static double angle(const state *s, int axis, uint32_t mode)
{
    return acos(-1.0) * mode / (s->h->size[axis] - 1.0);
}

static double eigenvalue(const state *s, const uint32_t mode[3])
{
    double cosines = 0;
    for (int axis = 0; axis < 3; axis++)
        cosines += cos(angle(s, axis, mode[axis]));
    return 1 - s->h->omega + s->h->omega * cosines / 3;
}

static double inner(const state *s, int axis)
{
    return s->h->size[axis] - 2.0;
}

/* The first is the slowest; the others are drawn, one of them of odd modes, whose sum is not 0. */
static bool open_waves(state *s, uint64_t seed)
{
    bool ok = true;
    for (int n = 0; n < WAVES; n++)
        for (int axis = 0; axis < 3; axis++) {
            wave *w = &s->waves[n];
            const uint32_t cells = s->h->size[axis];
            const uint32_t drawn = 1 + (uint32_t)(wfi_random_bits(&seed) % (cells - 2));
            w->mode[axis] = n == 0 ? 1 : n == 1 ? (drawn - 1) / 2 * 2 + 1 : drawn;
            w->along[axis] = wfi_malloc(cells * sizeof(double));
            for (uint32_t i = 0; w->along[axis] && i < cells; i++)
                w->along[axis][i] = sin(angle(s, axis, w->mode[axis]) * i);
            ok = ok && w->along[axis];
        }
    return ok;
}

static void close_waves(state *s)
{
    for (int n = 0; n < WAVES; n++)
        for (int axis = 0; axis < 3; axis++)
            wfi_free(s->waves[n].along[axis]);
}

static double unit_of(const wfi_himeno_long *h)
{
    return (double)FLT_EPSILON / 2 * (3 + 17 * h->omega);
}

double wfi_himeno_cell_bound(const wfi_himeno_long *problem, double k)
{
    return problem->iterations * (unit_of(problem) * k / (problem->size[2] - 1.0) +
                                  wfi_underflow(UPDATE_ROUNDINGS, WF_TYPE_F32));
}

/* A row of cells along i: each one's range, and the waves' sums. */
static void look_at_row(state *s, uint32_t j, uint32_t k, wf_check *check)
{
    const wfi_himeno_long *h = s->h;
    const uint64_t first = ((uint64_t)k * h->size[1] + j) * h->size[0];
    const double at = k / s->last, start = at * at, n = h->iterations;
    const double most = fmin(at, start + n * h->omega * s->c), error = wfi_himeno_cell_bound(h, k);
    const bool border = k == 0 || k == h->size[2] - 1 || j == 0 || j == h->size[1] - 1;
    double sums[WAVES] = {0};
    for (uint32_t i = 0; i < h->size[0]; i++) {
        const double p = (double)h->p[first + i];
        const bool fixed = border || i == 0 || i == h->size[0] - 1;
        const double high = fixed ? start : most;
        wfi_check_element(check, first + i, p, (start + high) / 2,
                          (high - start) / 2 + (fixed ? 4.0 * (double)FLT_EPSILON * start : error) +
                              (double)FLT_MIN);
        for (int w = 0; w < WAVES; w++)
            sums[w] += s->waves[w].along[0][i] * (p - start);
    }
    for (int w = 0; w < WAVES && !border; w++)
        s->waves[w].sum += sums[w] * s->waves[w].along[1][j] * s->waves[w].along[2][k];
}

/* A wave's sum over 1 and its norm, along an axis of as many inner cells. */
static double sine_sum(const state *s, int axis, uint32_t mode)
{
    return mode % 2 ? 1 / tan(angle(s, axis, mode) / 2) : 0;
}

static void compare_wave(const state *s, const wave *w, wf_check *check)
{
    const double mu = eigenvalue(s, w->mode), n = s->h->iterations, far = fabs(mu);
    double one = 1, norm = 1, cells = 1;
    wf_check sum = {0};
    for (int axis = 0; axis < 3; axis++) {
        one *= sine_sum(s, axis, w->mode[axis]);
        norm *= sqrt((inner(s, axis) + 1) / 2);
        cells *= inner(s, axis);
    }
    const double expected = s->h->omega * s->c * one * (1 - pow(mu, n)) / (1 - mu);
    const double growth = far < 1 ? (1 - pow(far, n + 1)) / (1 - far) : n + 1;
    wfi_check_element(&sum, 0, w->sum, expected, norm * s->spread * growth + 1e-13 * cells);
    if (!(sum.error_over_bound <= check->error_over_bound))
        check->error_over_bound = sum.error_over_bound;
}

/* The sum of W mu^(2n-2); *lost gets the W of waves that are left out. */
static double waves_left(const state *s, double *lost)
{
    double cells = 1, sum = 0;
    uint32_t mode[3];
    for (int axis = 0; axis < 3; axis++)
        cells *= inner(s, axis);
    for (mode[0] = 1; mode[0] < s->h->size[0] - 1; mode[0] += 2)
        for (mode[1] = 1; mode[1] < s->h->size[1] - 1; mode[1] += 2) {
            double parts = 1;
            for (int axis = 0; axis < 2; axis++)
                parts *= 2 / (inner(s, axis) + 1) * pow(sine_sum(s, axis, mode[axis]), 2);
            double all = 0;
            for (mode[2] = 1; mode[2] < s->h->size[2] - 1; mode[2] += 2) {
                const double part = parts * 2 / (inner(s, 2) + 1) * pow(sine_sum(s, 2, mode[2]), 2);
                if (part < LEAST_PART * cells)
                    break;
                all += part;
                sum += part * pow(eigenvalue(s, mode), 2.0 * s->h->iterations - 2);
            }
            *lost += fmax(parts * inner(s, 2) - all, 0);
        }
    return sum;
}

static double gosa_error_of(const state *s, double gosa)
{
    double lost = 0;
    const double omega = s->h->omega, n = s->h->iterations, below = fabs(1 - 2 * omega);
    const double growth = 1 + (1 + log(n)) / exp(1) + 2 * omega * fmin(n, 1 / (1 - below));
    const double left = waves_left(s, &lost), size = s->c * sqrt(left + lost / 2);
    /* Each square and each addition may lose a subnormal number. */
    const double tiny = wfi_underflow(2 * inner(s, 0) * inner(s, 1) * inner(s, 2), WF_TYPE_F32);
    wf_check sum = {0};
    wfi_check_element(&sum, 0, sqrt(gosa), size,
                      s->spread * (growth / omega + 1) + 97 * (double)FLT_EPSILON * size +
                          sqrt(tiny) + s->c * (sqrt(left + lost) - sqrt(left)));
    return gosa < 0 || isnan(gosa) ? INFINITY : sum.error_over_bound;
}

static state state_of(const wfi_himeno_long *h, wfi_watch *watch)
{
    state s = {.h = h, .last = h->size[2] - 1.0, .watch = watch};
    double squares = 0;
    s.c = 1 / (3 * s.last * s.last);
    for (uint32_t k = 1; k < h->size[2] - 1; k++)
        squares += k / s.last * (k / s.last);
    s.spread = unit_of(h) * sqrt(squares * inner(&s, 0) * inner(&s, 1)) +
               wfi_underflow(UPDATE_ROUNDINGS, WF_TYPE_F32) *
                   sqrt(inner(&s, 0) * inner(&s, 1) * inner(&s, 2));
    return s;
}

double wfi_himeno_gosa_error(const wfi_himeno_long *problem, double gosa)
{
    const state s = state_of(problem, NULL);
    return gosa_error_of(&s, gosa);
}

wf_result wfi_himeno_check_long(const wfi_himeno_long *problem, double gosa, uint64_t seed,
                                wfi_watch *watch, wf_check *check, double *gosa_error_over_bound)
{
    const wfi_himeno_long *h = problem;
    state s = state_of(h, watch);
    *check = (wf_check){.total = (uint64_t)h->size[0] * h->size[1] * h->size[2]};
    if (!open_waves(&s, seed)) {
        close_waves(&s);
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t k = 0; k < h->size[2] && !watch->stopped; k++)
        for (uint32_t j = 0; j < h->size[1]; j++) {
            look_at_row(&s, j, k, check);
            if (!wfi_watch_goes_on(watch, 4 * (uint64_t)h->size[0]))
                break;
        }
    for (int n = 0; n < WAVES && !watch->stopped; n++)
        compare_wave(&s, &s.waves[n], check);
    check->ranged = check->checked;
    check->checked = 0;
    if (!watch->stopped)
        *gosa_error_over_bound = gosa_error_of(&s, gosa);
    close_waves(&s);
    return watch->stopped ? WF_ERROR_CANCELLED : WF_SUCCESS;
}
