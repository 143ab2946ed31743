/* Laplace's equation on grids whose border is drawn at random. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/verify/verify.h"

#define MOST_ITERATIONS 30000 /* Jacobi's need 12,000 for 42 x 42 cells and f64's tolerance */

typedef struct grid {
    wf_laplace_params params;
    size_t bytes;
    void *begin, *u, *again;
    bool twice;
    wf_laplace_result result;
} grid;

static void draw_problem(wfi_verifier *v, grid *g)
{
    wf_laplace_params *p = &g->params;
    v->verdict->type = wfi_draw_chance(v, 50) ? WF_TYPE_F32 : WF_TYPE_F64;
    *p = (wf_laplace_params){.size = sizeof *p,
                             .type = v->verdict->type,
                             .max_iterations = MOST_ITERATIONS,
                             .progress = wfi_verify_goes_on};
    p->method = wfi_draw_chance(v, 60) ? WF_LAPLACE_SOR : WF_LAPLACE_JACOBI;
    g->twice = wfi_draw_chance(v, 30);
    const bool jacobi = p->method == WF_LAPLACE_JACOBI;
    p->nx = 2 + (uint32_t)wfi_draw_size(v, jacobi ? 40 : 120);
    p->ny = 2 + (uint32_t)wfi_draw_size(v, jacobi ? 40 : 120);
    if (!jacobi && wfi_draw_chance(v, 40))
        p->omega = wfi_draw_uniform(v, 0.8, 1.8);
    p->check_every = wfi_draw_chance(v, 50) ? 1 + (uint32_t)wfi_draw_below(v, 100) : 0;
    /* Rounding is far below these. */
    p->tolerance = pow(10, -2 - wfi_draw_uniform(v, 0, p->type == WF_TYPE_F32 ? 1 : 5));
    wfi_verify_say(v, "%ux%u by %s", p->nx, p->ny, jacobi ? "Jacobi's iteration" : "SOR");
    if (p->omega > 0)
        wfi_verify_say(v, " with omega %.4g", p->omega);
    wfi_verify_say(v, ", tolerance %.2g", p->tolerance);
    if (p->check_every)
        wfi_verify_say(v, ", a check every %u", p->check_every);
}

static bool make_grid(wfi_verifier *v, grid *g)
{
    const size_t cells = (size_t)g->params.nx * g->params.ny;
    g->bytes = cells * wf_type_size(g->params.type);
    g->begin = malloc(g->bytes);
    g->u = malloc(g->bytes);
    g->again = malloc(g->bytes);
    if (!g->begin || !g->u || !g->again)
        return false;
    for (size_t i = 0; i < cells; i++)
        wf_element_set(g->params.type, g->begin, i, wfi_draw_uniform(v, -1, 1));
    return true;
}

static wf_result solve(wfi_verifier *v, void *user, const wf_tuning *tuning)
{
    grid *g = user;
    g->params.tuning = tuning;
    g->result = (wf_laplace_result){.size = sizeof g->result};
    memcpy(g->u, g->begin, g->bytes);
    wf_result result = wf_laplace_solve(v->session->device, &g->params, g->u, &g->result);
    if (result != WF_SUCCESS || !g->twice)
        return result;
    wf_laplace_result other = {.size = sizeof other};
    memcpy(g->again, g->begin, g->bytes);
    result = wf_laplace_solve(v->session->device, &g->params, g->again, &other);
    if (result == WF_SUCCESS && memcmp(g->u, g->again, g->bytes) != 0)
        wfi_verify_fail(v, "a second solve with the same inputs gave other bits");
    return result;
}

static long double at(const grid *g, uint32_t x, uint32_t y)
{
    return wf_element_get(g->params.type, g->u, y * (uint64_t)g->params.nx + x);
}

static bool on_border(const grid *g, uint32_t x, uint32_t y)
{
    return x == 0 || y == 0 || x == g->params.nx - 1 || y == g->params.ny - 1;
}

/* Residuals in long double, and what tolerance and rounding allow (wf_laplace_result). */
static void check_residual(wfi_verifier *v, const grid *g)
{
    static const int near[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    const double u = g->params.type == WF_TYPE_F64 ? 0x1p-53 : 0x1p-24;
    long double r2 = 0, b2 = 0, s2 = 0;
    for (uint32_t y = 1; y + 1 < g->params.ny; y++)
        for (uint32_t x = 1; x + 1 < g->params.nx; x++) {
            long double r = -4 * at(g, x, y), b = 0, s = fabsl(r);
            for (int i = 0; i < 4; i++) {
                const uint32_t nx = (uint32_t)((int)x + near[i][0]),
                               ny = (uint32_t)((int)y + near[i][1]);
                r += at(g, nx, ny);
                s += fabsl(at(g, nx, ny));
                b += on_border(g, nx, ny) ? at(g, nx, ny) : 0;
            }
            r2 += r * r;
            b2 += b * b;
            s2 += s * s;
        }
    const double cells = (g->params.nx - 2.0) * (g->params.ny - 2.0);
    wfi_verify_residual(v, g->params.nx * (uint64_t)g->params.ny, (double)sqrtl(r2 / b2),
                        g->params.tolerance * (1 + fmin(1.01 * cells * u, 1)) +
                            1.01 * 4 * u * (double)sqrtl(s2 / b2),
                        g->result.true_residual);
}

static void check_border(wfi_verifier *v, const grid *g)
{
    const size_t size = wf_type_size(g->params.type);
    for (uint32_t y = 0; y < g->params.ny; y++)
        for (uint32_t x = 0; x < g->params.nx; x++) {
            const size_t cell = ((size_t)y * g->params.nx + x) * size;
            if (on_border(g, x, y) &&
                memcmp((char *)g->u + cell, (char *)g->begin + cell, size) != 0)
                wfi_verify_fail(v, "the border's value at x %u, y %u has changed", x, y);
        }
}

wf_result wfi_verify_laplace(wfi_verifier *v)
{
    static const char *const ends[] = {"converged",  "did not converge", "stagnated",
                                       "overflowed", "was cancelled",    "is inaccurate"};
    grid g = {0};
    draw_problem(v, &g);
    wf_result result =
        make_grid(v, &g) ? wfi_verify_point(v, solve, &g) : WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS) {
        if (g.params.method == WF_LAPLACE_JACOBI)
            wfi_verify_solver_plan(v, &g.result.stencil);
        v->verdict->check.checked = v->verdict->check.total = g.params.nx * (uint64_t)g.params.ny;
        if (g.result.status != WF_LAPLACE_CONVERGED)
            wfi_verify_fail(v, "it %s after %u iterations: the residual is %.3g",
                            ends[g.result.status], g.result.iterations, g.result.true_residual);
        else
            check_residual(v, &g);
        check_border(v, &g);
    }
    free(g.begin);
    free(g.u);
    free(g.again);
    return result;
}
