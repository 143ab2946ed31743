/* All cells in plain f64: rows are added up coefficient by coefficient, so that the compiler makes
 * vectors of them. With S the sum of |coefficients|, M the largest magnitude of a step's cells and
 * e the bound of their error, a step of n coefficients has |error| <= gamma_2n S (M + e) + S e,
 * twice the first where the reference is no wider than the result, and M grows to S M at most. */
#include "kernels/stencil/whole.h"

#include "core/heap.h"
#include "core/workers.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MOST_OPERATIONS 4e9 /* multiply-adds of a thread, about two seconds */
#define SLAB_BYTES 3.2e7
#define MOST_BYTES 1e9 /* of all threads' slabs */

typedef struct slab {
    const wfi_stencil_reference *g;
    int64_t pad_j, width, height; /* of a plane with `radius` cells more at each side */
    int64_t low, high;            /* planes held; of a periodic grid also beyond its ends */
    double *now, *next;
    double bound, most; /* of the last step */
    double worst_error;
    int64_t *worst;
} slab;

static double *row_at(const slab *s, double *values, int64_t j, int64_t k)
{
    return values + ((k - s->low) * s->height + j + s->pad_j) * s->width + s->g->radius;
}

/* The cell of the grid that stands for one beyond its ends. */
static int64_t within(const wfi_stencil_reference *g, int64_t at, int64_t n)
{
    if (g->border == WF_BORDER_PERIODIC)
        return (at % n + n) % n;
    return at < 0 ? -1 - at : at >= n ? 2 * n - 1 - at : at;
}

static double element(const wfi_stencil_reference *g, const void *data, int64_t i, int64_t j,
                      int64_t k)
{
    const uint64_t at = (uint64_t)k * g->plane + (uint64_t)j * g->row + (uint64_t)i;
    return g->type == WF_TYPE_F32 ? (double)((const float *)data)[at]
                                  : wf_element_get(g->type, data, at);
}

static void load(slab *s)
{
    const wfi_stencil_reference *g = s->g;
    for (int64_t k = s->low; k < s->high; k++)
        for (int64_t j = 0; j < g->size[1]; j++) {
            double *row = row_at(s, s->now, j, k);
            for (int64_t i = 0; i < g->size[0]; i++)
                row[i] = element(g, g->in, i, j, within(g, k, g->size[2]));
        }
}

/* Cells beyond the ends of i and j; a fixed border reads none. */
static void fill_ends(slab *s, int64_t low, int64_t high)
{
    const wfi_stencil_reference *g = s->g;
    const int64_t radius = g->radius, ni = g->size[0], nj = g->size[1];
    for (int64_t k = low; k < high; k++) {
        for (int64_t j = 0; j < nj; j++) {
            double *row = row_at(s, s->now, j, k);
            for (int64_t d = 1; d <= radius; d++) {
                row[-d] = row[within(g, -d, ni)];
                row[ni - 1 + d] = row[within(g, ni - 1 + d, ni)];
            }
        }
        for (int64_t d = 1; d <= s->pad_j; d++) {
            const size_t bytes = (size_t)s->width * sizeof(double);
            memcpy(row_at(s, s->now, -d, k) - radius,
                   row_at(s, s->now, within(g, -d, nj), k) - radius, bytes);
            memcpy(row_at(s, s->now, nj - 1 + d, k) - radius,
                   row_at(s, s->now, within(g, nj - 1 + d, nj), k) - radius, bytes);
        }
    }
}

static bool keeps(const wfi_stencil_reference *g, int64_t at, int64_t n)
{
    return g->border == WF_BORDER_DIRICHLET && (at < g->radius || at >= n - g->radius);
}

static void step_row(slab *s, int64_t j, int64_t k)
{
    const wfi_stencil_reference *g = s->g;
    const int64_t kept = g->border == WF_BORDER_DIRICHLET ? g->radius : 0;
    double *to = row_at(s, s->next, j, k);
    memcpy(to, row_at(s, s->now, j, k), (size_t)g->size[0] * sizeof *to);
    if (keeps(g, k, g->size[2]) || (!g->flat && keeps(g, j, g->size[1])))
        return;
    for (int64_t i = kept; i < g->size[0] - kept; i++)
        to[i] = 0;
    for (uint32_t n = 0; n < g->count; n++) {
        const wfi_stencil_tap *t = &g->taps[n];
        int64_t plane = k + t->offset[2];
        if (g->border == WF_BORDER_NEUMANN)
            plane = within(g, plane, g->size[2]);
        const double *from = row_at(s, s->now, j + t->offset[1], plane) + t->offset[0];
        const double c = t->value;
        for (int64_t i = kept; i < g->size[0] - kept; i++)
            to[i] += c * from[i];
    }
}

static void compare(slab *s, int64_t first, int64_t end, wf_check *check)
{
    const wfi_stencil_reference *g = s->g;
    for (int64_t k = first; k < end; k++)
        for (int64_t j = 0; j < g->size[1]; j++) {
            const double *row = row_at(s, s->now, j, k);
            for (int64_t i = 0; i < g->size[0]; i++) {
                const double result = element(g, g->out, i, j, k), error = fabs(result - row[i]);
                if (error <= s->worst_error)
                    continue;
                wfi_check_element(check,
                                  (uint64_t)k * g->plane + (uint64_t)j * g->row + (uint64_t)i,
                                  result, row[i], s->bound);
                s->worst_error = isnan(error) ? INFINITY : error;
                s->worst[0] = i;
                s->worst[1] = j;
                s->worst[2] = k;
            }
        }
}

/* Planes first to end - 1 of the result, from those that they depend on. */
static bool check_slab(slab *s, int64_t first, int64_t end, wf_check *check)
{
    const wfi_stencil_reference *g = s->g;
    const bool open = g->border == WF_BORDER_PERIODIC;
    const int64_t reach = (int64_t)g->radius * g->steps, nk = g->size[2];
    s->low = open || first > reach ? first - reach : 0;
    s->high = open || end + reach < nk ? end + reach : nk;
    int64_t low = s->low, high = s->high;
    load(s);
    for (uint32_t n = 0; n < g->steps; n++) {
        if (g->border != WF_BORDER_DIRICHLET)
            fill_ends(s, low, high);
        low += open || low > 0 ? g->radius : 0;
        high -= open || high < nk ? g->radius : 0;
        for (int64_t k = low; k < high; k++) {
            for (int64_t j = 0; j < g->size[1]; j++)
                step_row(s, j, k);
            if (!wfi_watch_goes_on(s->g->watch,
                                   (uint64_t)(g->size[0] * g->size[1]) * (g->count / 4 + 1)))
                return false;
        }
        double *now = s->now;
        s->now = s->next;
        s->next = now;
    }
    compare(s, first, end, check);
    return true;
}

/* The bounds behind the last step; false where inputs are not finite or the result may overflow. */
static bool make_bounds(slab *s)
{
    const wfi_stencil_reference *g = s->g;
    const wf_type computed = g->type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32;
    const double gamma = wfi_gamma(2.0 * g->count, computed) * (g->type == WF_TYPE_F64 ? 2 : 1);
    const double limit = g->type == WF_TYPE_F64   ? DBL_MAX
                         : g->type == WF_TYPE_F32 ? (double)FLT_MAX
                                                  : 65504;
    double sum = 0, most = 0;
    for (uint32_t n = 0; n < g->count; n++)
        sum += fabs(g->taps[n].value);
    for (int64_t k = 0; k < g->size[2]; k++)
        for (int64_t j = 0; j < g->size[1]; j++)
            for (int64_t i = 0; i < g->size[0]; i++) {
                const double value = fabs(element(g, g->in, i, j, k));
                if (!isfinite(value))
                    return false;
                most = fmax(most, value);
            }
    s->bound = 0;
    for (uint32_t n = 0; n < g->steps; n++) {
        double error = gamma * sum * (most + s->bound) + sum * s->bound +
                       wfi_underflow(2.0 * g->count, computed);
        most = fmax(most, sum * most);
        if (g->type == WF_TYPE_F16)
            error += 0x1p-11 * (most + error) + 0x1p-25;
        s->bound = fmax(s->bound, error);
    }
    s->most = most;
    return most + s->bound < limit;
}

static wf_result look_at_ranges(const slab *s, wf_check *check)
{
    const wfi_stencil_reference *g = s->g;
    const uint64_t compared = check->checked;
    for (int64_t k = 0; k < g->size[2]; k++)
        for (int64_t j = 0; j < g->size[1]; j++) {
            for (int64_t i = 0; i < g->size[0]; i++)
                wfi_check_element(check,
                                  (uint64_t)k * g->plane + (uint64_t)j * g->row + (uint64_t)i,
                                  element(g, g->out, i, j, k), 0, s->most + s->bound);
            if (!wfi_watch_goes_on(g->watch, (uint64_t)g->size[0]))
                return WF_ERROR_CANCELLED;
        }
    check->ranged = check->checked - compared;
    check->checked = compared;
    return WF_SUCCESS;
}

/* Slabs that threads take one after another. */
typedef struct sweep {
    slab model; /* all but what is a thread's own */
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
    const int64_t first = w->result == WF_SUCCESS ? w->next : w->model.g->size[2];
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
    wfi_stencil_reference g = *w->model.g;
    int64_t worst[3] = {-1, 0, 0};
    wf_check check = {0};
    slab s = w->model;
    wf_result result = WF_SUCCESS;
    double *first = wfi_malloc(w->bytes), *second = wfi_malloc(w->bytes);
    g.watch = watch;
    s.g = &g;
    s.worst = worst;
    s.now = first;
    s.next = second;
    if (!first || !second)
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    while (result == WF_SUCCESS) {
        const int64_t at = take_slab(w), end = at + w->planes;
        if (at >= g.size[2])
            break;
        if (!check_slab(&s, at, end < g.size[2] ? end : g.size[2], &check))
            result = WF_ERROR_CANCELLED;
    }
    wfi_free(first);
    wfi_free(second);
    /* The others do what a helper has no memory for. */
    if (result != WF_ERROR_OUT_OF_HOST_MEMORY || watch == w->model.g->watch)
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
    run_slabs(w, w->model.g->watch);
    if (helped) {
        wfi_workers_end(&workers);
        wfi_workers_close(&workers);
    }
    return w->result;
}

wf_result wfi_stencil_check_whole(const wfi_stencil_reference *g, wf_check *check, int64_t worst[3])
{
    const int64_t reach = (int64_t)g->radius * g->steps, nk = g->size[2];
    sweep w = {.model = {.g = g, .pad_j = g->flat ? 0 : g->radius, .worst_error = -1},
               .check = check,
               .worst_error = -1,
               .worst = {-1, 0, 0}};
    slab *s = &w.model;
    worst[0] = -1;
    if (!make_bounds(s))
        return WF_SUCCESS;
    s->width = g->size[0] + 2 * g->radius;
    s->height = g->size[1] + 2 * s->pad_j;
    const double plane = (double)s->width * (double)s->height;
    const double fit = fmax(fmax(SLAB_BYTES / 8 / plane, 2.0 * (double)reach), 1);
    w.planes = fit < (double)nk ? (int64_t)fit : nk;
    w.bytes = (size_t)(w.planes + 2 * reach) * (size_t)plane * sizeof(double);
    const int64_t slabs = (nk + w.planes - 1) / w.planes;
    const uint32_t threads = threads_of((double)slabs, (double)w.bytes);
    const double work = plane * (double)nk * g->count * g->steps;
    if (work * (1 + 2 * (double)reach / (double)w.planes) > MOST_OPERATIONS * threads)
        return look_at_ranges(s, check);
    if (!wfi_mutex_init(&w.lock))
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    const wf_result result = run_sweep(&w, threads);
    wfi_mutex_destroy(&w.lock);
    memcpy(worst, w.worst, sizeof w.worst);
    return result;
}
