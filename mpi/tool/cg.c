/* wavefit cg on many ranks: a solve, its residuals and where its time went. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cg_form.h"
#include "cg_keep.h"
#include "commands.h"
#include "io/atomic_file.h"
#include "sparse.h"
#include "timeline.h"
#include "tool/cases/case_parts.h"
#include "tool/cli/console.h"
#include "tool/cli/path.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"

typedef struct arguments {
    const char *type, *poisson27, *poisson5, *tolerance, *iterations, *precondition, *b, *output,
        *checkpoint, *every, *from, *form, *text;
    char made[64];
    wfi_matrix_name name;
    wf_type real;
} arguments;

typedef struct run {
    wfi_rank *rank;
    const arguments *args;
    wfi_rank_matrix matrix;
    wf_mpi_cg_params params;
    wfi_cg_form form;
    wfi_shares shares;
    double *history;
    void *whole_b, *own_b, *whole_x, *own_x;
    wf_mpi_cg_result result;
    wfi_timeline timeline;
    wfi_cg_keep keep;
    wfi_result_case *out;
} run;

static const char *status_text(wf_cg_status status)
{
    static const char *const texts[] = {
        [WF_CG_CONVERGED] = "converged",
        [WF_CG_MAX_ITERATIONS] = "the tolerance was not met within the iterations",
        [WF_CG_INDEFINITE] = "the matrix is not positive definite (a direction with p A p < 0)",
        [WF_CG_NOT_FINITE] = "the iteration overflowed",
        [WF_CG_BREAKDOWN] = "the matrix is singular (a direction whose p A p is 0 within rounding)",
        [WF_CG_INACCURATE] = "wrong: b - A x is over the tolerance by more than rounding explains",
    };
    return (size_t)status < sizeof texts / sizeof *texts ? texts[status] : "?";
}

static bool go_on(void *user, uint32_t iterations, double residual)
{
    (void)user;
    (void)iterations;
    (void)residual;
    return !wfi_interrupted();
}

static void fill_case(run *r)
{
    wfi_result_case *c = r->out;
    const wf_mpi_cg_result *found = &r->result;
    const uint32_t made = found->iterations - r->keep.state.iterations;
    const double each = made ? found->seconds / made * 1e6 : 0;
    wfi_result_case_init(c, "cg");
    snprintf(c->name, sizeof c->name, "%s", r->matrix.name);
    wfi_result_case_fact(c, "rows", r->matrix.params.rows);
    wfi_result_case_fact(c, "entries", r->matrix.entries);
    wfi_result_case_fact(c, "tolerance", r->params.tolerance);
    wfi_result_case_fact(c, "ranks", r->rank->count);
    wfi_result_case_fact(c, "pipelined", r->params.pipelined);
    c->type = wf_type_name(r->args->real);
    c->has_plan = found->product.variant != NULL;
    c->plan = found->product;
    wfi_result_case_extra(c, "iterations", found->iterations);
    wfi_result_case_extra(c, "us_an_iteration", each);
    wfi_result_case_extra(c, "seconds", found->seconds);
    wfi_result_case_extra(c, "residual", found->residual);
    wfi_result_case_extra(c, "true_residual", found->true_residual);
    wfi_result_case_extra(c, "shared_halos", wfi_rank_sum(found->part.shared));
    wfi_checkpoints_add(&r->keep.checkpoints, c);
    c->history = r->history;
    c->history_count = found->iterations;
    if (found->status != WF_CG_CONVERGED)
        wfi_case_fail_text(c, WFI_STATUS_FAILED, "cg %s: %s", c->name, status_text(found->status));
    wfi_rank_collect(r->rank, "rows", found->part.first_row, found->part.rows, &found->times, made,
                     c);
}

static void print(const run *r)
{
    const wf_mpi_cg_result *found = &r->result;
    char text[32];
    if (wfi_json_on_stdout(&r->rank->common))
        return;
    wfi_device_print(&r->rank->session);
    wfi_line(WFI_LABEL_COLUMNS, "problem   %s, %u rows, %u entries, %s, %d rank%s", r->matrix.name,
             r->matrix.params.rows, r->matrix.entries, wf_type_name(r->args->real), r->rank->count,
             r->rank->count > 1 ? "s" : "");
    if (found->product.variant)
        printf("product   %s (%s)\n", found->product.variant, found->product.chosen_by);
    wfi_line(WFI_LABEL_COLUMNS, "result    %s after %u iteration%s", status_text(found->status),
             found->iterations, found->iterations == 1 ? "" : "s");
    printf("residual  %.3e; b - A x in f64: %.3e\n", found->residual, found->true_residual);
    wfi_cg_form_print(&r->form);
    if (r->args->from)
        printf("continued after %u iterations of %s\n", r->keep.state.iterations, r->args->from);
    const uint32_t made = found->iterations - r->keep.state.iterations;
    if (made) {
        wfi_format_time(found->seconds / made * 1e6, text, sizeof text);
        printf("time      %s an iteration (host clock)\n", text);
    }
    wfi_checkpoints_print(&r->keep.checkpoints);
    wfi_rank_print(r->out);
    wfi_shares_print(r->rank, &r->shares);
}

static int finish(run *r, int argc, char **argv)
{
    const wf_cg_status status = r->result.status;
    const bool worth = status == WF_CG_CONVERGED || status == WF_CG_MAX_ITERATIONS;
    const wfi_rank_output output = {worth ? r->args->output : NULL, r->args->real,
                                    r->matrix.params.rows, r->whole_x};
    if (!r->rank->prints)
        return WFI_EXIT_DONE;
    print(r);
    return wfi_rank_write(r->rank, &output, r->out, argc, argv);
}

static int execute(run *r, int argc, char **argv)
{
    wfi_rank *rank = r->rank;
    wfi_rank_matrix_use(rank, &r->matrix);
    r->params.matrix = &r->matrix.params;
    r->params.progress = go_on;
    r->params.warm_seconds = wfi_rank_warm_seconds(rank);
    wfi_timeline_init(&r->timeline);
    r->params.trace = &r->timeline.trace;
    wf_result result = wfi_cg_form_measure(rank, &r->params, r->own_b, r->own_x, &r->form);
    r->params.pipelined = r->form.pipelined;
    if (result == WF_SUCCESS)
        result = wf_mpi_cg_solve(MPI_COMM_WORLD, rank->session.device, &r->params, r->own_b,
                                 r->own_x, &r->result);
    if (r->keep.told)
        return r->keep.told;
    if (result != WF_SUCCESS) {
        const int code = wfi_rank_failed(rank, result);
        /* The options were looked at before: what is wrong now is in the matrix or in b. */
        return result == WF_ERROR_INVALID_ARGUMENT ? WFI_EXIT_FAILED : code;
    }
    if (r->args->output)
        wfi_rank_gather(rank, r->matrix.first_row, r->args->real, r->own_x, r->whole_x);
    r->keep.checkpoints.taken = r->result.keep_seconds;
    fill_case(r);
    return wfi_rank_share(finish(r, argc, argv));
}

/* -------------------------------------------------------------------------------------- options */

/* --poisson27 N is --generate poisson27:N. */
static int parse_matrix(const wfi_rank *rank, arguments *a)
{
    wfi_matrix_name name = a->name;
    name.positional = rank->common.positional_count ? rank->common.positional[0] : NULL;
    if (a->poisson27 && a->poisson5)
        return wfi_usage_error("cg: give one of --poisson27 and --poisson5");
    if ((a->poisson27 || a->poisson5) && name.generate)
        return wfi_usage_error("cg: give one of --generate and --poisson%s",
                               a->poisson27 ? "27" : "5");
    if (a->poisson27 || a->poisson5) {
        snprintf(a->made, sizeof a->made, "poisson%s:%.40s", a->poisson27 ? "27" : "5",
                 a->poisson27 ? a->poisson27 : a->poisson5);
        name.generate = a->made;
    }
    if (wfi_matrix_name_one("cg", &name, &a->text) != WFI_EXIT_DONE)
        return WFI_EXIT_USAGE;
    return a->text ? WFI_EXIT_DONE
                   : wfi_usage_error("cg: give one of MATRIX.mtx, --generate KIND:N, --poisson27 "
                                     "N, --poisson5 N");
}

static int parse(const wfi_rank *rank, arguments *a, wf_mpi_cg_params *p)
{
    uint64_t iterations = 1000;
    const char *m = a->precondition ? a->precondition : "none";
    a->real = WF_TYPE_F32;
    if (a->type && !wfi_parse_type("--type", a->type, &a->real))
        return WFI_EXIT_USAGE;
    if (a->real != WF_TYPE_F32 && a->real != WF_TYPE_F64)
        return wfi_usage_error("cg: --type must be f32 or f64");
    if (a->output && !wfi_path_takes_npy(a->output))
        return wfi_usage_error("cg: -o writes x.npy, not '%s'", a->output);
    if (a->iterations &&
        !wfi_parse_u64("--max-iterations", a->iterations, 1, 10000000, &iterations))
        return WFI_EXIT_USAGE;
    double tolerance = a->real == WF_TYPE_F32 ? 1e-6 : 1e-10;
    if (a->tolerance && !wfi_parse_number("--tolerance", a->tolerance, &tolerance))
        return WFI_EXIT_USAGE;
    if (!(tolerance > 0) || tolerance >= 1)
        return wfi_usage_error("--tolerance '%s' is not between 0 and 1", a->tolerance);
    if (strcmp(m, "none") != 0 && strcmp(m, "jacobi") != 0)
        return wfi_usage_error("--precondition '%s' is not none or jacobi, which many ranks have",
                               m);
    *p = (wf_mpi_cg_params){.size = sizeof *p,
                            .precondition = strcmp(m, "jacobi") == 0 ? WF_PRECONDITION_JACOBI
                                                                     : WF_PRECONDITION_NONE,
                            .tolerance = tolerance,
                            .max_iterations = (uint32_t)iterations};
    return parse_matrix(rank, a);
}

/* Vectors, of which each rank has those of its rows. */
static int prepare(run *r)
{
    wfi_rank *rank = r->rank;
    const wf_type type = r->args->real;
    int code = wfi_rank_vector(rank, r->args->b, r->matrix.first_row, type, &r->whole_b, &r->own_b);
    if (code != WFI_EXIT_DONE)
        return code;
    const size_t real = wf_type_size(type);
    r->own_x = malloc(r->matrix.params.own_rows * real + 1);
    r->whole_x = rank->prints ? malloc(r->matrix.params.rows * real + 1) : NULL;
    r->history = rank->prints ? calloc(r->params.max_iterations, sizeof *r->history) : NULL;
    r->params.history = r->history;
    const bool ok = r->own_x && (!rank->prints || (r->whole_x && r->history));
    code = wfi_rank_worst(ok ? WFI_EXIT_DONE : WFI_EXIT_FAILED);
    if (code != WFI_EXIT_DONE)
        return rank->prints ? wfi_run_error("cg: out of memory") : code;
    r->keep.matrix = &r->matrix;
    if (rank->prints && (r->args->checkpoint || r->args->from)) {
        r->keep.values_sum =
            wfi_checkpoint_sum(r->matrix.whole_values, r->matrix.entries * (uint64_t)real);
        r->keep.columns_sum =
            wfi_checkpoint_sum(r->matrix.whole.column_indices, r->matrix.entries * UINT64_C(4));
    }
    r->keep.precondition = r->params.precondition;
    r->keep.whole_b = r->whole_b;
    r->keep.history = r->history;
    wfi_cg_keep_ask(&r->keep, &r->params);
    return r->args->from ? wfi_cg_keep_read(&r->keep, r->args->from, &r->params, r->history)
                         : WFI_EXIT_DONE;
}

static int parse_keep(const wfi_rank *rank, const arguments *a, run *r)
{
    wfi_io_error error;
    int code = wfi_cg_form_parse(a->form, &r->form);
    if (code == WFI_EXIT_DONE && (r->form.pipelined || r->form.measured) &&
        (a->checkpoint || a->from))
        code = wfi_usage_error("cg: --form %s has no checkpoints", a->form);
    if (code == WFI_EXIT_DONE)
        code = wfi_checkpoints_parse("cg", a->checkpoint, a->every, &r->keep.checkpoints);
    if (code == WFI_EXIT_DONE && rank->prints && a->checkpoint &&
        !wfi_atomic_check(a->checkpoint, &error))
        return wfi_run_error("%s", error.text);
    return code;
}

static int parse_all(const wfi_rank *rank, arguments *args, run *r)
{
    const int code = parse(rank, args, &r->params);
    return code == WFI_EXIT_DONE ? parse_keep(rank, args, r) : code;
}

static int parse_together(const wfi_rank *rank, arguments *args, run *r)
{
    const int code = wfi_rank_share(rank->prints ? parse_all(rank, args, r) : WFI_EXIT_DONE);
    return code == WFI_EXIT_DONE && !rank->prints ? parse_all(rank, args, r) : code;
}

static void free_run(run *r)
{
    wfi_rank_matrix_free(&r->matrix);
    free(r->history);
    wfi_cg_keep_free(&r->keep);
    free(r->whole_b);
    free(r->own_b);
    free(r->whole_x);
    free(r->own_x);
}

int wfi_mpi_cg(wfi_rank *rank, int argc, char **argv)
{
    arguments args = {0};
    static wfi_result_case result_case;
    run r = {.rank = rank, .args = &args, .keep = {.rank = rank}, .out = &result_case};
    const wfi_option options[] = {
        {"--poisson27", "N", &args.poisson27, NULL, "the 27-point Poisson matrix of N^3 cells"},
        {"--poisson5", "N", &args.poisson5, NULL, "the 5-point Poisson matrix of N^2 cells"},
        {"--generate", "KIND:N", &args.name.generate, NULL,
         "a matrix that `wavefit spmv` can make; it must be positive definite"},
        {"--matrix", "FILE|KIND:N", &args.name.matrix, NULL, "a file, or one that can be made"},
        {"--type", "f32|f64", &args.type, NULL, "element type (default f32)"},
        {"--tolerance", "T", &args.tolerance, NULL,
         "the |r| / |b| to reach (default 1e-6; f64: 1e-10)"},
        {"--max-iterations", "N", &args.iterations, NULL, "give up after N (default 1000)"},
        {"--precondition", "none|jacobi", &args.precondition, NULL, "default none"},
        {"--form", "plain|pipelined|auto", &args.form, NULL,
         "pipelined: add dot products up while the next product is made; auto: the faster one of a "
         "trial (default plain)"},
        WFI_SHARES_OPTIONS(&r.shares, "entries"),
        {"--checkpoint", "FILE", &args.checkpoint, NULL,
         "keep in FILE what the solve has come to, in place of what was kept before"},
        {"--every", "N|Tmin|Ts", &args.every, NULL,
         "how often, in iterations, minutes or seconds (default 10min)"},
        {"--continue", "FILE", &args.from, NULL,
         "go on from a checkpoint of the same system, on any number of ranks"},
        {"-b", "b.npy", &args.b, NULL, "the right-hand side (default: random)"},
        {"-o", "x.npy", &args.output, NULL, "write the solution"},
    };
    const wfi_command command = {
        "cg",
        "MATRIX.mtx[.gz] | --generate KIND:N | --poisson27 N | --poisson5 N",
        "Solves A x = b, A symmetric positive definite, by conjugate gradients on the devices of "
        "all ranks.",
        0,
        1,
        options,
        sizeof options / sizeof *options};
    bool done = false;
    int code = wfi_rank_parse(rank, &command, argc - 2, argv + 2, &done);
    if (code != WFI_EXIT_DONE || done)
        return code;
    code = parse_together(rank, &args, &r);
    if (code == WFI_EXIT_DONE)
        code = wfi_shares_parse(rank, "cg", &r.shares);
    if (code != WFI_EXIT_DONE)
        return code;
    code = wfi_rank_matrix_get(rank, args.text, args.real, true,
                               r.shares.balance ? NULL : r.shares.weights, &r.matrix);
    if (code == WFI_EXIT_DONE)
        code = wfi_rank_open(rank);
    if (code == WFI_EXIT_DONE)
        code = wfi_rank_matrix_balance(rank, &r.shares, &r.matrix);
    if (code == WFI_EXIT_DONE)
        code = prepare(&r);
    if (code == WFI_EXIT_DONE)
        code = execute(&r, argc, argv);
    wfi_rank_close(rank);
    free_run(&r);
    wfi_shares_free(&r.shares);
    return code;
}
