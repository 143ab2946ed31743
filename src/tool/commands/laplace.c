/* wavefit laplace: solves Laplace's equation in two dimensions, shows how it converges, writes the
 * field. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/cases/case_parts.h"
#include "tool/cases/laplace_options.h"
#include "tool/commands/commands.h"
#include "tool/commands/explain_solver.h"
#include "tool/cli/console.h"
#include "tool/cli/progress.h"
#include "tool/cli/stages.h"
#include "tool/cli/session.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"

#define DEFAULT_GRID "256x256" /* of explain, as of the ladder */

typedef struct arguments {
    wfi_laplace_arguments problem;
    bool explain, time;
} arguments;

typedef struct solve {
    const arguments *args;
    const wfi_common *common;
    wf_laplace_params params;
    wf_laplace_result result;
    wfi_npy border;
    double *history;
    void *u;     /* of the border's file, or */
    void *made;  /* without one, malloc'ed */
    void *start; /* u before the solve, where it is solved again */
    wf_solve_stages stages;
    wfi_solver_explain parts;
} solve;

static void free_solve(solve *s)
{
    wfi_npy_free(&s->border);
    free(s->history);
    free(s->made);
    free(s->start);
}

/* ---------------------------------------------------------------------------------------- input */

static int parse(solve *s)
{
    wf_laplace_params *p = &s->params;
    int code = wfi_laplace_parse(&s->args->problem, p);
    if (code == WFI_EXIT_DONE && p->method == WF_LAPLACE_SOR &&
        (s->common->variant || s->common->constant_count))
        code = wfi_usage_error("laplace: --variant and --set go with --method jacobi");
    return code == WFI_EXIT_DONE ? wfi_laplace_read_border(&s->args->problem, p, &s->border) : code;
}

static int make_field(solve *s)
{
    s->params.history_room = wfi_laplace_most_checks(&s->params);
    s->params.history = s->history = calloc(s->params.history_room, sizeof *s->history);
    if (!s->history)
        return wfi_run_error("laplace: out of memory");
    return wfi_laplace_make_field(&s->args->problem, &s->params, &s->border, &s->u, &s->made);
}

/* --------------------------------------------------------------------------------------- output */

static double cells(const solve *s)
{
    return (s->params.nx - 2.0) * (s->params.ny - 2.0);
}

static void name_case(const solve *s, wfi_result_case *c)
{
    wfi_result_case_init(c, "laplace");
    snprintf(c->name, sizeof c->name, "%s %ux%u", wfi_laplace_method_text(&s->params), s->params.nx,
             s->params.ny);
    wfi_result_case_fact(c, "nx", s->params.nx);
    wfi_result_case_fact(c, "ny", s->params.ny);
    c->type = wf_type_name(s->params.type);
}

static void fill_case(const solve *s, wfi_result_case *c)
{
    const wf_laplace_result *r = &s->result;
    c->has_plan = r->stencil.variant != NULL;
    c->plan = r->stencil;
    if (r->iteration_us > 0)
        c->gbs = 2 * (double)wf_type_size(s->params.type) * cells(s) / (r->iteration_us * 1e3);
    wfi_result_case_extra(c, "iterations", r->iterations);
    wfi_result_case_extra(c, "check_every", r->check_every);
    wfi_result_case_extra(c, "us_an_iteration", r->iteration_us);
    if (s->params.method == WF_LAPLACE_SOR)
        wfi_result_case_extra(c, "omega", r->omega);
    wfi_result_case_extra(c, "residual", r->residual);
    wfi_result_case_extra(c, "true_residual", r->true_residual);
    c->history = s->history;
    c->history_count = r->checks;
    if (r->status == WF_LAPLACE_CANCELLED)
        wfi_case_fail_text(c, WFI_STATUS_CANCELLED, "interrupted after %u iterations",
                           r->iterations);
    else if (r->status != WF_LAPLACE_CONVERGED)
        wfi_case_fail_text(c, WFI_STATUS_FAILED, "laplace %s: %s", c->name,
                           wfi_laplace_status_text(r->status));
}

static void print(const wfi_session *session, const solve *s, const wfi_result_case *c)
{
    const wf_laplace_result *r = &s->result;
    char time[32], rate[32];
    wfi_device_print(session);
    printf("problem   laplace %ux%u %s\n", s->params.nx, s->params.ny, c->type);
    printf("method    %s", wfi_laplace_method_text(&s->params));
    if (s->params.method == WF_LAPLACE_SOR)
        printf(", omega %.6g", r->omega);
    printf(", residual every %u iterations\n", r->check_every);
    if (c->has_plan)
        wfi_plan_print(&c->plan);
    wfi_laplace_print_history(r->checks, r->check_every, r->iterations, s->history);
    wfi_line(WFI_LABEL_COLUMNS, "result    %s after %u iterations",
             wfi_laplace_status_text(r->status), r->iterations);
    printf("residual  %.3e; b - A u in long double: %.3e\n", r->residual, r->true_residual);
    if (!(r->iteration_us > 0))
        return;
    wfi_format_time(r->iteration_us, time, sizeof time);
    wfi_format_rate(c->gbs, "GB/s", rate, sizeof rate);
    wfi_line(WFI_LABEL_COLUMNS,
             "time      %s an iteration (%s clock): %.4g million cells a second, %s", time,
             r->gpu_clock ? "device" : "host", cells(s) / r->iteration_us, rate);
    wfi_case_print_solves(c);
}

static int write_field(const solve *s)
{
    const char *path = s->args->problem.output;
    return path && s->result.status != WF_LAPLACE_INACCURATE
               ? wfi_laplace_write_field(path, &s->params, s->u)
               : WFI_EXIT_DONE;
}

/* ------------------------------------------------------------------------------------------ run */

static bool show(void *user, uint32_t iterations, double residual)
{
    const solve *s = user;
    const double tolerance = s->params.tolerance > 0         ? s->params.tolerance
                             : s->params.type == WF_TYPE_F64 ? 1e-10
                                                             : 1e-4;
    char text[80];
    snprintf(text, sizeof text, "iteration %u, residual %.2e", iterations, residual);
    wfi_progress_show(s->common->quiet, fmin(fmax(log(residual) / log(tolerance), 0), 1), text);
    return !wfi_interrupted();
}

#define SELDOM 4 /* times as many iterations between two checks in the run that is compared with */
#define MOST_EVERY 4096

/* Microseconds of one check, by a run of as many iterations that checks seldom; 0: the two could
 * not be told apart. */
static double check_us(wfi_session *session, const solve *s)
{
    const wf_laplace_result *r = &s->result;
    const uint32_t every = r->check_every,
                   seldom = every < MOST_EVERY / SELDOM ? every * SELDOM : MOST_EVERY;
    solve other = *s;
    double us = 0;
    other.u = NULL;
    other.history = NULL;
    other.params.check_every = seldom;
    other.params.max_iterations = r->iterations;
    other.params.stages = NULL;
    if (seldom > every && r->iterations > 2 * seldom && make_field(&other) == WFI_EXIT_DONE) {
        other.params.user = &other;
        other.result = (wf_laplace_result){.size = sizeof other.result};
        if (wf_laplace_solve(session->device, &other.params, other.u, &other.result) == WF_SUCCESS)
            us = (r->iteration_us - other.result.iteration_us) / (1.0 / every - 1.0 / seldom);
        wfi_progress_clear(s->common->quiet);
    }
    free(other.u);
    free(other.history);
    return us > 0 && us / every < r->iteration_us ? us : 0;
}

/* The step, and the checks of the residual. */
static void explain(wfi_session *session, solve *s, wfi_result_case *c)
{
    static char command[240];
    const wf_laplace_result *r = &s->result;
    const bool jacobi = s->params.method == WF_LAPLACE_JACOBI;
    const double array = cells(s) * (double)wf_type_size(s->params.type);
    const double checks = check_us(session, s) / r->check_every;
    if (jacobi)
        snprintf(command, sizeof command, "wavefit explain stencil --grid %ux%u --steps %u%s",
                 s->params.nx, s->params.ny, r->check_every,
                 s->params.type == WF_TYPE_F64 ? " --type f64" : "");
    else
        snprintf(command, sizeof command, "wavefit peaks --only copy");
    s->parts = (wfi_solver_explain){
        .iteration_us = r->iteration_us,
        .dispatches = jacobi ? r->stencil.dispatches / r->check_every : 2,
        .count = 2,
        .parts = {{"step", jacobi ? "u and its neighbours" : "both colours of u",
                   r->iteration_us - checks, 2 * array},
                  {"check",
                   checks > 0 ? "the residual, by a run that looks at it less often"
                              : "the residual: its time is within the noise",
                   checks, array / r->check_every}},
        .largest_text = jacobi ? "the stencil, which explain looks at by itself"
                               : "the sweeps, which memory's rate bounds",
        .largest_command = command};
    wfi_result_case_extra(c, "check_us", checks * r->check_every);
    wfi_explain_solver(session, &s->parts, c);
}

static size_t field_bytes(const solve *s)
{
    return s->params.nx * (size_t)s->params.ny * wf_type_size(s->params.type);
}

/* The same solve from host memory to host memory again and again, on a field of its own. */
static wf_result time_solves(wfi_session *session, solve *s, wfi_result_case *c)
{
    wf_result result = WF_SUCCESS;
    wf_laplace_result again = {.size = sizeof again};
    wf_laplace_params params = s->params;
    void *field = malloc(field_bytes(s) + 1);
    params.history = NULL;
    params.history_room = 0;
    wfi_stage_begin(s->common->quiet, WFI_STAGE_TIME, "laplace: solving again");
    while (field && result == WF_SUCCESS && wfi_case_next_solve(session, c)) {
        memcpy(field, s->start, field_bytes(s));
        result = wf_laplace_solve(session->device, &params, field, &again);
        wfi_case_add_solve(&s->stages, c);
    }
    wfi_stage_end(s->common->quiet);
    free(field);
    return field ? result : WF_ERROR_OUT_OF_HOST_MEMORY;
}

/* Three arrays on the device for Jacobi, one in two colours for SOR; two and the picture on the
 * host. */
static bool fits(wfi_session *session, const solve *s, wfi_result_case *c)
{
    const double array = (double)s->params.nx * s->params.ny * (double)wf_type_size(s->params.type);
    return wfi_session_fits(session, c, s->params.method == WF_LAPLACE_JACOBI ? 3 * array : array,
                            2.25 * array);
}

/* *ran: there is something to say of the case, were it only why it did not run. */
static int run_solve(wfi_session *session, solve *s, wfi_result_case *c, bool *ran)
{
    name_case(s, c);
    *ran = !fits(session, s, c);
    if (*ran)
        return wfi_case_exit(c, WF_SUCCESS);
    wfi_stage_begin(s->common->quiet, WFI_STAGE_READ, "making the field");
    int code = make_field(s);
    if (code != WFI_EXIT_DONE)
        return code;
    if (s->args->time) {
        s->start = malloc(field_bytes(s) + 1);
        if (!s->start)
            return wfi_run_error("laplace: out of memory");
        memcpy(s->start, s->u, field_bytes(s));
    }
    *ran = true;
    s->params.tuning = &session->tuning;
    s->params.progress = show;
    s->params.user = s;
    s->result = (wf_laplace_result){.size = sizeof s->result};
    s->params.stages = &s->stages;
    wfi_interrupted(); /* from here on Ctrl-C ends the iterations, not the program */
    wfi_stage_begin(s->common->quiet, WFI_STAGE_ANALYSIS, "laplace: planning");
    wf_result solved = wf_laplace_solve(session->device, &s->params, s->u, &s->result);
    wfi_stages_note(&s->stages);
    wfi_stage_end(s->common->quiet);
    if (solved != WF_SUCCESS && solved != WF_ERROR_CANCELLED) {
        wfi_case_fail(session, c, solved);
        return wfi_case_exit(c, solved);
    }
    fill_case(s, c);
    if (s->args->time && solved == WF_SUCCESS && c->status == WFI_STATUS_OK)
        solved = time_solves(session, s, c);
    if (!wfi_json_on_stdout(s->common))
        print(session, s, c);
    if (s->args->explain && solved == WF_SUCCESS && s->result.iteration_us > 0)
        explain(session, s, c);
    wfi_stage_begin(s->common->quiet, WFI_STAGE_WRITE, "writing the field");
    const int written = write_field(s);
    code = wfi_case_exit(c, solved);
    wfi_stages_finish(s->common, c);
    return code != WFI_EXIT_DONE ? code : written;
}

static int run(solve *s, int argc, char **argv)
{
    static wfi_result_case c;
    wfi_session session;
    bool ran;
    int code = wfi_session_open(&session, s->common);
    if (code != WFI_EXIT_DONE)
        return code;
    code = run_solve(&session, s, &c, &ran);
    if (ran) {
        const int written = wfi_session_write(&session, argc, argv, &c, 1);
        code = code != WFI_EXIT_DONE ? code : written;
    }
    wfi_session_close(&session);
    return code;
}

int wfi_tool_laplace(int argc, char **argv)
{
    arguments args = {0};
    const wfi_option options[] = {
        {"--grid", "WxH", &args.problem.grid, NULL,
         "cells a row, rows; borders included (of --explain: default " DEFAULT_GRID ")"},
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
        {"--explain", NULL, NULL, &args.explain, "tell the parts of an iteration"},
        {"--time", NULL, NULL, &args.time, "solve several times and time each as a whole"},
        {"-o", "u.npy|u.png", &args.problem.output, NULL, "write the field, or a picture of it"},
    };
    const wfi_command command = {"laplace",
                                 "--grid WxH | --border FILE.npy",
                                 "Solves Laplace's equation in two dimensions with fixed borders.",
                                 0,
                                 0,
                                 options,
                                 WFI_COUNT(options)};
    wfi_common common;
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    if (common.repeat && !args.time)
        return wfi_usage_error("laplace: --repeat goes with --time");
    if (args.explain && !args.problem.grid && !args.problem.border)
        args.problem.grid = DEFAULT_GRID;
    solve s = {.args = &args, .common = &common, .stages = {.size = sizeof s.stages}};
    wfi_stage_begin(common.quiet, WFI_STAGE_READ, "reading the border");
    code = parse(&s);
    wfi_stage_end(common.quiet);
    if (code == WFI_EXIT_DONE)
        code = run(&s, argc, argv);
    free_solve(&s);
    return code;
}
