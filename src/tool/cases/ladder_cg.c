/* OpenACC loop optimisation: CG (Alliance). Conjugate gradients on the matrix of a 27-point
 * stencil, with the loops of the product shaped in several ways. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/cases/case_parts.h"
#include "tool/cases/ladders.h"
#include "tool/cases/random.h"
#include "tool/cases/vectors.h"
#include "core/platform.h"
#include "tool/cli/progress.h"
#include "tool/cli/table.h"

#define ALLIANCE "OpenACC loop optimisation (Alliance), "
#define MOST_ITERATIONS 1000
#define SOLVES 5        /* whose times give the spread */
#define LEAST_SOLVES 3  /* however long they take */
#define SOLVE_SECONDS 1 /* after which no other solve is begun */
#define VECTOR_SECONDS 0.1

#define SHAPE(lanes_, items)                                                                       \
    {                                                                                              \
        {"lanes", lanes_},                                                                         \
        {                                                                                          \
            "local_x", items                                                                       \
        }                                                                                          \
    }

static const wfi_rung rungs[] = {
    {.name = "rows",
     .variant = "row",
     .text = ALLIANCE "step 1",
     .summary = "one work-item a row",
     .constants = {{"local_x", 128}}},
    {.name = "vector128",
     .variant = "shared",
     .text = ALLIANCE "vector length of 128",
     .summary = "128 lanes a row, one row a work-group",
     .over = "rows",
     .figure = "10 s; 101 of 128 lanes wasted on 27 entries a row",
     .constants = SHAPE(128, 128)},
    {.name = "vector32",
     .variant = "shared",
     .text = ALLIANCE "vector length of 32",
     .summary = "32 lanes a row, one row a work-group",
     .over = "vector128",
     .figure = "15 s, slower: 16 work-groups a unit at most, 512 of 2048 threads, occupancy 25 %",
     .constants = SHAPE(32, 32)},
    {.name = "worker32",
     .variant = "shared",
     .text = ALLIANCE "32 workers of 32 lanes",
     .summary = "32 rows a work-group with 32 lanes each",
     .over = "vector32",
     .figure = "6 s",
     .constants = SHAPE(32, 1024),
     .smaller = SHAPE(32, 128)},
    {.name = "tile",
     .variant = "shared",
     .text = ALLIANCE "tiled loops",
     .summary = "tiles of 32 rows by 8 lanes a work-group",
     .over = "worker32",
     .constants = SHAPE(8, 256),
     .smaller = SHAPE(8, 128)},
    {.name = "collapse",
     .variant = "merge",
     .text = ALLIANCE "collapsed loops",
     .summary = "rows and entries as one loop, which work-items share evenly",
     .over = "worker32",
     .constants = {{"local_x", 128}}},
    {.name = "choice", .summary = "wavefit's own choice for the product"},
};

/* ---------------------------------------------------------------------------------------- solve */

typedef struct solve {
    wf_cg_params params;
    wf_spmv_params matrix;
    void *narrow, *b, *x;
    wf_cg_result result;
} solve;

static void free_solve(solve *s)
{
    free(s->narrow);
    free(s->b);
    free(s->x);
}

static wf_result prepare(wfi_session *session, const wfi_study *study, solve *s)
{
    const wfi_csr *m = &study->matrix;
    const size_t bytes = m->rows * wf_type_size(study->type);
    wfi_io_error error;
    s->matrix = (wf_spmv_params){.size = sizeof s->matrix,
                                 .rows = m->rows,
                                 .columns = m->columns,
                                 .row_offsets = m->row_offsets,
                                 .column_indices = m->column_indices,
                                 .type = study->type,
                                 .tuning = &session->tuning,
                                 .cancel = &session->cancel};
    s->matrix.values = wfi_matrix_values(m, study->name, study->type, &s->narrow, &error);
    s->b = malloc(bytes ? bytes : 1);
    s->x = malloc(bytes ? bytes : 1);
    if (!s->matrix.values || !s->b || !s->x)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    wfi_random_fill(s->b, study->type, m->rows, session->common->seed);
    s->params = (wf_cg_params){.size = sizeof s->params,
                               .matrix = &s->matrix,
                               .max_iterations = MOST_ITERATIONS,
                               .repeat = session->common->repeat ? session->common->repeat : 20};
    return WF_SUCCESS;
}

/* Several solves; each has one mean time of an iteration. */
static wf_result solve_often(wfi_session *session, solve *s, wfi_result_case *out)
{
    const double start = wfi_host_seconds();
    const uint32_t repeat = session->common->repeat, least = repeat ? repeat : LEAST_SOLVES;
    wf_timing *t = &out->timing;
    wf_result result = WF_SUCCESS;
    while (result == WF_SUCCESS && t->count < (repeat ? repeat : SOLVES) &&
           (t->count < least || wfi_host_seconds() - start < SOLVE_SECONDS)) {
        result = wf_cg_solve(session->device, &s->params, s->b, s->x, &s->result);
        if (result == WF_SUCCESS && s->result.status != WF_CG_CONVERGED) {
            wfi_case_fail_text(out, WFI_STATUS_FAILED,
                               "cg %s: not solved after %u iterations, residual %.3g", out->name,
                               s->result.iterations, s->result.true_residual);
            return result;
        }
        if (result == WF_SUCCESS)
            t->samples_us[t->count++] = s->result.iteration_us;
    }
    if (result != WF_SUCCESS)
        return result;
    wfi_case_summarise(t);
    t->batch = s->result.iterations;
    t->gpu_clock = s->result.gpu_clock;
    out->has_timing = true;
    return result;
}

/* Microseconds of one operation on vectors of the system's length; NaN where it does not run. */
static double vector_us(wfi_session *session, const wfi_study *study, wf_vector_operation operation)
{
    enum { X, Y, SCALARS, WORKSPACE, BUFFERS };
    const uint64_t bytes = study->matrix.rows * (uint64_t)wf_type_size(study->type);
    const wf_vector_params params = {.size = sizeof params,
                                     .operation = operation,
                                     .count = study->matrix.rows,
                                     .type = study->type};
    const wf_measure_params measure = {.size = sizeof measure,
                                       .repeat = session->common->repeat,
                                       .budget_seconds = VECTOR_SECONDS};
    wf_plan *plan = NULL;
    wf_buffer *buffers[BUFFERS] = {NULL};
    wf_timing timing = {0};
    wf_result result = wf_vector_plan(session->device, &params, &plan);
    const uint64_t workspace = plan ? wf_plan_workspace(plan) : 0;
    const uint64_t sizes[BUFFERS] = {bytes, bytes, sizeof(double), workspace};
    for (int i = 0; i < BUFFERS && result == WF_SUCCESS; i++) {
        const uint64_t size = (sizes[i] + 3) & ~UINT64_C(3);
        if (size)
            result = wf_buffer_create(session->device, size, WF_MEMORY_DEVICE, &buffers[i]);
        if (size && result == WF_SUCCESS)
            result = wf_buffer_fill(buffers[i], 0, size, 0);
    }
    const wf_bindings bindings = {.size = sizeof bindings,
                                  .items = {[WF_VECTOR_X] = {.buffer = buffers[X]},
                                            [WF_VECTOR_Y] = {.buffer = buffers[Y]},
                                            [WF_VECTOR_SCALARS] = {.buffer = buffers[SCALARS]}},
                                  .workspace = {.buffer = buffers[WORKSPACE]}};
    if (result == WF_SUCCESS)
        result = wf_plan_measure(plan, &bindings, &measure, &timing);
    wf_plan_destroy(&plan);
    for (int i = 0; i < BUFFERS; i++)
        wf_buffer_destroy(&buffers[i]);
    return result == WF_SUCCESS ? timing.median_us : (double)NAN;
}

static void fill_case(wfi_session *session, const wfi_study *study, const solve *s,
                      wfi_result_case *out)
{
    const wfi_csr *m = &study->matrix;
    const wf_cg_result *r = &s->result;
    char product[32], dot[32], waxpby[32];
    out->has_plan = r->product.variant != NULL;
    out->plan = r->product;
    if (out->status != WFI_STATUS_OK)
        return;
    const double dot_us = vector_us(session, study, WF_VECTOR_DOT),
                 waxpby_us = vector_us(session, study, WF_VECTOR_XPAY);
    /* A product, two dot products and three sums of vectors. */
    out->rate = (2.0 * m->entries + 10.0 * m->rows) / out->timing.median_us * 1e-3;
    out->rate_unit = "GFLOPS";
    wfi_result_case_extra(out, "iterations", r->iterations);
    wfi_result_case_extra(out, "us_an_iteration", out->timing.median_us);
    wfi_result_case_extra(out, "product_us", r->product_us);
    wfi_result_case_extra(out, "dot_us", dot_us);
    wfi_result_case_extra(out, "waxpby_us", waxpby_us);
    wfi_result_case_extra(out, "true_residual", r->true_residual);
    wfi_format_time(r->product_us, product, sizeof product);
    wfi_format_time(dot_us, dot, sizeof dot);
    wfi_format_time(waxpby_us, waxpby, sizeof waxpby);
    snprintf(out->study.parts, sizeof out->study.parts,
             "%u iterations; matvec %s, dot %s, waxpby %s, each by itself%s", r->iterations,
             product, dot, waxpby, r->fused ? " (in an iteration the matvec makes a dot too)" : "");
}

static wf_result run(wfi_session *session, const wfi_study *study, const wfi_rung *rung,
                     const wf_constant *constants, uint32_t count, wfi_result_case *out)
{
    solve s = {.narrow = NULL};
    const wf_tuning before = session->tuning;
    wfi_result_case_init(out, "cg");
    snprintf(out->name, sizeof out->name, "%s", study->name);
    wfi_result_case_fact(out, "rows", study->matrix.rows);
    wfi_result_case_fact(out, "entries", study->matrix.entries);
    out->type = wf_type_name(study->type);
    session->tuning.variant = rung->variant;
    session->tuning.constants = constants;
    session->tuning.constant_count = count;
    *session->error = '\0';
    wf_result result = prepare(session, study, &s);
    if (result == WF_SUCCESS)
        result = solve_often(session, &s, out);
    session->tuning = before;
    if (result != WF_SUCCESS)
        wfi_case_fail(session, out, result);
    else
        fill_case(session, study, &s, out);
    if (out->has_plan)
        wfi_study_occupancy(session->caps, out);
    free_solve(&s);
    return result;
}

const wfi_ladder wfi_cg_ladder = {.subject = "cg",
                                  .family = WF_FAMILY_SPMV,
                                  .count = WFI_COUNT(rungs),
                                  .rungs = rungs,
                                  .run = run};
