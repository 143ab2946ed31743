/* wavefit cg: solves A x = b for a symmetric positive definite matrix. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "io/matrix_market.h"
#include "io/npy.h"
#include "tool/cases/bench_matrices.h"
#include "tool/cases/case_parts.h"
#include "tool/cases/cases.h"
#include "tool/commands/commands.h"
#include "tool/commands/explain_solver.h"
#include "tool/cases/matrix_name.h"
#include "tool/cli/path.h"
#include "tool/cli/console.h"
#include "tool/cli/progress.h"
#include "tool/cli/stages.h"
#include "tool/cases/random.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"
#include "tool/cases/vectors.h"

#define DEFAULT_MATRIX "poisson27:64" /* of explain */
#define EXPLAIN_SAMPLES 20            /* of the parts of an iteration */
#define MOST_SIDE27 400               /* whose entries still count in 32 bits: 27 * 400^3 < 2^31 */
#define MOST_SIDE5 20000

typedef struct arguments {
    const char *type, *poisson27, *poisson5, *tolerance, *iterations, *precondition, *block, *b,
        *output;
    wfi_matrix_name matrix;
    bool mixed, explain, time;
} arguments;

typedef struct solve {
    const arguments *args;
    const wfi_common *common;
    const char *name; /* of the matrix, as given */
    char title[96];   /* as results know it */
    wf_cg_params params;
    wf_spmv_params matrix;
    wfi_csr csr;
    void *narrow; /* values in f32 */
    wf_solve_stages stages;
    double *history;
    wfi_npy b_file;
    const void *b;
    void *random_b, *x;
    wfi_solver_explain parts;
} solve;

static void free_solve(solve *s)
{
    wfi_csr_free(&s->csr);
    free(s->narrow);
    free(s->history);
    wfi_npy_free(&s->b_file);
    free(s->random_b);
    free(s->x);
}

/* ---------------------------------------------------------------------------------------- input */

static int generate(solve *s, const char *option, const char *text, uint64_t most, int dimensions,
                    bool (*make)(uint32_t, wfi_csr *))
{
    uint64_t side = 0;
    if (!wfi_parse_u64(option, text, 1, most, &side))
        return WFI_EXIT_USAGE;
    s->name = option + 2;
    snprintf(s->title, sizeof s->title, "%s %llu^%d", s->name, (unsigned long long)side,
             dimensions);
    wfi_stage_begin(s->common->quiet, WFI_STAGE_READ, "making the matrix");
    const bool made = make((uint32_t)side, &s->csr);
    wfi_stage_end(s->common->quiet);
    if (!made)
        return wfi_run_error("%s %s: out of memory", option, text);
    return WFI_EXIT_DONE;
}

static int read_matrix(solve *s, wf_type type)
{
    const arguments *a = s->args;
    const char *text = NULL;
    wfi_matrix_name name = a->matrix;
    name.positional = s->common->positional_count ? s->common->positional[0] : NULL;
    if (wfi_matrix_name_one("cg", &name, &text) != WFI_EXIT_DONE)
        return WFI_EXIT_USAGE;
    if (a->explain && !text && !a->poisson27 && !a->poisson5)
        text = DEFAULT_MATRIX;
    if ((text != NULL) + (a->poisson27 != NULL) + (a->poisson5 != NULL) != 1)
        return wfi_usage_error("cg: give one of MATRIX.mtx, --generate KIND:N, --poisson27 N, "
                               "--poisson5 N");
    if (a->poisson27)
        return generate(s, "--poisson27", a->poisson27, MOST_SIDE27, 3, wfi_make_poisson27);
    if (a->poisson5)
        return generate(s, "--poisson5", a->poisson5, MOST_SIDE5, 2, wfi_make_poisson5);
    s->name = text;
    wfi_matrix_label(text, s->title, sizeof s->title);
    const wfi_matrix_use use = {type, 1, false};
    const int code = wfi_matrix_get(s->common, text, &use, &s->csr);
    if (code != WFI_EXIT_DONE)
        return code;
    if (s->csr.rows != s->csr.columns)
        return wfi_run_error("%s: the matrix is %u x %u; a square one is needed", s->name,
                             s->csr.rows, s->csr.columns);
    return WFI_EXIT_DONE;
}

static int convert_values(solve *s, wf_type type)
{
    const wfi_csr *m = &s->csr;
    s->matrix = (wf_spmv_params){.size = sizeof s->matrix,
                                 .rows = m->rows,
                                 .columns = m->columns,
                                 .row_offsets = m->row_offsets,
                                 .column_indices = m->column_indices,
                                 .type = type};
    wfi_io_error error;
    s->matrix.values = wfi_matrix_values(m, s->name, type, &s->narrow, &error);
    return s->matrix.values ? WFI_EXIT_DONE : wfi_run_error("%s", error.text);
}

static int make_vectors(solve *s)
{
    const wf_type type = s->matrix.type;
    const size_t bytes = s->matrix.rows * wf_type_size(type);
    s->x = wfi_answer_memory(bytes);
    if (s->x && s->args->b) {
        uint64_t one = 1;
        const int code = wfi_read_vectors(s->args->b, type, s->matrix.rows, &one, &s->b_file);
        s->b = s->b_file.data;
        return code;
    }
    s->b = s->random_b = s->x ? malloc(bytes ? bytes : 1) : NULL;
    if (!s->random_b)
        return wfi_run_error("%s: out of memory", s->name);
    wfi_random_fill(s->random_b, type, s->matrix.rows, s->common->seed);
    return WFI_EXIT_DONE;
}

static int parse_precondition(const arguments *a, wf_precondition *precondition)
{
    static const char *const names[] = {"none", "jacobi", "block-jacobi"};
    size_t n = 0;
    while (n < 3 && strcmp(a->precondition ? a->precondition : "none", names[n]) != 0)
        n++;
    if (n == 3)
        return wfi_usage_error("--precondition '%s' is not none or jacobi or block-jacobi",
                               a->precondition);
    *precondition = (wf_precondition)n;
    if (a->block && *precondition != WF_PRECONDITION_BLOCK_JACOBI)
        return wfi_usage_error("--block goes with --precondition block-jacobi");
    return WFI_EXIT_DONE;
}

static int parse_tolerance(const char *text, wf_type type, double *tolerance)
{
    *tolerance = type == WF_TYPE_F32 ? 1e-6 : 1e-10;
    if (!text)
        return WFI_EXIT_DONE;
    if (!wfi_parse_number("--tolerance", text, tolerance))
        return WFI_EXIT_USAGE;
    if (!(*tolerance > 0) || *tolerance >= 1)
        return wfi_usage_error("--tolerance '%s' is not between 0 and 1", text);
    return WFI_EXIT_DONE;
}

static int parse(solve *s, wf_type *type)
{
    const arguments *a = s->args;
    uint64_t iterations = 1000, block = 0;
    double tolerance;
    wf_precondition precondition = WF_PRECONDITION_NONE;
    *type = a->mixed ? WF_TYPE_F64 : WF_TYPE_F32;
    if (a->type && !wfi_parse_type("--type", a->type, type))
        return WFI_EXIT_USAGE;
    if (*type != WF_TYPE_F32 && *type != WF_TYPE_F64)
        return wfi_usage_error("cg: --type must be f32 or f64");
    if (a->output && !wfi_path_takes_npy(a->output))
        return wfi_usage_error("cg: -o writes x.npy, not '%s'", a->output);
    if (a->iterations &&
        !wfi_parse_u64("--max-iterations", a->iterations, 1, 10000000, &iterations))
        return WFI_EXIT_USAGE;
    int code = parse_tolerance(a->tolerance, *type, &tolerance);
    if (code == WFI_EXIT_DONE)
        code = parse_precondition(a, &precondition);
    if (code != WFI_EXIT_DONE)
        return code;
    if (a->mixed && a->explain)
        return wfi_usage_error("cg: --explain looks at one type's iterations, not at --mixed");
    if (a->mixed && *type != WF_TYPE_F64)
        return wfi_usage_error("cg: --mixed takes a matrix and gives an answer in f64");
    if (a->block && !wfi_parse_u64("--block", a->block, 1, WF_CG_MOST_BLOCK, &block))
        return WFI_EXIT_USAGE;
    s->history = calloc(iterations, sizeof *s->history);
    if (!s->history)
        return wfi_run_error("cg: out of memory");
    s->params = (wf_cg_params){
        .size = sizeof s->params,
        .precondition = precondition,
        .tolerance = tolerance,
        .max_iterations = (uint32_t)iterations,
        .repeat = s->common->repeat ? s->common->repeat
                  : a->explain      ? EXPLAIN_SAMPLES
                                    : 0,
        .history = s->history,
        .block = (uint32_t)block,
        .mixed = a->mixed,
    };
    return WFI_EXIT_DONE;
}

/* ------------------------------------------------------------------------------------- progress */

/* How much of the way to the tolerance: residuals fall by about as much each iteration. */
static bool show_progress(void *user, uint32_t iterations, double residual)
{
    const solve *s = user;
    char text[128];
    const double of_iterations = (double)iterations / s->params.max_iterations;
    const double of_residual =
        residual > 0 && residual < 1 ? log(residual) / log(s->params.tolerance) : 0;
    snprintf(text, sizeof text, "cg %.60s: iteration %u, residual %.1e", s->name, iterations,
             residual);
    wfi_progress_show(s->common->quiet, fmin(fmax(of_iterations, of_residual), 1), text);
    return !wfi_interrupted();
}

/* --------------------------------------------------------------------------------------- output */

static const char *status_text(wf_cg_status status)
{
    switch (status) {
    case WF_CG_CONVERGED:
        return "converged";
    case WF_CG_MAX_ITERATIONS:
        return "the tolerance was not met within the iterations";
    case WF_CG_INDEFINITE:
        return "the matrix is not positive definite (a direction with p A p < 0)";
    case WF_CG_NOT_FINITE:
        return "the iteration overflowed";
    case WF_CG_BREAKDOWN:
        return "the matrix is singular (a direction whose p A p is 0 within rounding)";
    case WF_CG_INACCURATE:
        return "wrong: b - A x is over the tolerance by more than rounding explains (the device "
               "erred, or the matrix is too ill-conditioned for the type)";
    }
    return "?";
}

static uint32_t dispatches(const wf_cg_result *r)
{
    return r->product.dispatches + (r->fused ? 1 : 2);
}

static void fill_case(const solve *s, const wf_cg_result *r, wf_result solved, wfi_result_case *c)
{
    wfi_result_case_init(c, "cg");
    snprintf(c->name, sizeof c->name, "%s", s->title);
    wfi_result_case_fact(c, "rows", s->csr.rows);
    wfi_result_case_fact(c, "entries", s->csr.entries);
    wfi_result_case_fact(c, "tolerance", s->params.tolerance);
    c->type = wf_type_name(s->matrix.type);
    c->has_plan = r->product.variant != NULL;
    c->plan = r->product;
    wfi_result_case_extra(c, "iterations", r->iterations);
    wfi_result_case_extra(c, "us_an_iteration", r->iteration_us);
    if (r->product_us > 0)
        wfi_result_case_extra(c, "product_us", r->product_us);
    if (s->params.mixed)
        wfi_result_case_extra(c, "refinements", r->refinements);
    wfi_result_case_extra(c, "dispatches_an_iteration", dispatches(r));
    c->history = s->history;
    c->history_count = r->iterations;
    wfi_result_case_extra(c, "residual", r->residual);
    wfi_result_case_extra(c, "true_residual", r->true_residual);
    if (solved == WF_ERROR_CANCELLED)
        wfi_case_fail_text(c, WFI_STATUS_CANCELLED, "interrupted after %u iterations",
                           r->iterations);
    else if (r->status != WF_CG_CONVERGED)
        wfi_case_fail_text(c, WFI_STATUS_FAILED, "cg %s: %s", c->name, status_text(r->status));
}

static void print(const wfi_session *session, const solve *s, const wf_cg_result *r,
                  const wfi_result_case *c, wf_result solved)
{
    char text[32];
    wfi_device_print(session);
    wfi_line(WFI_LABEL_COLUMNS, "problem   %s, %u rows, %u entries, %s", s->title, s->csr.rows,
             s->csr.entries, wf_type_name(s->matrix.type));
    if (r->product.variant) /* where b is not 0 */
        printf("product   %s (%s)\n", r->product.variant, r->product.chosen_by);
    wfi_line(WFI_LABEL_COLUMNS, "result    %s after %u iteration%s",
             solved == WF_ERROR_CANCELLED ? "interrupted" : status_text(r->status), r->iterations,
             r->iterations == 1 ? "" : "s");
    printf("residual  %.3e; b - A x in f64: %.3e\n", r->residual, r->true_residual);
    if (r->status == WF_CG_CONVERGED && r->true_residual > s->params.tolerance)
        wfi_line(WFI_LABEL_COLUMNS,
                 "note      b - A x is over the tolerance of %g: more than rounding in %s lets the "
                 "iteration see%s",
                 s->params.tolerance, s->matrix.type == WF_TYPE_F32 ? "f32" : "f64",
                 s->matrix.type == WF_TYPE_F32 ? " (--mixed or --type f64 gets there)" : "");
    if (s->params.mixed)
        printf("refined   %u times\n", r->refinements);
    wfi_format_time(r->iteration_us, text, sizeof text);
    if (r->iterations)
        printf("time      %s an iteration of %u dispatches (%s clock)\n", text, dispatches(r),
               r->gpu_clock ? "device" : "host");
    wfi_format_time(r->product_us, text, sizeof text);
    if (r->product_us > 0)
        printf("product   %s alone\n", text);
    wfi_case_print_solves(c);
}

/* The same solve from host memory to host memory again and again. */
static wf_result time_solves(wfi_session *session, solve *s, wfi_result_case *c)
{
    wf_result result = WF_SUCCESS;
    wf_cg_result again;
    wf_cg_params params = s->params;
    params.history = NULL;
    params.repeat = 0;
    wfi_stage_begin(s->common->quiet, WFI_STAGE_TIME, "cg: solving again");
    while (result == WF_SUCCESS && wfi_case_next_solve(session, c)) {
        result = wf_cg_solve(session->device, &params, s->b, s->x, &again);
        wfi_case_add_solve(&s->stages, c);
    }
    wfi_stage_end(s->common->quiet);
    return result;
}

/* How the matrix is named on the command line of another command. */
static void other_command(const solve *s, char *text, size_t bytes)
{
    const arguments *a = s->args;
    const char *type = s->matrix.type == WF_TYPE_F64 ? " --type f64" : "";
    if (a->poisson27 || a->poisson5)
        snprintf(text, bytes, "wavefit explain spmv --generate %s:%s%s",
                 a->poisson27 ? "poisson27" : "poisson5", a->poisson27 ? a->poisson27 : a->poisson5,
                 type);
    else
        snprintf(text, bytes, "wavefit explain spmv --matrix %s%s", s->name, type);
}

/* matvec, dot and waxpby, as the parts of an iteration are known. What the first two do not take is
 * the third's. */
static void explain(wfi_session *session, solve *s, const wf_cg_result *r, wfi_result_case *c)
{
    static char command[240];
    const double vector = (double)s->csr.rows * (double)wf_type_size(s->matrix.type);
    const bool preconditioned = s->params.precondition != WF_PRECONDITION_NONE;
    const double rest = fmax(r->iteration_us - r->product_us - r->dot_us, 0);
    other_command(s, command, sizeof command);
    s->parts = (wfi_solver_explain){
        .iteration_us = r->iteration_us,
        .dispatches = dispatches(r),
        .count = 3,
        .parts = {{"matvec", "w = A u", r->product_us, r->product.least_bytes},
                  {"dot", r->fused ? "u w, which the matvec leaves" : "u w", r->dot_us,
                   r->fused ? 0 : 2 * vector},
                  /* Reads r, p, s, w and writes p, s, r; x is read and written every second
                   * time. */
                  {"waxpby", "p, s, r, x, the sums r r and r u, and waits", rest,
                   (preconditioned ? 11 : 8) * vector}},
        .largest_text = "the product with the matrix, which explain looks at by itself",
        .largest_command = command};
    if (r->fused)
        s->parts.parts[1].us = 0;
    wfi_result_case_extra(c, "dot_us", r->dot_us);
    wfi_explain_solver(session, &s->parts, c);
}

/* An x that is short of the tolerance is worth keeping: the solve may have been near its end, and
 * this x is where to look. One that is of no use is not written. */
static bool is_worth_writing(wf_result solved, wf_cg_status status)
{
    return solved == WF_ERROR_CANCELLED || status == WF_CG_CONVERGED ||
           status == WF_CG_MAX_ITERATIONS;
}

/* Writes x in the shape that b had. */
static int write_solution(const solve *s, const wf_cg_result *r, wf_result solved)
{
    uint64_t shape[2];
    wfi_io_error error;
    const char *path = s->args->output;
    const uint32_t dimensions = wfi_vectors_shape(&s->b_file, s->matrix.rows, 1, shape);
    if (!path || !is_worth_writing(solved, r->status))
        return WFI_EXIT_DONE;
    if (!wfi_npy_write(path, s->matrix.type, dimensions, shape, s->x, &error))
        return wfi_run_error("%s", error.text);
    if ((solved == WF_ERROR_CANCELLED || r->status != WF_CG_CONVERGED) &&
        !wfi_json_on_stdout(s->common))
        wfi_line(WFI_LABEL_COLUMNS, "written   %s: x after %u iterations, short of the tolerance",
                 path, r->iterations);
    return WFI_EXIT_DONE;
}

/* The options were looked at before: what is wrong now is in the matrix or in b, where a file's
 * element can be named. */
static int refuse(wfi_session *session, const solve *s)
{
    for (uint32_t i = 0; s->args->b && i < s->matrix.rows; i++) {
        const double value = wf_element_get(s->matrix.type, s->b, i);
        if (!isfinite(value))
            return wfi_run_error("%s: element %u of b is %g", s->args->b, i, value);
    }
    wfi_session_error(session, WF_ERROR_INVALID_ARGUMENT);
    return WFI_EXIT_FAILED;
}

static int run(solve *s, int argc, char **argv)
{
    static wfi_result_case c;
    wfi_session session;
    wf_cg_result result = {0};
    int written = WFI_EXIT_DONE;
    int code = wfi_session_open(&session, s->common);
    if (code != WFI_EXIT_DONE)
        return code;
    s->matrix.tuning = &session.tuning;
    s->params.matrix = &s->matrix;
    s->params.progress = show_progress;
    s->params.user = s;
    s->params.stages = &s->stages;
    /* What the solve's own stages leave of it: measuring the product, if that is asked for. */
    const wfi_stage stage = s->params.repeat ? WFI_STAGE_TIME : WFI_STAGE_ANALYSIS;
    wfi_stage_begin(s->common->quiet, stage, "cg: planning");
    wf_result solved = wf_cg_solve(session.device, &s->params, s->b, s->x, &result);
    wfi_stages_note(&s->stages);
    const bool ran = solved == WF_SUCCESS || solved == WF_ERROR_CANCELLED;
    wfi_stage_end(s->common->quiet);
    if (ran) {
        fill_case(s, &result, solved, &c);
        if (s->args->time && solved == WF_SUCCESS && c.status == WFI_STATUS_OK)
            solved = time_solves(&session, s, &c);
        if (!wfi_json_on_stdout(s->common))
            print(&session, s, &result, &c, solved);
        if (s->args->explain && solved == WF_SUCCESS && result.iteration_us > 0)
            explain(&session, s, &result, &c);
        wfi_stage_begin(s->common->quiet, WFI_STAGE_WRITE, "writing the solution");
        written = write_solution(s, &result, solved);
        code = wfi_case_exit(&c, solved);
        code = code != WFI_EXIT_DONE ? code : written;
    } else {
        code = solved == WF_ERROR_INVALID_ARGUMENT ? refuse(&session, s)
                                                   : wfi_session_error(&session, solved);
    }
    if (ran) {
        wfi_stages_finish(s->common, &c);
        written = wfi_session_write(&session, argc, argv, &c, 1);
        code = code != WFI_EXIT_DONE ? code : written;
    }
    s->matrix.tuning = NULL;
    s->params.user = s->params.stages = NULL;
    wfi_session_close(&session);
    return code;
}

int wfi_tool_cg(int argc, char **argv)
{
    arguments args = {0};
    const wfi_option options[] = {
        {"--poisson27", "N", &args.poisson27, NULL, "the 27-point Poisson matrix of N^3 cells"},
        {"--poisson5", "N", &args.poisson5, NULL, "the 5-point Poisson matrix of N^2 cells"},
        {"--generate", "KIND:N", &args.matrix.generate, NULL,
         "a matrix that `wavefit spmv` can make; it must be positive definite"},
        {"--matrix", "FILE|KIND:N", &args.matrix.matrix, NULL, "a file, or one that can be made"},
        {"--type", "f32|f64", &args.type, NULL, "element type (default f32)"},
        {"--tolerance", "T", &args.tolerance, NULL,
         "the |r| / |b| to reach (default 1e-6; f64: 1e-10)"},
        {"--max-iterations", "N", &args.iterations, NULL, "give up after N (default 1000)"},
        {"--precondition", "none|jacobi|block-jacobi", &args.precondition, NULL, "default none"},
        {"--block", "N", &args.block, NULL, "side of block-jacobi's blocks (default 4)"},
        {"--mixed", NULL, NULL, &args.mixed, "iterate in f32, refine the answer to f64's accuracy"},
        {"--explain", NULL, NULL, &args.explain, "tell the parts of an iteration"},
        {"-b", "b.npy", &args.b, NULL, "the right-hand side (default: random)"},
        {"--b", "b.npy", &args.b, NULL, "the same"},
        {"--time", NULL, NULL, &args.time, "solve several times and time each as a whole"},
        {"-o", "x.npy", &args.output, NULL,
         "write the solution, or what there is of it when the iterations end"},
    };
    const wfi_command command = {
        "cg",
        "MATRIX.mtx[.gz] | --generate KIND:N | --poisson27 N | --poisson5 N",
        "Solves A x = b, A symmetric positive definite, by conjugate gradients.",
        0,
        1,
        options,
        WFI_COUNT(options)};
    wfi_common common;
    wf_type type;
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    solve s = {.args = &args, .common = &common, .stages = {.size = sizeof s.stages}};
    code = parse(&s, &type);
    if (code == WFI_EXIT_DONE)
        code = read_matrix(&s, type);
    wfi_stage_begin(common.quiet, WFI_STAGE_READ, "making the vectors");
    if (code == WFI_EXIT_DONE)
        code = convert_values(&s, type);
    if (code == WFI_EXIT_DONE)
        code = make_vectors(&s);
    wfi_stage_end(common.quiet);
    if (code == WFI_EXIT_DONE)
        code = run(&s, argc, argv);
    free_solve(&s);
    return code;
}
