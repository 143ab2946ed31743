/* All cells in plain f64. With S the sum of |coefficients|, M the largest magnitude of a step's
 * cells and e the bound of their error, a step of n coefficients has |error| <=
 * gamma_2n S (M + e) + S e, twice the first where the reference is no wider than the result, and M
 * grows to S M at most. */
#include "kernels/stencil/whole.h"

#include "core/heap.h"
#include "core/workers.h"
#include "kernels/stencil/reference_slab.h"
#include "kernels/stencil/row_sums.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MOST_OPERATIONS 4e9 /* multiply-adds of a thread, about two seconds */
#define SLAB_BYTES 3.2e7
#define MOST_BYTES 1e9 /* of all threads' slabs */

typedef struct slab {
    wfi_reference_slab cells;
    double worst_error;
    int64_t *worst;
} slab;

static void compare(slab *s, double bound, int64_t first, int64_t end, wf_check *check)
{
    const wfi_stencil_reference *g = s->cells.g;
    for (int64_t k = first; k < end; k++)
        for (int64_t j = 0; j < g->size[1]; j++) {
            const double *row = wfi_reference_slab_row(&s->cells, s->cells.now, j, k);
            for (int64_t i = 0; i < g->size[0]; i++) {
                const double result = wfi_stencil_element(g, g->out, i, j, k);
                const double error = fabs(result - row[i]);
                if (error <= s->worst_error)
                    continue;
                wfi_check_element(check,
                                  (uint64_t)k * g->plane + (uint64_t)j * g->row + (uint64_t)i,
                                  result, row[i], bound);
                s->worst_error = isnan(error) ? INFINITY : error;
                s->worst[0] = i;
                s->worst[1] = j;
                s->worst[2] = k;
            }
        }
}

/* Planes first to end - 1 of the result, from those that they depend on. */
static bool check_slab(slab *s, double bound, int64_t first, int64_t end, wf_check *check)
{
    wfi_reference_slab_begin(&s->cells, first, end);
    for (uint32_t n = 0; n < s->cells.g->steps; n++)
        if (!wfi_reference_slab_step(&s->cells))
            return false;
    compare(s, bound, first, end, check);
    return true;
}

/* The bounds behind the last step; false where inputs are not finite or the result may overflow. */
static bool make_bounds(const wfi_stencil_reference *g, wfi_stencil_bounds *out)
{
    const wf_type computed = g->type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32;
    const double gamma = wfi_gamma(2.0 * g->count, computed) * (g->type == WF_TYPE_F64 ? 2 : 1);
    const double limit = g->type == WF_TYPE_F64   ? DBL_MAX
                         : g->type == WF_TYPE_F32 ? (double)FLT_MAX
                                                  : 65504;
    double sum = 0, most = 0, bound = 0;
    for (uint32_t n = 0; n < g->count; n++)
        sum += fabs(g->taps[n].value);
    for (int64_t k = 0; k < g->size[2]; k++)
        for (int64_t j = 0; j < g->size[1]; j++)
            for (int64_t i = 0; i < g->size[0]; i++) {
                const double value = fabs(wfi_stencil_element(g, g->in, i, j, k));
                if (!isfinite(value))
                    return false;
                most = fmax(most, value);
            }
    out->start = most;
    for (uint32_t n = 0; n < g->steps; n++) {
        double error =
            gamma * sum * (most + bound) + sum * bound + wfi_underflow(2.0 * g->count, computed);
        most = fmax(most, sum * most);
        if (g->type == WF_TYPE_F16)
            error += 0x1p-11 * (most + error) + 0x1p-25;
        bound = fmax(bound, error);
    }
    out->sum = sum;
    out->most = most;
    out->error = bound;
    return most + bound < limit;
}

static wf_result look_at_ranges(const wfi_stencil_reference *g, const wfi_stencil_bounds *bounds,
                                wf_check *check)
{
    const uint64_t compared = check->checked;
    for (int64_t k = 0; k < g->size[2]; k++)
        for (int64_t j = 0; j < g->size[1]; j++) {
            for (int64_t i = 0; i < g->size[0]; i++)
                wfi_check_element(
                    check, (uint64_t)k * g->plane + (uint64_t)j * g->row + (uint64_t)i,
                    wfi_stencil_element(g, g->out, i, j, k), 0, bounds->most + bounds->error);
            if (!wfi_watch_goes_on(g->watch, (uint64_t)g->size[0]))
                return WF_ERROR_CANCELLED;
        }
    check->ranged = check->checked - compared;
    check->checked = compared;
    return WF_SUCCESS;
}

/* Slabs that threads take one after another. */
typedef struct sweep {
    const wfi_stencil_reference *g;
    wfi_stencil_bounds bounds;
    int64_t planes;
    size_t bytes; /* of each of a thread's two arrays */
    wfi_mutex lock;
    int64_t next; /* plane; and all below: with the lock held */
    wf_check *check;
    wf_result result;
    double worst_error;
    int64_t worst[3];
} sweep;

static int64_t take_slab(sweep *w)
{
    wfi_mutex_lock(&w->lock);
    const int64_t first = w->result == WF_SUCCESS ? w->next : w->g->size[2];
    w->next = first + w->planes;
    wfi_mutex_unlock(&w->lock);
    return first;
}

static void give_result(sweep *w, const slab *s, const wf_check *check, wf_result result)
{
    wfi_mutex_lock(&w->lock);
    wfi_check_merge(w->check, check);
    if (s->worst_error > w->worst_error) {
        w->worst_error = s->worst_error;
        memcpy(w->worst, s->worst, sizeof w->worst);
    }
    if (result != WF_SUCCESS)
        w->result = result;
    wfi_mutex_unlock(&w->lock);
}

static void run_slabs(sweep *w, wfi_watch *watch)
{
    wfi_stencil_reference g = *w->g;
    int64_t worst[3] = {-1, 0, 0};
    wf_check check = {0};
    slab s = {.worst_error = -1, .worst = worst};
    wf_result result = WF_SUCCESS;
    double *first = wfi_malloc(w->bytes), *second = wfi_malloc(w->bytes);
    g.watch = watch;
    wfi_reference_slab_shape(&s.cells, &g);
    s.cells.now = first;
    s.cells.next = second;
    if (!first || !second)
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    while (result == WF_SUCCESS) {
        const int64_t at = take_slab(w), end = at + w->planes;
        if (at >= g.size[2])
            break;
        if (!check_slab(&s, w->bounds.error, at, end < g.size[2] ? end : g.size[2], &check))
            result = WF_ERROR_CANCELLED;
    }
    wfi_free(first);
    wfi_free(second);
    /* The others do what a helper has no memory for. */
    if (result != WF_ERROR_OUT_OF_HOST_MEMORY || watch == w->g->watch)
        give_result(w, &s, &check, result);
}

/* Beside the caller's thread, which alone asks whether the application cancels. */
static void help(void *user)
{
    sweep *w = user;
    wfi_watch watch = {0};
    run_slabs(w, &watch);
}

static uint32_t threads_of(double slabs, double bytes)
{
    const double most = fmin(wfi_processors(), 1 + WFI_MOST_WORKERS);
    return (uint32_t)fmax(fmin(fmin(most, slabs), MOST_BYTES / 2 / bytes), 1);
}

static wf_result run_sweep(sweep *w, uint32_t threads)
{
    wfi_workers workers;
    const bool helped = threads > 1 && wfi_workers_open(&workers, threads - 1);
    if (helped)
        wfi_workers_begin(&workers, threads - 1, help, w);
    run_slabs(w, w->g->watch);
    if (helped) {
        wfi_workers_end(&workers);
        wfi_workers_close(&workers);
    }
    return w->result;
}

wf_result wfi_stencil_check_whole(const wfi_stencil_reference *g, uint64_t seed, wf_check *check,
                                  int64_t worst[3])
{
    const int64_t reach = (int64_t)g->radius * g->steps, nk = g->size[2];
    wfi_reference_slab s = {.g = NULL};
    sweep w = {.g = g, .check = check, .worst_error = -1, .worst = {-1, 0, 0}};
    worst[0] = -1;
    if (!make_bounds(g, &w.bounds))
        return WF_SUCCESS;
    wfi_reference_slab_shape(&s, g);
    const double plane = (double)s.width * (double)s.height;
    const double fit = fmax(fmax(SLAB_BYTES / 8 / plane, 2.0 * (double)reach), 1);
    w.planes = fit < (double)nk ? (int64_t)fit : nk;
    w.bytes = (size_t)wfi_reference_slab_cells(&s, w.planes) * sizeof(double);
    const int64_t slabs = (nk + w.planes - 1) / w.planes;
    const uint32_t threads = threads_of((double)slabs, (double)w.bytes);
    const double work = plane * (double)nk * g->count * g->steps;
    if (work * (1 + 2 * (double)reach / (double)w.planes) > MOST_OPERATIONS * threads)
        return wfi_stencil_sums_pay(g, &w.bounds)
                   ? wfi_stencil_check_sums(g, &w.bounds, seed, check)
                   : look_at_ranges(g, &w.bounds, check);
    if (!wfi_mutex_init(&w.lock))
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    const wf_result result = run_sweep(&w, threads);
    wfi_mutex_destroy(&w.lock);
    memcpy(worst, w.worst, sizeof w.worst);
    return result;
}
