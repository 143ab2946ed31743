#include "sized.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint64_t cell(const sized_grid *g, uint64_t x, uint64_t y, uint64_t z)
{
    return (z * g->params.ny + y) * g->params.row_stride + x;
}

void sized_grid_open(sized_grid *g, wf_device *device, const wf_stencil_params *params,
                     test_random *random)
{
    *g = (sized_grid){.params = *params};
    const uint64_t elements =
        (uint64_t)params->row_stride * params->ny * (params->nz ? params->nz : 1);
    for (int i = 0; i < SIZED_TAPS; i++)
        g->taps[i] = sized_number(random);
    g->params.coefficients = g->taps;
    assert_int_equal(wf_stencil_plan(device, &g->params, &g->plan), WF_SUCCESS);
    g->in = sized_array_make(device, params->type, elements);
    g->out = sized_array_make(device, params->type, elements);
    const uint64_t workspace = wf_plan_workspace(g->plan);
    if (workspace)
        assert_int_equal(wf_buffer_create(device, workspace, WF_MEMORY_UPLOAD, &g->workspace),
                         WF_SUCCESS);
    for (int i = 0; i < 2; i++) {
        g->cells[i] = calloc(elements, sizeof(double));
        assert_non_null(g->cells[i]);
    }
}

void sized_grid_close(sized_grid *g)
{
    wf_plan_destroy(&g->plan);
    wf_buffer_destroy(&g->in.buffer);
    wf_buffer_destroy(&g->out.buffer);
    wf_buffer_destroy(&g->workspace);
    free(g->cells[0]);
    free(g->cells[1]);
}

wf_bindings sized_grid_draw(sized_grid *g, test_random *random)
{
    const wf_stencil_params *p = &g->params;
    const uint32_t least = 2 * (p->radius ? p->radius : 1) + 1;
    wf_bindings bindings = {.size = sizeof bindings,
                            .items = {{.buffer = g->in.buffer}, {.buffer = g->out.buffer}},
                            .workspace = {.buffer = g->workspace}};
    g->extent[0] = p->vary_x ? sized_draw(random, p->nx, p->vary_x, least) : p->nx;
    g->extent[1] = p->vary_y ? sized_draw(random, p->ny, p->vary_y, least) : p->ny;
    g->extent[2] = p->nz && p->vary_z ? sized_draw(random, p->nz, p->vary_z, least) : p->nz;
    memcpy(bindings.extent, g->extent, sizeof bindings.extent);
    sized_poison(&g->in);
    sized_poison(&g->out);
    if (g->workspace)
        memset(wf_buffer_mapped(g->workspace), 0xff, wf_buffer_size(g->workspace));
    for (uint64_t z = 0; z < (p->nz ? g->extent[2] : 1); z++)
        for (uint64_t y = 0; y < g->extent[1]; y++)
            for (uint64_t x = 0; x < g->extent[0]; x++)
                sized_set(&g->in, cell(g, x, y, z), sized_number(random));
    return bindings;
}

/* Where the border takes a place along an axis of n cells. */
static int64_t bordered(wf_border border, int64_t place, int64_t n)
{
    if (border == WF_BORDER_PERIODIC)
        return ((place % n) + n) % n;
    return place < 0 ? -1 - place : place >= n ? 2 * n - 1 - place : place;
}

static double updated(const sized_grid *g, const double *cells, const int64_t at_[3])
{
    const wf_stencil_params *p = &g->params;
    const int64_t r = p->radius ? p->radius : 1,
                  n[3] = {(int64_t)g->extent[0], (int64_t)g->extent[1], (int64_t)g->extent[2]};
    const int axes = p->nz ? 3 : 2;
    double sum =
        p->shape == WF_STENCIL_STAR
            ? g->taps[0] * cells[cell(g, (uint64_t)at_[0], (uint64_t)at_[1], (uint64_t)at_[2])]
            : 0;
    int tap = p->shape == WF_STENCIL_STAR ? 1 : 0;
    for (int axis = 0; axis < axes; axis++) /* a fixed border keeps its cells */
        if (p->border == WF_BORDER_DIRICHLET && (at_[axis] < r || at_[axis] >= n[axis] - r))
            return cells[cell(g, (uint64_t)at_[0], (uint64_t)at_[1], (uint64_t)at_[2])];
    for (int axis = 0; p->shape == WF_STENCIL_STAR && axis < axes; axis++)
        for (int64_t d = 1; d <= r; d++)
            for (int side = -1; side <= 1; side += 2) {
                int64_t of[3] = {at_[0], at_[1], at_[2]};
                of[axis] = bordered(p->border, of[axis] + side * d, n[axis]);
                sum += g->taps[tap++] *
                       cells[cell(g, (uint64_t)of[0], (uint64_t)of[1], (uint64_t)of[2])];
            }
    const int64_t deep = axes == 3 ? r : 0;
    for (int64_t dz = -deep; p->shape == WF_STENCIL_BOX && dz <= deep; dz++)
        for (int64_t dy = -r; dy <= r; dy++)
            for (int64_t dx = -r; dx <= r; dx++)
                sum +=
                    g->taps[tap++] *
                    cells[cell(g, (uint64_t)bordered(p->border, at_[0] + dx, n[0]),
                               (uint64_t)bordered(p->border, at_[1] + dy, n[1]),
                               (uint64_t)(axes == 3 ? bordered(p->border, at_[2] + dz, n[2]) : 0))];
    return sum;
}

void sized_grid_expect(sized_grid *g)
{
    const wf_stencil_params *p = &g->params;
    const uint64_t nz = p->nz ? p->nz : 1, deep = p->nz ? g->extent[2] : 1;
    for (uint64_t i = 0; i < g->in.elements; i++)
        g->cells[0][i] = sized_get(&g->in, i);
    for (uint32_t s = 0; s < (p->steps ? p->steps : 1); s++)
        for (uint64_t z = 0; z < deep; z++)
            for (uint64_t y = 0; y < g->extent[1]; y++)
                for (uint64_t x = 0; x < g->extent[0]; x++) {
                    const int64_t place[3] = {(int64_t)x, (int64_t)y, (int64_t)z};
                    g->cells[1 - s % 2][cell(g, x, y, z)] = updated(g, g->cells[s % 2], place);
                }
    const double *last = g->cells[(p->steps ? p->steps : 1) % 2];
    for (uint64_t z = 0; z < nz; z++)
        for (uint64_t y = 0; y < p->ny; y++)
            for (uint64_t x = 0; x < p->row_stride; x++) {
                const uint64_t i = cell(g, x, y, z);
                if (x < g->extent[0] && y < g->extent[1] && z < deep)
                    assert_true(sized_get(&g->out, i) == last[i]);
                else
                    assert_true(sized_is_poison(&g->out, i));
            }
}

void sized_grid_run(wf_device *device, const wf_stencil_params *params, int executions,
                    test_random *random)
{
    sized_grid g;
    sized_grid_open(&g, device, params, random);
    for (int i = 0; i < executions; i++) {
        const wf_bindings bindings = sized_grid_draw(&g, random);
        assert_int_equal(wf_plan_run(g.plan, &bindings), WF_SUCCESS);
        sized_grid_expect(&g);
    }
    sized_grid_close(&g);
}
