/* The check of stencils finds what is wrong in any part of a grid: right results are made here, by
 * plain loops, and then spoilt in one way at a time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/stencil/row_sums.h"
#include "kernels/stencil/whole.h"
#include "spoilt_grids.h"
#include "wavefit/wavefit.h"

typedef struct grid {
    int n[3];
    wf_stencil_params params;
    double coefficients[27];
    void *in, *out;
} grid;

static int cell_of(const grid *g, int i, int j, int k, int d[3])
{
    int at[3] = {i + d[0], j + d[1], k + d[2]};
    for (int axis = 0; axis < 3; axis++) {
        const int n = g->n[axis];
        if (g->params.border == WF_BORDER_PERIODIC)
            at[axis] = (at[axis] + n) % n;
        else if (g->params.border == WF_BORDER_NEUMANN)
            at[axis] = at[axis] < 0    ? -1 - at[axis]
                       : at[axis] >= n ? 2 * n - 1 - at[axis]
                                       : at[axis];
    }
    return (at[2] * g->n[1] + at[1]) * g->n[0] + at[0];
}

static double step_at(const grid *g, const double *now, int i, int j, int k)
{
    const int flat = g->params.nz == 0;
    double sum = 0;
    int n = 0;
    if (g->params.shape == WF_STENCIL_BOX) {
        for (int dk = -1; dk <= 1; dk++)
            for (int dj = flat ? 0 : -1; dj <= (flat ? 0 : 1); dj++)
                for (int di = -1; di <= 1; di++)
                    sum += g->coefficients[n++] * now[cell_of(g, i, j, k, (int[3]){di, dj, dk})];
        return sum;
    }
    sum = g->coefficients[n++] * now[cell_of(g, i, j, k, (int[3]){0})];
    for (int axis = 0; axis < 3; axis++)
        for (int side = -1; side <= 1 && !(flat && axis == 1); side += 2) {
            int d[3] = {0};
            d[axis] = side;
            sum += g->coefficients[n++] * now[cell_of(g, i, j, k, d)];
        }
    return sum;
}

/* Two dimensions have their rows along k here. */
static void apply(grid *g)
{
    const size_t cells = (size_t)(g->n[0] * g->n[1] * g->n[2]);
    double *now = malloc(cells * sizeof *now), *next = malloc(cells * sizeof *next);
    assert_true(now && next);
    for (size_t at = 0; at < cells; at++)
        next[at] = now[at] = wf_element_get(g->params.type, g->in, at);
    for (uint32_t step = 0; step < g->params.steps; step++) {
        for (int k = 0; k < g->n[2]; k++)
            for (int j = 0; j < g->n[1]; j++)
                for (int i = 0; i < g->n[0]; i++) {
                    const bool edge = i == 0 || i == g->n[0] - 1 || k == 0 || k == g->n[2] - 1 ||
                                      (g->params.nz && (j == 0 || j == g->n[1] - 1));
                    if (!edge || g->params.border != WF_BORDER_DIRICHLET)
                        next[(k * g->n[1] + j) * g->n[0] + i] = step_at(g, now, i, j, k);
                }
        memcpy(now, next, cells * sizeof *now);
    }
    for (size_t at = 0; at < cells; at++)
        wf_element_set(g->params.type, g->out, at, now[at]);
    free(now);
    free(next);
}

static void open_grid(grid *g, const wf_stencil_params *params)
{
    *g = (grid){.params = *params};
    g->params.size = sizeof g->params;
    g->params.coefficients = g->coefficients;
    g->n[0] = (int)params->nx;
    g->n[1] = params->nz ? (int)params->ny : 1;
    g->n[2] = params->nz ? (int)params->nz : (int)params->ny;
    const size_t cells = (size_t)(g->n[0] * g->n[1] * g->n[2]);
    for (int n = 0; n < 27; n++)
        g->coefficients[n] = (double)(float)(uniform() / 5);
    g->in = malloc(cells * 8);
    g->out = malloc(cells * 8);
    assert_true(g->in && g->out);
    for (size_t at = 0; at < cells; at++)
        wf_element_set(params->type, g->in, at, uniform());
    apply(g);
}

static void close_grid(grid *g)
{
    free(g->in);
    free(g->out);
}

static bool grid_holds(const grid *g, uint64_t seed)
{
    wf_check check;
    assert_int_equal(wf_stencil_check(&g->params, g->in, g->out, DRAWN, seed, &check), WF_SUCCESS);
    assert_int_equal(check.checked, check.total);
    return check.error_over_bound <= 1;
}

/* What checks of all cells are given, from the parameters that apply() reads. */
typedef struct reference {
    wfi_stencil_reference grid;
    wfi_stencil_tap taps[27];
    wfi_stencil_bounds bounds;
    wfi_watch watch;
} reference;

static void add_tap(reference *r, const grid *g, int di, int dj, int dk)
{
    const uint32_t n = r->grid.count++;
    r->taps[n] = (wfi_stencil_tap){{di, dj, dk}, g->coefficients[n]};
}

static void open_reference(reference *r, const grid *g)
{
    const wf_stencil_params *p = &g->params;
    const bool flat = p->nz == 0;
    *r = (reference){.grid = {.size = {g->n[0], g->n[1], g->n[2]},
                              .row = flat ? 0 : (uint64_t)g->n[0],
                              .plane = (uint64_t)(g->n[0] * g->n[1]),
                              .flat = flat,
                              .border = p->border,
                              .radius = 1,
                              .steps = p->steps,
                              .type = p->type,
                              .in = g->in,
                              .out = g->out}};
    r->grid.taps = r->taps;
    r->grid.watch = &r->watch;
    if (p->shape == WF_STENCIL_BOX) {
        for (int dk = -1; dk <= 1; dk++)
            for (int dj = flat ? 0 : -1; dj <= (flat ? 0 : 1); dj++)
                for (int di = -1; di <= 1; di++)
                    add_tap(r, g, di, dj, dk);
    } else {
        add_tap(r, g, 0, 0, 0);
        for (int side = -1; side <= 1; side += 2)
            add_tap(r, g, side, 0, 0);
        for (int side = -1; side <= 1 && !flat; side += 2)
            add_tap(r, g, 0, side, 0);
        for (int side = -1; side <= 1; side += 2)
            add_tap(r, g, 0, 0, side);
    }
    /* Inputs are below 1; the result is off by its own rounding, as apply() computes in f64. */
    r->bounds.start = r->bounds.most = 1;
    for (uint32_t n = 0; n < r->grid.count; n++)
        r->bounds.sum += fabs(r->taps[n].value);
    for (uint32_t n = 0; n < p->steps; n++)
        r->bounds.most *= fmax(r->bounds.sum, 1);
    r->bounds.error = r->bounds.most * (p->type == WF_TYPE_F64 ? 4e-15 : 0x1p-24);
}

/* The sums of rows alone, as where all cells would take too long. */
static bool sums_hold(const grid *g, uint64_t seed, wf_check *check)
{
    reference r;
    open_reference(&r, g);
    *check = (wf_check){0};
    assert_int_equal(wfi_stencil_check_sums(&r.grid, &r.bounds, seed, check), WF_SUCCESS);
    return check->error_over_bound <= 1;
}

static const wf_stencil_params grids[] = {
    {.nx = 34, .ny = 33, .nz = 32, .steps = 1},
    {.nx = 34, .ny = 33, .nz = 32, .steps = 3, .border = WF_BORDER_NEUMANN},
    {.nx = 35, .ny = 32, .nz = 33, .steps = 4, .border = WF_BORDER_PERIODIC},
    {.nx = 34, .ny = 33, .nz = 32, .steps = 2, .shape = WF_STENCIL_BOX},
};

static void wrong_stencils_are_found(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < sizeof grids / sizeof *grids; kind++)
        for (uint64_t seed = 0; seed < seeds(); seed++) {
            grid g;
            random_state = seed + 100 * kind;
            open_grid(&g, &grids[kind]);
            const size_t bytes = (size_t)(g.n[0] * g.n[1] * g.n[2]) * sizeof(float);
            float *kept = malloc(bytes);
            assert_non_null(kept);
            memcpy(kept, g.out, bytes);
            assert_true(grid_holds(&g, seed));
            for (int f = 0; f < FAULTS; f++) {
                spoil(g.out, g.in, g.n, (fault)f);
                if (grid_holds(&g, seed))
                    fail_msg("grid %d, seed %d: fault %d was not found", (int)kind, (int)seed, f);
                memcpy(g.out, kept, bytes);
            }
            free(kept);
            close_grid(&g);
        }
}

/* So are they by the sums of rows: what spoil() does, a cell that is off by little, two cells that
 * make up for each other in the plain sum, and a cell at the end of a row. */
static void wrong_rows_are_found(void **state)
{
    (void)state;
    static const wf_stencil_params long_grids[] = {
        {.nx = 53, .ny = 33, .nz = 32, .steps = 1},
        {.nx = 34, .ny = 33, .nz = 32, .steps = 5},
        {.nx = 34, .ny = 33, .nz = 32, .steps = 3, .border = WF_BORDER_NEUMANN},
        {.nx = 35, .ny = 32, .nz = 33, .steps = 4, .border = WF_BORDER_PERIODIC},
        {.nx = 34, .ny = 33, .nz = 32, .steps = 2, .shape = WF_STENCIL_BOX},
        {.nx = 34,
         .ny = 32,
         .nz = 32,
         .steps = 3,
         .shape = WF_STENCIL_BOX,
         .border = WF_BORDER_NEUMANN},
    };
    for (size_t kind = 0; kind < sizeof long_grids / sizeof *long_grids; kind++)
        for (uint64_t seed = 0; seed < seeds(); seed++) {
            grid g;
            wf_check check;
            random_state = seed + 100 * kind;
            open_grid(&g, &long_grids[kind]);
            const int cells = g.n[0] * g.n[1] * g.n[2];
            const size_t bytes = (size_t)cells * sizeof(float);
            float *out = g.out, *kept = malloc(bytes);
            assert_non_null(kept);
            memcpy(kept, out, bytes);
            assert_true(sums_hold(&g, seed, &check));
            assert_int_equal(check.checked + check.summed + check.ranged, cells);
            assert_true(check.summed > check.ranged);
            for (int f = 0; f < FAULTS; f++) {
                spoil(out, g.in, g.n, (fault)f);
                if (sums_hold(&g, seed, &check))
                    fail_msg("grid %d, seed %d: fault %d was not found", (int)kind, (int)seed, f);
                memcpy(out, kept, bytes);
            }
            const int at = (1 + below(cells / g.n[0] - 2)) * g.n[0];
            out[at + 1 + below(g.n[0] - 2)] += 0.003f;
            assert_false(sums_hold(&g, seed, &check));
            memcpy(out, kept, bytes);
            out[at + 5] += 0.1f;
            out[at + 9] -= 0.1f;
            assert_false(sums_hold(&g, seed, &check));
            memcpy(out, kept, bytes);
            out[at + below(2) * (g.n[0] - 1)] += 1e-4f;
            assert_false(sums_hold(&g, seed, &check));
            free(kept);
            close_grid(&g);
        }
}

/* Three cells to each side, and no two coefficients the same. */
static const int far_offsets[][3] = {{0, 0, 0},  {-3, 0, 0}, {3, 1, -1}, {2, -3, 0}, {-1, 2, 3},
                                     {1, 0, -3}, {0, 3, 2},  {-2, 0, 1}, {3, -2, 0}};

static void open_far(grid *g, reference *r, wf_border border)
{
    const wf_stencil_params none = {.nx = 50, .ny = 21, .nz = 19, .border = border};
    double *now, *next;
    open_grid(g, &none);
    const int *n = g->n, cells = n[0] * n[1] * n[2];
    open_reference(r, g);
    r->grid.count = 0;
    r->grid.radius = 3;
    r->grid.steps = 3;
    for (size_t tap = 0; tap < sizeof far_offsets / sizeof *far_offsets; tap++)
        add_tap(r, g, far_offsets[tap][0], far_offsets[tap][1], far_offsets[tap][2]);
    now = malloc((size_t)cells * sizeof *now);
    next = malloc((size_t)cells * sizeof *next);
    assert_true(now && next);
    for (int at = 0; at < cells; at++)
        now[at] = (double)((float *)g->in)[at];
    for (uint32_t step = 0; step < r->grid.steps; step++) {
        for (int at = 0; at < cells; at++) {
            const int c[3] = {at % n[0], at / n[0] % n[1], at / n[0] / n[1]};
            bool keeps = false;
            for (int axis = 0; axis < 3; axis++)
                keeps |= border == WF_BORDER_DIRICHLET && (c[axis] < 3 || c[axis] >= n[axis] - 3);
            next[at] = keeps ? now[at] : 0;
            for (uint32_t tap = 0; tap < r->grid.count && !keeps; tap++) {
                int d[3];
                memcpy(d, far_offsets[tap], sizeof d);
                next[at] += g->coefficients[tap] * now[cell_of(g, c[0], c[1], c[2], d)];
            }
        }
        memcpy(now, next, (size_t)cells * sizeof *now);
    }
    for (int at = 0; at < cells; at++)
        ((float *)g->out)[at] = (float)now[at];
    free(now);
    free(next);
    r->bounds.error = r->bounds.most * 0x1p-24;
}

static void wide_stencils_are_summed(void **state)
{
    (void)state;
    for (int border = 0; border < 3; border++) {
        grid g;
        reference r;
        wf_check check = {0};
        random_state = (uint64_t)border;
        open_far(&g, &r, (wf_border)border);
        assert_int_equal(wfi_stencil_check_sums(&r.grid, &r.bounds, 5, &check), WF_SUCCESS);
        assert_true(check.error_over_bound <= 1);
        assert_true(check.summed > check.ranged);
        r.taps[4].offset[1] = 1; /* not the stencil that ran */
        check = (wf_check){0};
        assert_int_equal(wfi_stencil_check_sums(&r.grid, &r.bounds, 5, &check), WF_SUCCESS);
        assert_true(check.error_over_bound > 1);
        close_grid(&g);
    }
}

/* A coefficient of f64 that is off by 1e-11; two dimensions, and slabs of a large plane. */
static void coefficients_are_checked(void **state)
{
    (void)state;
    static const wf_stencil_params kinds[] = {
        {.nx = 90, .ny = 80, .steps = 2, .type = WF_TYPE_F64},
        {.nx = 90, .ny = 80, .steps = 3, .type = WF_TYPE_F64, .border = WF_BORDER_PERIODIC},
        {.nx = 30, .ny = 20, .nz = 20, .type = WF_TYPE_F64, .shape = WF_STENCIL_BOX, .steps = 1},
        {.nx = 700,
         .ny = 600,
         .nz = 18,
         .type = WF_TYPE_F64,
         .border = WF_BORDER_NEUMANN,
         .steps = 1},
    };
    for (size_t kind = 0; kind < 4; kind++) {
        grid g;
        wf_stencil_params params = kinds[kind];
        random_state = 3;
        if (seeds() == 1 && kind == 3) /* of the fewest planes that are two slabs */
            params.nz = 11;
        open_grid(&g, &params);
        wf_check sums;
        assert_true(grid_holds(&g, 1));
        assert_true(sums_hold(&g, 1, &sums));
        assert_int_equal(sums.checked + sums.summed + sums.ranged, g.n[0] * g.n[1] * g.n[2]);
        const double right = g.coefficients[3];
        g.coefficients[3] = right * (1 + 1e-11);
        apply(&g);
        g.coefficients[3] = right;
        assert_false(grid_holds(&g, 1));
        g.coefficients[3] = right * (1 + 1e-9); /* a row's sum may be off by more than a cell */
        apply(&g);
        g.coefficients[3] = right;
        assert_false(sums_hold(&g, 1, &sums));
        close_grid(&g);
    }
}

/* f16 is rounded each step, and where steps would take too long every cell's range is looked at. */
static void halves_and_long_runs(void **state)
{
    (void)state;
    const wf_stencil_params half = {.nx = 60, .ny = 50, .steps = 1, .type = WF_TYPE_F16};
    grid g;
    wf_check check;
    random_state = 9;
    open_grid(&g, &half);
    assert_true(grid_holds(&g, 1));
    ((uint16_t *)g.out)[1234] ^= 0x4000;
    assert_false(grid_holds(&g, 1));
    close_grid(&g);
    if (seeds() == 1) /* most of a sanitizer's time is in making the next grid */
        return;
    /* Too long for as many threads as check a grid, and rows too short for their sums. */
    const wf_stencil_params few = {
        .nx = 96, .ny = 400, .nz = 800, .shape = WF_STENCIL_BOX, .steps = 0};
    open_grid(&g, &few);
    g.params.steps = 35;
    memset(g.coefficients, 0, sizeof g.coefficients);
    g.coefficients[13] = 1; /* the cell's own: nothing changes */
    assert_int_equal(wf_stencil_check(&g.params, g.in, g.out, 1, 1, &check), WF_SUCCESS);
    assert_true(check.error_over_bound <= 1 && check.ranged == check.total);
    ((float *)g.out)[400000] = 3;
    assert_int_equal(wf_stencil_check(&g.params, g.in, g.out, 1, 1, &check), WF_SUCCESS);
    assert_true(check.error_over_bound > 1);
    close_grid(&g);
}

/* A periodic grid whose cells move by one a step. */
static void long_runs_are_summed(void **state)
{
    (void)state;
    enum { NX = 1024, NY = 64, STEPS = 700 };
    const wf_stencil_params moving = {
        .nx = NX, .ny = NY, .steps = 0, .type = WF_TYPE_F64, .border = WF_BORDER_PERIODIC};
    grid g;
    wf_check check;
    random_state = 11;
    open_grid(&g, &moving);
    g.params.steps = STEPS;
    memset(g.coefficients, 0, sizeof g.coefficients);
    g.coefficients[1] = 1; /* the cell before it in its row */
    double *in = g.in, *out = g.out;
    for (int at = 0; at < NX * NY; at++)
        out[at / NX * NX + (at + STEPS) % NX] = in[at];
    assert_true(sums_hold(&g, 1, &check));
    assert_true(check.summed == NX * NY && check.missed <= 0);
    double *cell = &out[below(NX * NY)];
    *cell += *cell < 0 ? 1e-3 : -1e-3;
    assert_false(sums_hold(&g, 1, &check));
    assert_int_equal(check.mismatches[0].index, (cell - out) / NX * NX);
    close_grid(&g);
}

/* Short rows of large planes: few operations, and more memory than a check may take. */
static void sums_take_little_memory(void **state)
{
    (void)state;
    const wfi_stencil_bounds bounds = {.sum = 1, .start = 1, .most = 1, .error = 1e-6};
    wfi_stencil_reference g = {.size = {20, 50000, 8}, .radius = 1, .steps = 4, .count = 7};
    assert_true(wfi_stencil_sums_pay(&g, &bounds));
    g.size[1] = 400000;
    assert_false(wfi_stencil_sums_pay(&g, &bounds));
    g.size[0] = 200000; /* as many cells in longer rows */
    g.size[1] = 40;
    assert_true(wfi_stencil_sums_pay(&g, &bounds));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_stencils_are_found), cmocka_unit_test(wrong_rows_are_found),
        cmocka_unit_test(wide_stencils_are_summed), cmocka_unit_test(coefficients_are_checked),
        cmocka_unit_test(halves_and_long_runs),     cmocka_unit_test(long_runs_are_summed),
        cmocka_unit_test(sums_take_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
