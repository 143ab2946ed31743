/* wavefit stencil on many ranks: a random grid, verified and timed. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance.h"
#include "blocks.h"
#include "commands.h"
#include "io/atomic_file.h"
#include "io/npy.h"
#include "stencil_keep.h"
#include "timeline.h"
#include "tool/cases/case_parts.h"
#include "tool/cases/stencil_options.h"
#include "tool/cli/console.h"
#include "tool/cli/path.h"

#define SAMPLES 5
#define SAMPLE_SECONDS 0.1
#define MOST_RUNS 10000
#define WARM_UP 2 /* samples, which bring the devices' clocks up after the check on the host */
#define CHECKED_CELLS 20000
#define PLAN_STEPS 4096  /* of a run that is timed: no more than a plan makes */
#define CHECKED_STEPS 64 /* at the end of a run with checkpoints, which may be of any length */
#define MOST_STEPS 1000000000

enum { PLANES_TAG = 6 };

typedef struct run {
    wfi_rank *rank;
    wfi_stencil_request request;
    wf_stencil_params params;
    double coefficients[WFI_STENCIL_MOST_TAPS];
    const char *output, *from; /* from: the checkpoint that it goes on from */
    bool once;                 /* so many steps, with checkpoints, instead of runs that are timed */
    wfi_checkpoints keep;
    wfi_checkpoint before;
    uint32_t before_steps, checked_steps; /* made by the checkpoint's run; checked, the last ones */
    int told;                             /* an exit code whose words are printed */
    uint32_t blocks[3];
    wfi_shares shares;
    wf_mpi_stencil *stencil;
    wf_mpi_stencil_info part;
    void *in, *out; /* the whole grid, where it is checked */
    void *own;
    wf_mpi_times times;
    wfi_timeline timeline;
    double steps; /* that were timed */
    wfi_result_case *result;
} run;

/* ----------------------------------------------------------------------------------------- grid */

/* A part's cells in the whole grid, as bytes. */
static MPI_Datatype box_type(const run *r, const wf_mpi_part *part)
{
    const wfi_stencil_request *q = &r->request;
    const int size = (int)wf_type_size(q->type);
    const int whole[] = {q->nz ? (int)q->nz : 1, (int)q->ny, (int)q->nx * size},
              cells[] = {(int)part->cells[2], (int)part->cells[1], (int)part->cells[0] * size},
              first[] = {(int)part->first[2], (int)part->first[1], (int)part->first[0] * size};
    MPI_Datatype type;
    MPI_Type_create_subarray(3, whole, cells, first, MPI_ORDER_C, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

static uint64_t plane_cells(const wf_mpi_part *part)
{
    return (uint64_t)part->cells[0] * part->cells[1];
}

/* A plane of a part's own cells. */
static MPI_Datatype plane_type(const run *r, const wf_mpi_part *part)
{
    MPI_Datatype type;
    MPI_Type_contiguous((int)(plane_cells(part) * wf_type_size(r->request.type)), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Moves cells between rank 0, which has all, and one of the ranks, also itself. */
static void move_part(const run *r, void *whole, int other, const wf_mpi_part *part, bool out)
{
    MPI_Datatype box = box_type(r, part), plane = plane_type(r, part);
    const int planes = (int)part->cells[2], rank = r->rank->rank;
    if (whole && rank == other && out)
        MPI_Sendrecv(whole, 1, box, other, PLANES_TAG, r->own, planes, plane, other, PLANES_TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (whole && rank == other)
        MPI_Sendrecv(r->own, planes, plane, other, PLANES_TAG, whole, 1, box, other, PLANES_TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (whole && out)
        MPI_Send(whole, 1, box, other, PLANES_TAG, MPI_COMM_WORLD);
    else if (whole)
        MPI_Recv(whole, 1, box, other, PLANES_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == other && out)
        MPI_Recv(r->own, planes, plane, 0, PLANES_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == other)
        MPI_Send(r->own, planes, plane, 0, PLANES_TAG, MPI_COMM_WORLD);
    MPI_Type_free(&box);
    MPI_Type_free(&plane);
}

static void move(const run *r, void *whole, bool out)
{
    for (int other = 0; other < r->rank->count; other++) {
        wf_mpi_part part = r->part.part;
        MPI_Bcast(&part, (int)sizeof part, MPI_BYTE, other, MPI_COMM_WORLD);
        if (plane_cells(&part) * part.cells[2] > 0)
            move_part(r, whole, other, &part, out);
    }
}

static wf_result write_grid(run *r)
{
    move(r, r->in, true);
    return wf_mpi_stencil_write(r->stencil, r->own);
}

static wf_result read_grid(run *r, void *whole)
{
    const wf_result result = wfi_rank_agree(wf_mpi_stencil_read(r->stencil, r->own));
    if (result == WF_SUCCESS)
        move(r, whole, false);
    return result;
}

/* The grid that the run begins with. */
static wf_result make_grid(run *r, uint64_t bytes)
{
    if (!r->from)
        return wfi_stencil_random(&r->request, r->rank->common.seed, &r->in);
    r->in = malloc((size_t)bytes);
    if (r->in)
        memcpy(r->in, wfi_checkpoint_find_array(&r->before, "grid")->data, (size_t)bytes);
    return r->in ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
}

static wf_result prepare(run *r)
{
    const wfi_stencil_request *q = &r->request;
    const uint64_t bytes = (uint64_t)q->nx * q->ny * (q->nz ? q->nz : 1) * wf_type_size(q->type);
    wf_result result = WF_SUCCESS;
    const wf_mpi_part *part = &r->part.part;
    r->own = malloc((size_t)(plane_cells(part) * part->cells[2] * wf_type_size(q->type)) + 1);
    if (r->rank->prints) {
        result = make_grid(r, bytes);
        r->out = malloc((size_t)bytes);
    }
    if (!r->own || (r->rank->prints && !r->out))
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    else if ((uint64_t)q->nx * q->ny * wf_type_size(q->type) > INT_MAX)
        result = WF_ERROR_TOO_LARGE;
    return wfi_rank_agree(result);
}

/* ------------------------------------------------------------------------------------------ run */

/* A checkpoint of the grid. */
static wf_result keep(run *r, uint32_t steps)
{
    const double start = MPI_Wtime();
    const wf_result result = read_grid(r, r->out);
    if (result == WF_SUCCESS)
        r->told = wfi_stencil_keep(r->rank, &r->keep, &r->request, &r->result->plan, steps, r->out);
    r->keep.taken += MPI_Wtime() - start;
    return result;
}

/* Up to the next checkpoint or to `end`; a checkpoint where it is due. */
static wf_result go_on(run *r, uint32_t end, uint32_t *done, double *total)
{
    const uint32_t unit = r->part.steps, made = *done - r->before_steps;
    const double pace = made ? *total / made : 0;
    const uint32_t count = wfi_checkpoints_next(&r->keep, *done, end - *done, unit, pace);
    wf_mpi_times times = {.size = sizeof times, .trace = &r->timeline.trace};
    double seconds = 0;
    const wf_result result = wf_mpi_stencil_run(r->stencil, count, &seconds, &times);
    if (result != WF_SUCCESS)
        return result;
    *done += count;
    *total += seconds;
    r->times.inside += times.inside;
    r->times.halo += times.halo;
    r->times.wait += times.wait;
    r->steps += count;
    return wfi_checkpoints_due(r->rank, &r->keep, *done, unit) ||
                   (r->keep.path && *done == r->request.steps)
               ? keep(r, *done)
               : WF_SUCCESS;
}

/* All steps, of which the last ones are those that are checked: `in` gets the grid before them. */
static wf_result once(run *r)
{
    const uint32_t all = r->request.steps, from = all - r->checked_steps;
    wf_timing *timing = &r->result->timing;
    uint32_t done = r->before_steps;
    double total = 0;
    wf_result result = WF_SUCCESS;
    wfi_timeline_init(&r->timeline);
    r->times.trace = &r->timeline.trace;
    r->keep.last = MPI_Wtime();
    while (result == WF_SUCCESS && !r->told && done < from)
        result = go_on(r, from, &done, &total);
    if (result == WF_SUCCESS && !r->told && from > r->before_steps)
        result = read_grid(r, r->in);
    while (result == WF_SUCCESS && !r->told && done < all)
        result = go_on(r, all, &done, &total);
    timing->samples_us[0] = total * 1e6;
    timing->count = timing->batch = 1;
    wfi_case_summarise(timing);
    r->result->has_timing = true;
    r->result->rate = r->result->plan.flops / timing->median_us * 1e-3;
    r->result->rate_unit = "GFLOPS";
    return result;
}

/* The steps asked for, compared with f64. */
static wf_result answer(run *r)
{
    wf_check *found = &r->result->check;
    wf_result result = write_grid(r);
    if (result == WF_SUCCESS)
        result = r->once ? once(r) : wf_mpi_stencil_run(r->stencil, r->request.steps, NULL, NULL);
    if (result == WF_SUCCESS && !r->told)
        result = read_grid(r, r->out);
    if (result != WF_SUCCESS || r->told || !r->rank->prints)
        return (wf_result)wfi_rank_share((int)result);
    r->params.steps = r->checked_steps;
    result =
        wf_stencil_check(&r->params, r->in, r->out, CHECKED_CELLS, r->rank->common.seed, found);
    if (result == WF_SUCCESS)
        wfi_case_checked(r->result, "cell", found->worst);
    return (wf_result)wfi_rank_share((int)result);
}

/* *seconds is what the last run took, from which samples are reckoned. */
static wf_result warm_up(run *r, double *seconds)
{
    double all = 0;
    wf_result result = wf_mpi_stencil_run(r->stencil, r->request.steps, seconds, NULL);
    while (result == WF_SUCCESS && wfi_rank_warms(r->rank, all)) {
        result = wf_mpi_stencil_run(r->stencil, r->request.steps, seconds, NULL);
        all += *seconds;
    }
    return result;
}

/* Samples of as many runs as rank 0 says. */
static wf_result measure(run *r)
{
    wf_timing *timing = &r->result->timing;
    double seconds = 0;
    wf_result result = warm_up(r, &seconds);
    const int count =
        wfi_rank_share((int)fmin(fmax(SAMPLE_SECONDS / (seconds + 1e-9), 1), MOST_RUNS));
    wfi_timeline_init(&r->timeline);
    r->times = (wf_mpi_times){.size = sizeof r->times, .trace = &r->timeline.trace};
    for (int n = 0; n < WARM_UP * count && result == WF_SUCCESS; n++)
        result = wf_mpi_stencil_run(r->stencil, r->request.steps, &seconds, NULL);
    for (int sample = 0; sample < SAMPLES && result == WF_SUCCESS; sample++) {
        double sum = 0;
        for (int n = 0; n < count && result == WF_SUCCESS; n++) {
            wf_mpi_times times = {.size = sizeof times, .trace = r->times.trace};
            result = wfi_rank_agree(wfi_interrupted() ? WF_ERROR_CANCELLED : WF_SUCCESS);
            if (result == WF_SUCCESS)
                result = wf_mpi_stencil_run(r->stencil, r->request.steps, &seconds, &times);
            r->times.inside += times.inside;
            r->times.halo += times.halo;
            r->times.wait += times.wait;
            r->steps += r->request.steps;
            sum += seconds;
        }
        timing->samples_us[timing->count++] = sum / count * 1e6;
    }
    timing->batch = (uint32_t)count;
    if (result != WF_SUCCESS || !r->rank->prints)
        return result;
    wfi_case_summarise(timing);
    r->result->has_timing = true;
    r->result->rate = r->result->plan.flops / timing->median_us * 1e-3;
    r->result->rate_unit = "GFLOPS";
    return WF_SUCCESS;
}

static void describe(run *r)
{
    const wfi_stencil_request *q = &r->request;
    wfi_result_case *c = r->result;
    const double cells = (double)q->nx * q->ny * (q->nz ? q->nz : 1);
    c->has_plan = true;
    const uint32_t steps = q->steps - r->before_steps;
    c->plan.flops = (2.0 * wfi_stencil_request_taps(q) - 1) * cells * steps;
    c->plan.least_bytes = 2.0 * cells * (double)wf_type_size(q->type) * steps;
}

static wf_result work(run *r)
{
    wf_result result = prepare(r);
    if (result == WF_SUCCESS)
        result = answer(r);
    if (result == WF_SUCCESS && !r->once && !r->output &&
        wfi_rank_share(r->result->status) == WFI_STATUS_OK)
        result = measure(r);
    return result;
}

/* The grid as it is to be cut; the rank's stencil is made, and what it has is told. */
static wf_result create(run *r, const double *weights)
{
    wfi_rank *rank = r->rank;
    const wf_mpi_stencil_params params = {.size = sizeof params,
                                          .grid = &r->params,
                                          .weights = weights,
                                          .log = wfi_rank_log,
                                          .log_user = &rank->session,
                                          .blocks = {r->blocks[0], r->blocks[1], r->blocks[2]}};
    wf_result result =
        wf_mpi_stencil_create(MPI_COMM_WORLD, rank->session.device, &params, &r->stencil);
    if (result != WF_SUCCESS)
        return result;
    rank->session.error[0] = '\0'; /* of choices that gave way to others */
    r->part.size = sizeof r->part;
    r->result->plan.size = sizeof r->result->plan;
    result = wf_mpi_stencil_describe(r->stencil, &r->part, &r->result->plan);
    return wfi_rank_agree(result);
}

/* Makes steps of equal shares of a grid of zeros. */
static wf_result balance(run *r)
{
    wf_mpi_times times = {.size = sizeof times};
    wf_result result = create(r, NULL);
    if (result != WF_SUCCESS)
        return result;
    void *zeros = calloc(r->part.planes + (size_t)1, r->part.plane_bytes);
    result = wfi_rank_agree(zeros ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY);
    if (result == WF_SUCCESS)
        result = wf_mpi_stencil_write(r->stencil, zeros);
    if (result == WF_SUCCESS)
        result = wf_mpi_stencil_run(r->stencil, WFI_BALANCE_ITERATIONS, NULL, NULL);
    if (result == WF_SUCCESS)
        result = wf_mpi_stencil_run(r->stencil, WFI_BALANCE_ITERATIONS, NULL, &times);
    free(zeros);
    wf_mpi_stencil_destroy(&r->stencil);
    if (result == WF_SUCCESS)
        wfi_shares_weigh(r->rank, times.inside > 0 ? r->part.planes / times.inside : 0, &r->shares);
    return result;
}

/* --------------------------------------------------------------------------------------- output */

static int write_output(const run *r)
{
    const wfi_stencil_request *q = &r->request;
    const uint64_t shape[3] = {q->nz, q->ny, q->nx};
    wfi_io_error error;
    if (!r->output || r->result->status != WFI_STATUS_OK)
        return WFI_EXIT_DONE;
    return wfi_npy_write(r->output, q->type, q->nz ? 3 : 2, q->nz ? shape : shape + 1, r->out,
                         &error)
               ? WFI_EXIT_DONE
               : wfi_run_error("%s", error.text);
}

static int finish(run *r, int argc, char **argv)
{
    const wfi_result_case *c = r->result;
    const wfi_rank_output nothing = {.path = NULL};
    if (!r->rank->prints)
        return WFI_EXIT_DONE;
    if (!wfi_json_on_stdout(&r->rank->common)) {
        wfi_case_print(&r->rank->session, c);
        wfi_rank_print(c);
        wfi_shares_print(r->rank, &r->shares);
        wfi_blocks_print(&r->part.part, r->blocks);
        if (r->from)
            printf("continued after %u steps of %s\n", r->before_steps, r->from);
        wfi_checkpoints_print(&r->keep);
        if (r->once && r->checked_steps < r->request.steps - r->before_steps)
            printf("checked   the last %u steps, from the grid before them\n", r->checked_steps);
        printf("passes    of %u step%s, %d rank%s\n", r->part.steps, r->part.steps > 1 ? "s" : "",
               r->rank->count, r->rank->count > 1 ? "s" : "");
    }
    const int code = write_output(r), written = wfi_rank_write(r->rank, &nothing, c, argc, argv);
    return code != WFI_EXIT_DONE ? code : written;
}

static int execute(run *r, int argc, char **argv)
{
    wfi_rank *rank = r->rank;
    r->params = wfi_stencil_params(&r->request);
    r->params.steps = r->params.steps < PLAN_STEPS ? r->params.steps : PLAN_STEPS;
    r->params.coefficients = r->coefficients;
    r->params.tuning = &rank->session.tuning;
    r->params.cancel = &rank->session.cancel;
    wfi_stencil_coefficients(&r->request, rank->common.seed, r->coefficients);
    wf_result result = r->shares.balance ? balance(r) : WF_SUCCESS;
    if (result == WF_SUCCESS)
        result = create(r, r->shares.weights);
    describe(r);
    if (result == WF_SUCCESS)
        result = work(r);
    if (r->told)
        return r->told;
    if (result != WF_SUCCESS)
        return wfi_rank_failed(rank, result);
    int shared = (int)r->part.shared, all = 0;
    MPI_Allreduce(&shared, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wfi_result_case_extra(r->result, "shared_halos", all);
    wfi_result_case_extra(r->result, "steps_a_pass", r->part.steps);
    wfi_checkpoints_add(&r->keep, r->result);
    wfi_blocks_collect(rank, &r->part.part, &r->times, r->steps, r->result);
    return wfi_rank_share(finish(r, argc, argv));
}

/* -------------------------------------------------------------------------------------- options */

typedef struct arguments {
    wfi_stencil_arguments problem;
    const char *blocks, *checkpoint, *every;
} arguments;

static bool names_a_problem(const wfi_rank *rank, const wfi_stencil_arguments *p)
{
    return p->grid || p->shape || p->radius || p->border || p->type || rank->common.variant ||
           rank->common.constant_count;
}

static int parse(const arguments *a, run *r)
{
    const wfi_stencil_arguments *args = &a->problem;
    const char *blocks = a->blocks;
    if (r->once && !args->steps)
        return wfi_usage_error("stencil: with %s, say how many steps there are to be: --steps N",
                               a->checkpoint ? "--checkpoint" : "--continue");
    if (r->from && names_a_problem(r->rank, args))
        return wfi_usage_error("stencil: --continue goes on with the checkpoint's own grid, "
                               "stencil and variant");
    if (wfi_checkpoints_parse("stencil", a->checkpoint, a->every, &r->keep) != WFI_EXIT_DONE)
        return WFI_EXIT_USAGE;
    if (wfi_shares_check_blocks("stencil", &r->shares, blocks) != WFI_EXIT_DONE)
        return WFI_EXIT_USAGE;
    if (wfi_blocks_parse(r->rank, "stencil", blocks, r->blocks) != WFI_EXIT_DONE)
        return WFI_EXIT_USAGE;
    if (r->output && !wfi_path_takes_npy(r->output))
        return wfi_usage_error("stencil: -o writes V.npy, not '%s'", r->output);
    return wfi_stencil_parse(args, &r->request);
}

static int parse_together(const arguments *args, run *r)
{
    const int code = wfi_rank_share(r->rank->prints ? parse(args, r) : WFI_EXIT_DONE);
    return code == WFI_EXIT_DONE && !r->rank->prints ? parse(args, r) : code;
}

/* The checkpoint says what the run is of. */
static int read_before(run *r)
{
    const uint32_t steps = r->request.steps;
    wfi_io_error error;
    int code =
        r->from ? wfi_stencil_keep_read(r->rank, r->from, &r->before, &r->request, &r->before_steps)
                : WFI_EXIT_DONE;
    if (code != WFI_EXIT_DONE)
        return code;
    if (r->rank->prints && r->before_steps >= steps)
        code = wfi_usage_error("stencil: %s has %u steps already; --steps is how many there are to "
                               "be in all",
                               r->from, r->before_steps);
    else if (r->rank->prints && r->keep.path && !wfi_atomic_check(r->keep.path, &error))
        code = wfi_run_error("%s", error.text);
    const uint32_t left = steps - r->before_steps;
    r->checked_steps = r->once && left > CHECKED_STEPS ? CHECKED_STEPS : left;
    return wfi_rank_share(code);
}

int wfi_mpi_stencil(wfi_rank *rank, int argc, char **argv)
{
    arguments args = {0};
    static wfi_result_case result_case;
    static run r;
    r = (run){.rank = rank, .result = &result_case, .times = {.size = sizeof r.times}};
    const wfi_option options[] = {
        {"--grid", "NXxNY[xNZ]", &args.problem.grid, NULL,
         "cells, x contiguous (default 256x256x256)"},
        {"--shape", "star|box", &args.problem.shape, NULL, "default star"},
        {"--radius", "R", &args.problem.radius, NULL, "1 to 4 (default 1)"},
        {"--border", "dirichlet|neumann|periodic", &args.problem.border, NULL, "default dirichlet"},
        {"--steps", "N", &args.problem.steps, NULL, "steps a run (default 1)"},
        {"--type", "f32|f64|f16", &args.problem.type, NULL, "element type (default f32)"},
        WFI_SHARES_OPTIONS(&r.shares, "planes"),
        WFI_BLOCKS_OPTION(&args.blocks),
        {"--checkpoint", "FILE", &args.checkpoint, NULL,
         "make --steps once, and keep the grid in FILE meanwhile, in place of what was kept "
         "before"},
        {"--every", "N|Tmin|Ts", &args.every, NULL,
         "how often, in steps, minutes or seconds (default 10min)"},
        {"--continue", "FILE", &r.from, NULL,
         "go on from a checkpoint until there are --steps in all, on any number of ranks"},
        {"-o", "V.npy", &r.output, NULL, "write the grid"},
    };
    const wfi_command command = {
        "stencil",
        "[--grid NXxNY[xNZ]] [--shape star|box] [--radius R] [--border B] [--steps N] "
        "[--weights W,W,… | --balance | --blocks XxYxZ] "
        "[--checkpoint FILE [--every N|Tmin|Ts]] [--continue FILE] [-o V.npy]",
        "Applies a stencil with constant coefficients to a random grid on the devices of all "
        "ranks, verifies and times it.",
        0,
        0,
        options,
        sizeof options / sizeof *options};
    bool done = false;
    int code = wfi_rank_parse(rank, &command, argc - 2, argv + 2, &done);
    if (code != WFI_EXIT_DONE || done)
        return code;
    r.once = args.checkpoint || r.from;
    args.problem.most_steps = r.once ? MOST_STEPS : PLAN_STEPS;
    code = parse_together(&args, &r);
    if (code == WFI_EXIT_DONE)
        code = read_before(&r);
    if (code == WFI_EXIT_DONE)
        code = wfi_shares_parse(rank, "stencil", &r.shares);
    if (code != WFI_EXIT_DONE) {
        wfi_checkpoint_free(&r.before);
        return code;
    }
    wfi_stencil_name_case(&r.request, r.result);
    wfi_result_case_fact(r.result, "ranks", r.rank->count);
    code = wfi_rank_open(rank);
    if (code == WFI_EXIT_DONE)
        code = execute(&r, argc, argv);
    wf_mpi_stencil_destroy(&r.stencil);
    wfi_rank_close(rank);
    wfi_shares_free(&r.shares);
    wfi_checkpoint_free(&r.before);
    free(r.in);
    free(r.out);
    free(r.own);
    return code;
}
