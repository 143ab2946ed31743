#include "every_family.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { MOST_FLOATS = EVERY_MOST_BYTES / sizeof(float), BUFFERS = 4 };

/* What one run has. */
typedef struct work {
    wf_device *device;
    test_random random;
    every_result *out;
    wf_plan *plan;
    wf_buffer *buffers[BUFFERS];
    wf_bindings bindings;
} work;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        const wf_result tried = (call);                                                            \
        if (tried != WF_SUCCESS)                                                                   \
            return tried;                                                                          \
    } while (0)

static uint32_t draw(work *w, uint32_t least, uint32_t most)
{
    return least + test_random_below(&w->random, most - least + 1);
}

static void draw_floats(work *w, float *to, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = (float)test_random_uniform(&w->random);
}

/* Buffers of drawn floats, in the order of the bindings. */
static wf_result bind(work *w, uint32_t count, const uint32_t *floats)
{
    float data[MOST_FLOATS];
    w->bindings.size = sizeof w->bindings;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t bytes = floats[i] * sizeof(float);
        draw_floats(w, data, floats[i]);
        TRY(wf_buffer_create(w->device, bytes, WF_MEMORY_DEVICE, &w->buffers[i]));
        TRY(wf_buffer_write(w->buffers[i], 0, data, bytes));
        w->bindings.items[i].buffer = w->buffers[i];
    }
    return WF_SUCCESS;
}

/* Runs the plan and keeps what the binding holds then. */
static wf_result run_plan(work *w, uint32_t binding, uint32_t floats)
{
    if (wf_plan_workspace(w->plan) > 0) {
        wf_buffer **workspace = &w->buffers[BUFFERS - 1];
        TRY(wf_buffer_create(w->device, wf_plan_workspace(w->plan), WF_MEMORY_DEVICE, workspace));
        w->bindings.workspace.buffer = *workspace;
    }
    TRY(wf_plan_run(w->plan, &w->bindings));
    w->out->bytes = floats * (uint32_t)sizeof(float);
    return wf_buffer_read(w->buffers[binding], 0, w->out->data, w->out->bytes);
}

static wf_result run_matmul(work *w)
{
    const uint32_t m = draw(w, 1, 40), n = draw(w, 1, 40), k = draw(w, 1, 40);
    const wf_matmul_params params = {.size = sizeof params, .m = m, .n = n, .k = k};
    TRY(wf_matmul_plan(w->device, &params, &w->plan));
    TRY(bind(w, 3, (const uint32_t[]){m * k, k * n, m * n}));
    return run_plan(w, WF_MATMUL_C, m * n);
}

enum { MOST_ROWS = 120 };

/* A symmetric matrix of three diagonals, in which the middle one is the largest. */
typedef struct matrix {
    uint32_t offsets[MOST_ROWS + 1], columns[3 * MOST_ROWS];
    float values[3 * MOST_ROWS];
    wf_spmv_params params;
} matrix;

static void make_matrix(work *w, matrix *m)
{
    const uint32_t rows = draw(w, 3, MOST_ROWS), away = draw(w, 1, rows - 1);
    uint32_t at = 0;
    for (uint32_t row = 0; row < rows; row++) {
        m->offsets[row] = at;
        if (row >= away) {
            m->columns[at] = row - away;
            m->values[at++] = -1;
        }
        m->columns[at] = row;
        m->values[at++] = 2.5f;
        if (row + away < rows) {
            m->columns[at] = row + away;
            m->values[at++] = -1;
        }
    }
    m->offsets[rows] = at;
    m->params = (wf_spmv_params){.size = sizeof m->params,
                                 .rows = rows,
                                 .columns = rows,
                                 .row_offsets = m->offsets,
                                 .column_indices = m->columns,
                                 .values = m->values};
}

static wf_result run_spmv(work *w)
{
    matrix m;
    make_matrix(w, &m);
    const uint32_t rows = m.params.rows;
    TRY(wf_spmv_plan(w->device, &m.params, &w->plan));
    TRY(bind(w, 2, (const uint32_t[]){rows, rows}));
    return run_plan(w, WF_SPMV_Y, rows);
}

static wf_result run_stencil(work *w)
{
    const double coefficients[] = {-4, 1, 1, 1, 1};
    const uint32_t nx = draw(w, 3, 40), ny = draw(w, 3, 40);
    const wf_stencil_params params = {.size = sizeof params,
                                      .nx = nx,
                                      .ny = ny,
                                      .coefficients = coefficients,
                                      .steps = draw(w, 1, 3)};
    TRY(wf_stencil_plan(w->device, &params, &w->plan));
    TRY(bind(w, 2, (const uint32_t[]){nx * ny, nx * ny}));
    return run_plan(w, WF_STENCIL_OUT, nx * ny);
}

static wf_result run_vector(work *w)
{
    const uint32_t count = draw(w, 1, MOST_FLOATS);
    const bool dot = draw(w, 0, 1) == 1;
    const wf_vector_params params = {.size = sizeof params,
                                     .operation = dot ? WF_VECTOR_DOT : WF_VECTOR_AXPY,
                                     .count = count,
                                     .alpha = 0.5};
    TRY(wf_vector_plan(w->device, &params, &w->plan));
    TRY(bind(w, 3, (const uint32_t[]){count, count, 1}));
    return run_plan(w, dot ? WF_VECTOR_SCALARS : WF_VECTOR_Y, dot ? 1 : count);
}

static wf_result run_himeno(work *w)
{
    const uint32_t ni = draw(w, 3, 12), nj = draw(w, 3, 12), nk = draw(w, 3, 12);
    const wf_himeno_params params = {.size = sizeof params, .ni = ni, .nj = nj, .nk = nk};
    wf_himeno *himeno = NULL;
    float gosa = 0;
    TRY(wf_himeno_create(w->device, &params, &himeno));
    wf_result result = wf_himeno_start(himeno);
    if (result == WF_SUCCESS)
        result = wf_himeno_run(himeno, draw(w, 1, 3), &gosa, NULL, NULL);
    if (result == WF_SUCCESS)
        result = wf_himeno_read(himeno, (float *)(void *)w->out->data);
    w->out->bytes = ni * nj * nk * (uint32_t)sizeof(float);
    memcpy(w->out->data + w->out->bytes, &gosa, sizeof gosa);
    w->out->bytes += (uint32_t)sizeof gosa;
    wf_himeno_destroy(&himeno);
    return result;
}

static wf_result run_cg(work *w)
{
    matrix m;
    float b[MOST_ROWS];
    wf_cg_result result = {.product = {.size = sizeof result.product}};
    make_matrix(w, &m);
    const wf_cg_params params = {.size = sizeof params,
                                 .matrix = &m.params,
                                 .tolerance = 1e-4,
                                 .check_every = 16,
                                 .max_iterations = 200};
    draw_floats(w, b, m.params.rows);
    w->out->bytes = m.params.rows * (uint32_t)sizeof(float);
    return wf_cg_solve(w->device, &params, b, w->out->data, &result);
}

static wf_result run_laplace(work *w)
{
    const uint32_t nx = draw(w, 3, 30), ny = draw(w, 3, 30);
    wf_laplace_result result = {.size = sizeof result};
    const wf_laplace_params params = {.size = sizeof params,
                                      .nx = nx,
                                      .ny = ny,
                                      .method = draw(w, 0, 1) ? WF_LAPLACE_SOR : WF_LAPLACE_JACOBI,
                                      .tolerance = 1e-2,
                                      .check_every = 8,
                                      .max_iterations = 400};
    draw_floats(w, (float *)(void *)w->out->data, nx * ny);
    w->out->bytes = nx * ny * (uint32_t)sizeof(float);
    return wf_laplace_solve(w->device, &params, w->out->data, &result);
}

static const struct {
    const char *name;
    wf_result (*run)(work *w);
} kinds[EVERY_KINDS] = {
    {"matmul", run_matmul}, {"spmv", run_spmv}, {"stencil", run_stencil}, {"vector", run_vector},
    {"himeno", run_himeno}, {"cg", run_cg},     {"laplace", run_laplace},
};

const char *every_name(int kind)
{
    return kinds[kind].name;
}

wf_result every_run(wf_device *device, int kind, uint32_t number, every_result *out)
{
    work w = {.device = device,
              .random = {test_seed() + number * UINT64_C(7) + (uint64_t)kind},
              .out = out};
    out->bytes = 0;
    const wf_result result = kinds[kind].run(&w);
    wf_plan_destroy(&w.plan);
    for (int i = 0; i < BUFFERS; i++)
        wf_buffer_destroy(&w.buffers[i]);
    return result;
}
