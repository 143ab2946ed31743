/* Rows are added up coefficient by coefficient, so that the compiler makes vectors of them. */
#include "kernels/stencil/reference_slab.h"

#include <string.h>

int64_t wfi_stencil_within(const wfi_stencil_reference *g, int64_t at, int64_t n)
{
    if (g->border == WF_BORDER_PERIODIC)
        return (at % n + n) % n;
    return at < 0 ? -1 - at : at >= n ? 2 * n - 1 - at : at;
}

double wfi_stencil_element(const wfi_stencil_reference *g, const void *data, int64_t i, int64_t j,
                           int64_t k)
{
    const uint64_t at = (uint64_t)k * g->plane + (uint64_t)j * g->row + (uint64_t)i;
    return g->type == WF_TYPE_F32 ? (double)((const float *)data)[at]
                                  : wf_element_get(g->type, data, at);
}

static void load(wfi_reference_slab *s)
{
    const wfi_stencil_reference *g = s->g;
    for (int64_t k = s->planes.low; k < s->planes.high; k++)
        for (int64_t j = 0; j < g->size[1]; j++) {
            double *row = wfi_reference_slab_row(s, s->now, j, k);
            for (int64_t i = 0; i < g->size[0]; i++)
                row[i] = wfi_stencil_element(g, g->in, i, j, wfi_stencil_within(g, k, g->size[2]));
        }
}

/* Cells beyond the ends of i and j; a fixed border reads none. */
static void fill_ends(wfi_reference_slab *s, int64_t low, int64_t high)
{
    const wfi_stencil_reference *g = s->g;
    const int64_t radius = g->radius, ni = g->size[0], nj = g->size[1];
    for (int64_t k = low; k < high; k++) {
        for (int64_t j = 0; j < nj; j++) {
            double *row = wfi_reference_slab_row(s, s->now, j, k);
            for (int64_t d = 1; d <= radius; d++) {
                row[-d] = row[wfi_stencil_within(g, -d, ni)];
                row[ni - 1 + d] = row[wfi_stencil_within(g, ni - 1 + d, ni)];
            }
        }
        for (int64_t d = 1; d <= s->pad_j; d++) {
            const size_t bytes = (size_t)s->width * sizeof(double);
            memcpy(wfi_reference_slab_row(s, s->now, -d, k) - radius,
                   wfi_reference_slab_row(s, s->now, wfi_stencil_within(g, -d, nj), k) - radius,
                   bytes);
            memcpy(wfi_reference_slab_row(s, s->now, nj - 1 + d, k) - radius,
                   wfi_reference_slab_row(s, s->now, wfi_stencil_within(g, nj - 1 + d, nj), k) -
                       radius,
                   bytes);
        }
    }
}

bool wfi_stencil_keeps(const wfi_stencil_reference *g, int64_t at, int64_t n)
{
    return g->border == WF_BORDER_DIRICHLET && (at < g->radius || at >= n - g->radius);
}

static void step_row(wfi_reference_slab *s, int64_t j, int64_t k)
{
    const wfi_stencil_reference *g = s->g;
    const int64_t kept = g->border == WF_BORDER_DIRICHLET ? g->radius : 0;
    double *to = wfi_reference_slab_row(s, s->next, j, k);
    memcpy(to, wfi_reference_slab_row(s, s->now, j, k), (size_t)g->size[0] * sizeof *to);
    if (wfi_stencil_keeps(g, k, g->size[2]) || (!g->flat && wfi_stencil_keeps(g, j, g->size[1])))
        return;
    for (int64_t i = kept; i < g->size[0] - kept; i++)
        to[i] = 0;
    for (uint32_t n = 0; n < g->count; n++) {
        const wfi_stencil_tap *t = &g->taps[n];
        int64_t plane = k + t->offset[2];
        if (g->border == WF_BORDER_NEUMANN)
            plane = wfi_stencil_within(g, plane, g->size[2]);
        const double *from =
            wfi_reference_slab_row(s, s->now, j + t->offset[1], plane) + t->offset[0];
        const double c = t->value;
        for (int64_t i = kept; i < g->size[0] - kept; i++)
            to[i] += c * from[i];
    }
}

void wfi_reference_slab_shape(wfi_reference_slab *s, const wfi_stencil_reference *g)
{
    s->g = g;
    s->pad_j = g->flat ? 0 : g->radius;
    s->width = g->size[0] + 2 * g->radius;
    s->height = g->size[1] + 2 * s->pad_j;
}

double wfi_reference_slab_cells(const wfi_reference_slab *s, int64_t planes)
{
    const double reach = (double)s->g->radius * s->g->steps;
    return ((double)planes + 2 * reach) * (double)s->width * (double)s->height;
}

void wfi_reference_planes_begin(wfi_reference_planes *p, const wfi_stencil_reference *g,
                                int64_t first, int64_t end)
{
    const bool open = g->border == WF_BORDER_PERIODIC;
    const int64_t reach = (int64_t)g->radius * g->steps, nk = g->size[2];
    p->low = open || first > reach ? first - reach : 0;
    p->high = open || end + reach < nk ? end + reach : nk;
    p->right_low = p->low;
    p->right_high = p->high;
}

void wfi_reference_planes_step(wfi_reference_planes *p, const wfi_stencil_reference *g)
{
    const bool open = g->border == WF_BORDER_PERIODIC;
    p->right_low += open || p->low > 0 ? g->radius : 0;
    p->right_high -= open || p->high < g->size[2] ? g->radius : 0;
}

void wfi_reference_slab_begin(wfi_reference_slab *s, int64_t first, int64_t end)
{
    wfi_reference_planes_begin(&s->planes, s->g, first, end);
    load(s);
}

bool wfi_reference_slab_step(wfi_reference_slab *s)
{
    const wfi_stencil_reference *g = s->g;
    if (g->border != WF_BORDER_DIRICHLET)
        fill_ends(s, s->planes.right_low, s->planes.right_high);
    wfi_reference_planes_step(&s->planes, g);
    for (int64_t k = s->planes.right_low; k < s->planes.right_high; k++) {
        for (int64_t j = 0; j < g->size[1]; j++)
            step_row(s, j, k);
        if (!wfi_watch_goes_on(g->watch, (uint64_t)(g->size[0] * g->size[1]) * (g->count / 4 + 1)))
            return false;
    }
    double *now = s->now;
    s->now = s->next;
    s->next = now;
    return true;
}
