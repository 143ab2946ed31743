/* wavefit laplace on many ranks: a solve, how it converged and where its time went. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance.h"
#include "commands.h"
#include "io/atomic_file.h"
#include "laplace_keep.h"
#include "timeline.h"
#include "tool/cases/case_parts.h"
#include "tool/cases/laplace_options.h"
#include "tool/cli/console.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"

typedef struct arguments {
    wfi_laplace_arguments problem;
    const char *checkpoint, *every, *from;
} arguments;

typedef struct run {
    wfi_rank *rank;
    const arguments *args;
    wf_laplace_params params;
    wfi_shares shares;
    wfi_npy border;
    void *whole, *made; /* rank 0: the field, and it where no file has it */
    void *own;
    double *history; /* rank 0 */
    wf_mpi_laplace *laplace;
    wf_mpi_laplace_result result;
    wfi_laplace_keep keep;
    wfi_timeline timeline;
    wfi_result_case *out;
} run;

/* --------------------------------------------------------------------------------------- output */

static double cells(const run *r)
{
    return (r->params.nx - 2.0) * (r->params.ny - 2.0);
}

static uint32_t made_here(const run *r)
{
    return r->result.iterations - r->keep.state.iterations;
}

static double us_an_iteration(const run *r)
{
    return made_here(r) ? r->result.seconds / made_here(r) * 1e6 : 0;
}

static void name_case(const run *r)
{
    wfi_result_case *c = r->out;
    wfi_result_case_init(c, "laplace");
    snprintf(c->name, sizeof c->name, "%s %ux%u", wfi_laplace_method_text(&r->params), r->params.nx,
             r->params.ny);
    wfi_result_case_fact(c, "nx", r->params.nx);
    wfi_result_case_fact(c, "ny", r->params.ny);
    wfi_result_case_fact(c, "ranks", r->rank->count);
    c->type = wf_type_name(r->params.type);
}

static void fill_case(run *r)
{
    const wf_mpi_laplace_result *found = &r->result;
    const wf_mpi_laplace_info *part = &r->keep.part;
    wfi_result_case *c = r->out;
    const double us = us_an_iteration(r);
    c->has_plan = c->plan.variant != NULL;
    if (us > 0)
        c->gbs = 2 * (double)wf_type_size(r->params.type) * cells(r) / (us * 1e3);
    wfi_result_case_extra(c, "iterations", found->iterations);
    wfi_result_case_extra(c, "check_every", part->check_every);
    wfi_result_case_extra(c, "iterations_a_pass", part->iterations);
    wfi_result_case_extra(c, "us_an_iteration", us);
    if (r->params.method == WF_LAPLACE_SOR)
        wfi_result_case_extra(c, "omega", part->omega);
    wfi_result_case_extra(c, "residual", found->residual);
    wfi_result_case_extra(c, "true_residual", found->true_residual);
    wfi_result_case_extra(c, "shared_halos", wfi_rank_sum(part->shared));
    wfi_checkpoints_add(&r->keep.checkpoints, c);
    c->history = r->history;
    c->history_count = found->checks;
    if (found->status == WF_LAPLACE_CANCELLED)
        wfi_case_fail_text(c, WFI_STATUS_CANCELLED, "interrupted after %u iterations",
                           found->iterations);
    else if (found->status != WF_LAPLACE_CONVERGED)
        wfi_case_fail_text(c, WFI_STATUS_FAILED, "laplace %s: %s", c->name,
                           wfi_laplace_status_text(found->status));
    wfi_rank_collect(r->rank, "rows", part->first_row, part->rows, &found->times, made_here(r), c);
}

static void print(const run *r)
{
    const wf_mpi_laplace_result *found = &r->result;
    const wfi_result_case *c = r->out;
    char time[32], rate[32];
    if (wfi_json_on_stdout(&r->rank->common))
        return;
    wfi_device_print(&r->rank->session);
    printf("problem   laplace %ux%u %s, %d rank%s\n", r->params.nx, r->params.ny, c->type,
           r->rank->count, r->rank->count > 1 ? "s" : "");
    printf("method    %s", wfi_laplace_method_text(&r->params));
    if (r->params.method == WF_LAPLACE_SOR)
        printf(", omega %.6g", r->keep.part.omega);
    printf(", residual every %u iterations, %u a pass\n", r->keep.part.check_every,
           r->keep.part.iterations);
    if (c->has_plan)
        wfi_plan_print(&c->plan);
    wfi_laplace_print_history(found->checks, r->keep.part.check_every, found->iterations,
                              r->history);
    wfi_line(WFI_LABEL_COLUMNS, "result    %s after %u iterations",
             wfi_laplace_status_text(found->status), found->iterations);
    printf("residual  %.3e; b - A u in long double: %.3e\n", found->residual, found->true_residual);
    if (r->args->from)
        printf("continued after %u iterations of %s\n", r->keep.state.iterations, r->args->from);
    if (made_here(r)) {
        wfi_format_time(us_an_iteration(r), time, sizeof time);
        wfi_format_rate(c->gbs, "GB/s", rate, sizeof rate);
        printf("time      %s an iteration (host clock): %.4g million cells a second, %s\n", time,
               cells(r) / us_an_iteration(r), rate);
    }
    wfi_checkpoints_print(&r->keep.checkpoints);
    wfi_rank_print(c);
    wfi_shares_print(r->rank, &r->shares);
}

static int finish(run *r, int argc, char **argv)
{
    const char *path = r->args->problem.output;
    const wfi_rank_output nothing = {.path = NULL};
    if (!r->rank->prints)
        return WFI_EXIT_DONE;
    print(r);
    const int code = path && r->result.status != WF_LAPLACE_INACCURATE
                         ? wfi_laplace_write_field(path, &r->params, r->whole)
                         : WFI_EXIT_DONE;
    const int written = wfi_rank_write(r->rank, &nothing, r->out, argc, argv);
    return code != WFI_EXIT_DONE ? code : written;
}

/* ------------------------------------------------------------------------------------------ run */

static bool go_on(void *user, uint32_t iterations, double residual)
{
    (void)user;
    (void)iterations;
    (void)residual;
    return !wfi_interrupted();
}

/* All cells 1: the solve ends at its first check. */
static void fill_trial(const run *r, uint32_t rows, void *own)
{
    const size_t cells = rows * (size_t)r->params.nx;
    for (size_t n = 0; n < cells; n++)
        if (r->params.type == WF_TYPE_F64)
            ((double *)own)[n] = 1;
        else
            ((float *)own)[n] = 1;
}

/* Rows a second that this rank's device updates while the others' work too; 0: it has none. */
static wf_result measure_speed(const run *r, wf_mpi_laplace *laplace, double *speed)
{
    wf_mpi_laplace_info part = {.size = sizeof part};
    wf_mpi_laplace_result found = {0};
    wf_result result = wf_mpi_laplace_describe(laplace, &part, NULL);
    void *own = malloc(part.rows * (size_t)r->params.nx * wf_type_size(r->params.type) + 1);
    result = wfi_rank_agree(own ? result : WF_ERROR_OUT_OF_HOST_MEMORY);
    for (int n = 0; n < 2 && result == WF_SUCCESS; n++) {
        fill_trial(r, part.rows, own);
        result = wf_mpi_laplace_solve(laplace, NULL, own, &found);
    }
    if (result == WF_SUCCESS && found.times.inside > 0)
        *speed = part.rows / found.times.inside;
    free(own);
    return result;
}

/* Makes a few iterations of equal shares. */
static wf_result balance(run *r)
{
    wfi_rank *rank = r->rank;
    wf_laplace_params grid = r->params;
    grid.check_every = grid.max_iterations = WFI_BALANCE_ITERATIONS;
    grid.history = NULL;
    const wf_mpi_laplace_params params = {
        .size = sizeof params, .grid = &grid, .log = wfi_rank_log, .log_user = &rank->session};
    wf_mpi_laplace *laplace = NULL;
    double speed = 0;
    wf_result result =
        wf_mpi_laplace_create(MPI_COMM_WORLD, rank->session.device, &params, &laplace);
    if (result == WF_SUCCESS)
        result = measure_speed(r, laplace, &speed);
    wf_mpi_laplace_destroy(&laplace);
    if (result == WF_SUCCESS)
        wfi_shares_weigh(rank, speed, &r->shares);
    return result;
}

static wf_result create(run *r)
{
    wfi_rank *rank = r->rank;
    r->params.tuning = &rank->session.tuning;
    r->params.progress = go_on;
    if (r->shares.balance) {
        const wf_result measured = balance(r);
        if (measured != WF_SUCCESS)
            return measured;
    }
    wfi_timeline_init(&r->timeline);
    const bool keeps = r->keep.checkpoints.path != NULL;
    const wf_mpi_laplace_params params = {.size = sizeof params,
                                          .grid = &r->params,
                                          .weights = r->shares.weights,
                                          .trace = &r->timeline.trace,
                                          .log = wfi_rank_log,
                                          .log_user = &rank->session,
                                          .keep = keeps ? wfi_laplace_keep_state : NULL,
                                          .keep_every = (uint32_t)r->keep.checkpoints.iterations,
                                          .keep_seconds = r->keep.checkpoints.seconds,
                                          .keep_user = &r->keep};
    wf_result result =
        wf_mpi_laplace_create(MPI_COMM_WORLD, rank->session.device, &params, &r->laplace);
    if (result != WF_SUCCESS)
        return result;
    rank->session.error[0] = '\0'; /* of choices that gave way to others */
    r->keep.part.size = sizeof r->keep.part;
    r->out->plan.size = sizeof r->out->plan;
    result = wf_mpi_laplace_describe(r->laplace, &r->keep.part, &r->out->plan);
    r->own = malloc(r->keep.part.rows * (size_t)r->params.nx * wf_type_size(r->params.type) + 1);
    if (!r->own)
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    return wfi_rank_agree(result);
}

/* What rank 0 has: the field, its checksum, and the history. */
static int make_field(run *r)
{
    if (!r->rank->prints)
        return WFI_EXIT_DONE;
    const wf_laplace_params *p = &r->params;
    r->params.history_room = wfi_laplace_most_checks(p);
    r->params.history = r->history = calloc(r->params.history_room, sizeof *r->history);
    if (!r->history)
        return wfi_run_error("laplace: out of memory");
    const int code = wfi_laplace_make_field(&r->args->problem, p, &r->border, &r->whole, &r->made);
    if (code == WFI_EXIT_DONE && (r->args->checkpoint || r->args->from))
        r->keep.sum = wfi_checkpoint_sum(r->whole, (uint64_t)p->nx * p->ny * wf_type_size(p->type));
    r->keep.history = r->history;
    r->keep.whole = r->whole;
    return code;
}

static int execute(run *r, int argc, char **argv)
{
    wfi_rank *rank = r->rank;
    wf_result result = create(r);
    if (result != WF_SUCCESS)
        return wfi_rank_failed(rank, result);
    int code = WFI_EXIT_DONE;
    if (r->args->from)
        code = wfi_laplace_keep_read(&r->keep, r->args->from, r->whole, r->history);
    if (code != WFI_EXIT_DONE)
        return code;
    wfi_laplace_scatter(&r->keep, r->whole, r->own);
    wfi_interrupted(); /* from here on Ctrl-C ends the iterations, not the program */
    result =
        wf_mpi_laplace_solve(r->laplace, r->args->from ? &r->keep.state : NULL, r->own, &r->result);
    if (r->keep.told)
        return r->keep.told;
    if (result != WF_SUCCESS && result != WF_ERROR_CANCELLED)
        return wfi_rank_failed(rank, result);
    wfi_laplace_gather(&r->keep, r->own, r->whole);
    r->keep.checkpoints.taken = r->result.keep_seconds;
    fill_case(r);
    return wfi_rank_share(finish(r, argc, argv));
}

/* -------------------------------------------------------------------------------------- options */

static int parse(const wfi_rank *rank, const arguments *a, run *r)
{
    wfi_io_error error;
    int code = wfi_laplace_parse(&a->problem, &r->params);
    if (code == WFI_EXIT_DONE && r->params.method == WF_LAPLACE_SOR &&
        (rank->common.variant || rank->common.constant_count))
        code = wfi_usage_error("laplace: --variant and --set go with --method jacobi");
    if (code == WFI_EXIT_DONE)
        code = wfi_checkpoints_parse("laplace", a->checkpoint, a->every, &r->keep.checkpoints);
    if (code == WFI_EXIT_DONE && rank->prints && a->checkpoint &&
        !wfi_atomic_check(a->checkpoint, &error))
        code = wfi_run_error("%s", error.text);
    if (code == WFI_EXIT_DONE && rank->prints)
        code = wfi_laplace_read_border(&a->problem, &r->params, &r->border);
    return code;
}

/* Rank 0 alone reads the border's file, and tells the others the grid. */
static int parse_together(const arguments *a, run *r)
{
    const wfi_rank *rank = r->rank;
    int code = wfi_rank_share(rank->prints ? parse(rank, a, r) : WFI_EXIT_DONE);
    if (code == WFI_EXIT_DONE && !rank->prints)
        code = parse(rank, a, r);
    if (code != WFI_EXIT_DONE)
        return code;
    uint32_t extents[2] = {r->params.nx, r->params.ny};
    MPI_Bcast(extents, 2, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    r->params.nx = extents[0];
    r->params.ny = extents[1];
    return WFI_EXIT_DONE;
}

static void free_run(run *r)
{
    wf_mpi_laplace_destroy(&r->laplace);
    wfi_checkpoint_free(&r->keep.before);
    wfi_npy_free(&r->border);
    wfi_shares_free(&r->shares);
    free(r->made);
    free(r->own);
    free(r->history);
}

int wfi_mpi_laplace(wfi_rank *rank, int argc, char **argv)
{
    arguments args = {0};
    static wfi_result_case result_case;
    static run r;
    r = (run){.rank = rank, .args = &args, .keep = {.rank = rank}, .out = &result_case};
    const wfi_option options[] = {
        {"--grid", "WxH", &args.problem.grid, NULL, "cells a row, rows; borders included"},
        {"--border", "FILE.npy", &args.problem.border, NULL,
         "values of the border, and where inner cells start (default: the top row 1, all else 0)"},
        {"--tolerance", "T", &args.problem.tolerance, NULL,
         "the |r| / |b| to reach (default 1e-4; f64: 1e-10)"},
        {"--method", "jacobi|sor", &args.problem.method, NULL, "default sor, in red-black order"},
        {"--omega", "W", &args.problem.omega, NULL,
         "relaxation of sor, between 0 and 2 (default: the grid's best)"},
        {"--type", "f32|f64", &args.problem.type, NULL, "element type (default f32)"},
        {"--check-every", "K", &args.problem.every, NULL,
         "iterations between two looks at the residual"},
        {"--max-iterations", "N", &args.problem.iterations, NULL,
         "give up after N (default 10 million)"},
        WFI_SHARES_OPTIONS(&r.shares, "rows"),
        {"--checkpoint", "FILE", &args.checkpoint, NULL,
         "keep in FILE what the solve has come to, in place of what was kept before"},
        {"--every", "N|Tmin|Ts", &args.every, NULL,
         "how often, in iterations, minutes or seconds (default 10min)"},
        {"--continue", "FILE", &args.from, NULL,
         "go on from a checkpoint of the same problem, on any number of ranks"},
        {"-o", "u.npy|u.png", &args.problem.output, NULL, "write the field, or a picture of it"},
    };
    const wfi_command command = {
        "laplace",
        "--grid WxH | --border FILE.npy [--weights W,W,… | --balance]",
        "Solves Laplace's equation in two dimensions with fixed borders on the devices of all "
        "ranks.",
        0,
        0,
        options,
        sizeof options / sizeof *options};
    r.keep.grid = &r.params;
    bool done = false;
    int code = wfi_rank_parse(rank, &command, argc - 2, argv + 2, &done);
    if (code != WFI_EXIT_DONE || done)
        return code;
    code = parse_together(&args, &r);
    if (code == WFI_EXIT_DONE)
        code = wfi_shares_parse(rank, "laplace", &r.shares);
    if (code != WFI_EXIT_DONE) {
        free_run(&r);
        return code;
    }
    name_case(&r);
    code = wfi_rank_share(make_field(&r));
    if (code == WFI_EXIT_DONE)
        code = wfi_rank_open(rank);
    if (code == WFI_EXIT_DONE)
        code = execute(&r, argc, argv);
    free_run(&r);
    wfi_rank_close(rank);
    return code;
}
