/* Star and box stencils in two and three dimensions. */
#include "tool/cases/problem.h"
#include "tool/verify/verify.h"

typedef struct grid {
    wf_stencil_params params; /* of the plan */
    wf_stencil_params run;    /* of the execution, which may be smaller */
    double coefficients[WFI_MOST_TAPS];
    wf_plan **plan;
} grid;

static wf_result make_plan(wfi_verifier *v, void *user, const wf_tuning *tuning)
{
    grid *g = user;
    g->params.tuning = tuning;
    return wf_stencil_plan(v->session->device, &g->params, g->plan);
}

static uint32_t draw_taps(wfi_verifier *v, grid *g)
{
    const wf_stencil_params *p = &g->params;
    const uint32_t side = 2 * p->radius + 1, dimensions = p->nz ? 3 : 2;
    const uint32_t taps = p->shape == WF_STENCIL_STAR ? 1 + 2 * p->radius * dimensions
                                                      : side * side * (p->nz ? side : 1);
    /* Grids grow by a sum of magnitudes of 2 a step at most. */
    for (uint32_t i = 0; i < taps; i++)
        g->coefficients[i] = wfi_draw_uniform(v, -2, 2) / taps;
    return taps;
}

static void draw_problem(wfi_verifier *v, grid *g)
{
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64, WF_TYPE_F16};
    wf_stencil_params *p = &g->params;
    v->verdict->type = types[wfi_draw_below(v, 3)];
    *p = (wf_stencil_params){
        .size = sizeof *p, .type = v->verdict->type, .coefficients = g->coefficients};
    const bool flat = wfi_draw_chance(v, 40);
    p->shape = wfi_draw_chance(v, 50) ? WF_STENCIL_STAR : WF_STENCIL_BOX;
    p->radius = wfi_draw_chance(v, 60) ? 1 : 1 + (uint32_t)wfi_draw_below(v, 4);
    p->border = (wf_border)wfi_draw_below(v, 3);
    p->steps = wfi_draw_chance(v, 40) ? 1 : 1 + (uint32_t)wfi_draw_below(v, 7);
    const uint32_t least = 2 * p->radius + 1;
    p->nx = least + (uint32_t)wfi_draw_size(v, flat ? 300 : 80);
    p->ny = least + (uint32_t)wfi_draw_size(v, flat ? 300 : 40);
    p->nz = flat ? 0 : least + (uint32_t)wfi_draw_size(v, 40);
    p->row_stride = wfi_draw_chance(v, 30) ? p->nx + (uint32_t)wfi_draw_below(v, 20) : 0;
    const double taps = draw_taps(v, g);
    const double cells = (double)p->nx * p->ny * (p->nz ? p->nz : 1);
    if (cells * taps * p->steps > v->work)
        p->steps = (uint32_t)(v->work / cells / taps) + 1;
}

/* What is executed: the plan's grid, or a smaller one where its extents vary. Rows stay where they
 * are in the plan's grid, and so do planes, for which ny must not vary. */
static void draw_run(wfi_verifier *v, grid *g, wfi_verify_execution *e)
{
    wf_stencil_params *p = &g->params, *run = &g->run;
    const uint32_t least = 2 * p->radius + 1;
    *run = *p;
    if (!wfi_draw_chance(v, 25))
        return;
    run->row_stride = p->row_stride ? p->row_stride : p->nx;
    p->vary_x = 1;
    run->nx = (uint32_t)wfi_draw_extent(v, least, p->nx);
    if (p->nz) {
        p->vary_z = 1;
        run->nz = (uint32_t)wfi_draw_extent(v, least, p->nz);
    } else {
        p->vary_y = 1;
        run->ny = (uint32_t)wfi_draw_extent(v, least, p->ny);
    }
    e->extent[0] = run->nx;
    e->extent[1] = run->ny;
    e->extent[2] = run->nz;
}

static void say(wfi_verifier *v, const grid *g, wfi_numbers numbers)
{
    static const char *const borders[] = {"dirichlet", "neumann", "periodic"};
    const wf_stencil_params *p = &g->run;
    wfi_verify_say(v, "%ux%u", p->nx, p->ny);
    if (p->nz)
        wfi_verify_say(v, "x%u", p->nz);
    if (g->params.vary_x)
        wfi_verify_say(v, " by a plan of %ux%u", g->params.nx, g->params.ny);
    if (g->params.vary_x && p->nz)
        wfi_verify_say(v, "x%u", g->params.nz);
    wfi_verify_say(v, " %s %u %s, %u steps", p->shape == WF_STENCIL_STAR ? "star" : "box",
                   p->radius, borders[p->border], p->steps);
    if (p->row_stride)
        wfi_verify_say(v, ", row_stride %u", p->row_stride);
    wfi_verify_say(v, ", of %s", wfi_numbers_name(numbers));
}

static bool make_grids(wfi_verifier *v, const grid *g, wfi_numbers numbers, wfi_verify_execution *e,
                       void *data[WF_STENCIL_BINDINGS])
{
    const wf_stencil_params *p = &g->run;
    const uint64_t row = p->row_stride ? p->row_stride : p->nx, nz = p->nz ? p->nz : 1;
    const uint64_t size = wf_type_size(p->type), plane = row * p->ny;
    const uint64_t all = row * g->params.ny * (g->params.nz ? g->params.nz : 1);
    const wfi_verify_places places = {
        .size = size, .count = {nz, p->ny, p->nx}, .stride = {plane, row, 1}};
    for (uint32_t i = 0; i < WF_STENCIL_BINDINGS; i++)
        if (!wfi_verify_bind(v, e, i, all * size, i == WF_STENCIL_OUT ? &places : NULL, &data[i]))
            return false;
    for (uint64_t k = 0; k < nz; k++)
        for (uint64_t j = 0; j < p->ny; j++)
            for (uint64_t i = 0; i < p->nx; i++)
                wf_element_set(p->type, data[WF_STENCIL_IN], k * plane + j * row + i,
                               wfi_draw_number(v, numbers));
    return true;
}

static wf_result check(wfi_verifier *v, const grid *g, const wfi_verify_execution *e,
                       void *const data[WF_STENCIL_BINDINGS])
{
    const wf_stencil_params *p = &g->run;
    const wfi_verify_binding *to = &e->items[WF_STENCIL_OUT];
    const uint64_t row = p->row_stride ? p->row_stride : p->nx;
    wf_check *out = &v->verdict->check;
    const wf_result result =
        wf_stencil_check(p, data[WF_STENCIL_IN], to->after + to->offset, 0, 1, out);
    for (uint64_t i = 0; i < out->wrong && i < WF_CHECK_MISMATCHES; i++) {
        const uint64_t at = out->mismatches[i].index;
        wfi_verify_place(v, i, "x %llu, y %llu, z %llu", (unsigned long long)(at % row),
                         (unsigned long long)(at / row % p->ny),
                         (unsigned long long)(at / row / p->ny));
    }
    if (result == WF_SUCCESS)
        wfi_verify_checked(v, "cells");
    return result;
}

wf_result wfi_verify_stencil(wfi_verifier *v)
{
    grid g = {0};
    wfi_verify_execution e = {.repeats = true};
    void *data[WF_STENCIL_BINDINGS] = {NULL};
    g.plan = &e.plan;
    draw_problem(v, &g);
    draw_run(v, &g, &e);
    const wfi_numbers numbers = wfi_draw_numbers(v);
    say(v, &g, numbers);
    wf_result result = wfi_verify_point(v, make_plan, &g);
    if (result == WF_SUCCESS && !make_grids(v, &g, numbers, &e, data))
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS)
        result = wfi_verify_execute(v, &e);
    if (result == WF_SUCCESS)
        result = check(v, &g, &e, data);
    wfi_verify_close(&e);
    return result;
}
