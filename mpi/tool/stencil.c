/* wavefit stencil on many ranks: a random grid, verified and timed. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance.h"
#include "blocks.h"
#include "commands.h"
#include "io/npy.h"
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

enum { PLANES_TAG = 6 };

typedef struct run {
    wfi_rank *rank;
    wfi_stencil_request request;
    wf_stencil_params params;
    double coefficients[WFI_STENCIL_MOST_TAPS];
    const char *output;
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

static wf_result read_grid(run *r)
{
    const wf_result result = wfi_rank_agree(wf_mpi_stencil_read(r->stencil, r->own));
    if (result == WF_SUCCESS)
        move(r, r->out, false);
    return result;
}

static wf_result prepare(run *r)
{
    const wfi_stencil_request *q = &r->request;
    const uint64_t bytes = (uint64_t)q->nx * q->ny * (q->nz ? q->nz : 1) * wf_type_size(q->type);
    wf_result result = WF_SUCCESS;
    const wf_mpi_part *part = &r->part.part;
    r->own = malloc((size_t)(plane_cells(part) * part->cells[2] * wf_type_size(q->type)) + 1);
    if (r->rank->prints) {
        result = wfi_stencil_random(q, r->rank->common.seed, &r->in);
        r->out = malloc((size_t)bytes);
    }
    if (!r->own || (r->rank->prints && !r->out))
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    else if ((uint64_t)q->nx * q->ny * wf_type_size(q->type) > INT_MAX)
        result = WF_ERROR_TOO_LARGE;
    return wfi_rank_agree(result);
}

/* ------------------------------------------------------------------------------------------ run */

/* The steps asked for, from the start values, compared with f64. */
static wf_result answer(run *r)
{
    wf_check *found = &r->result->check;
    wf_result result = write_grid(r);
    if (result == WF_SUCCESS)
        result = wf_mpi_stencil_run(r->stencil, r->request.steps, NULL, NULL);
    if (result == WF_SUCCESS)
        result = read_grid(r);
    if (result != WF_SUCCESS || !r->rank->prints)
        return (wf_result)wfi_rank_share((int)result);
    result =
        wf_stencil_check(&r->params, r->in, r->out, CHECKED_CELLS, r->rank->common.seed, found);
    if (result == WF_SUCCESS)
        wfi_case_checked(r->result, "cell", found->worst);
    return (wf_result)wfi_rank_share((int)result);
}

/* Samples of as many runs as rank 0 says. */
static wf_result measure(run *r)
{
    wf_timing *timing = &r->result->timing;
    double seconds = 0;
    wf_result result = wf_mpi_stencil_run(r->stencil, r->request.steps, &seconds, NULL);
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
    c->plan.flops = (2.0 * wfi_stencil_request_taps(q) - 1) * cells * q->steps;
    c->plan.least_bytes = 2.0 * cells * (double)wf_type_size(q->type) * q->steps;
}

static wf_result work(run *r)
{
    wf_result result = prepare(r);
    if (result == WF_SUCCESS)
        result = answer(r);
    if (result == WF_SUCCESS && !r->output && wfi_rank_share(r->result->status) == WFI_STATUS_OK)
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
    if (result != WF_SUCCESS)
        return wfi_rank_failed(rank, result);
    int shared = (int)r->part.shared, all = 0;
    MPI_Allreduce(&shared, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wfi_result_case_extra(r->result, "shared_halos", all);
    wfi_result_case_extra(r->result, "steps_a_pass", r->part.steps);
    wfi_blocks_collect(rank, &r->part.part, &r->times, r->steps, r->result);
    return wfi_rank_share(finish(r, argc, argv));
}

/* -------------------------------------------------------------------------------------- options */

static int parse(const wfi_stencil_arguments *args, const char *blocks, run *r)
{
    if (wfi_shares_check_blocks("stencil", &r->shares, blocks) != WFI_EXIT_DONE)
        return WFI_EXIT_USAGE;
    if (wfi_blocks_parse(r->rank, "stencil", blocks, r->blocks) != WFI_EXIT_DONE)
        return WFI_EXIT_USAGE;
    if (r->output && !wfi_path_takes_npy(r->output))
        return wfi_usage_error("stencil: -o writes V.npy, not '%s'", r->output);
    return wfi_stencil_parse(args, &r->request);
}

static int parse_together(const wfi_stencil_arguments *args, const char *blocks, run *r)
{
    const int code = wfi_rank_share(r->rank->prints ? parse(args, blocks, r) : WFI_EXIT_DONE);
    return code == WFI_EXIT_DONE && !r->rank->prints ? parse(args, blocks, r) : code;
}

int wfi_mpi_stencil(wfi_rank *rank, int argc, char **argv)
{
    wfi_stencil_arguments args = {0};
    const char *blocks = NULL;
    static wfi_result_case result_case;
    static run r;
    r = (run){.rank = rank, .result = &result_case, .times = {.size = sizeof r.times}};
    const wfi_option options[] = {
        {"--grid", "NXxNY[xNZ]", &args.grid, NULL, "cells, x contiguous (default 256x256x256)"},
        {"--shape", "star|box", &args.shape, NULL, "default star"},
        {"--radius", "R", &args.radius, NULL, "1 to 4 (default 1)"},
        {"--border", "dirichlet|neumann|periodic", &args.border, NULL, "default dirichlet"},
        {"--steps", "N", &args.steps, NULL, "steps a run (default 1)"},
        {"--type", "f32|f64|f16", &args.type, NULL, "element type (default f32)"},
        WFI_SHARES_OPTIONS(&r.shares, "planes"),
        WFI_BLOCKS_OPTION(&blocks),
        {"-o", "V.npy", &r.output, NULL, "write the grid"},
    };
    const wfi_command command = {
        "stencil",
        "[--grid NXxNY[xNZ]] [--shape star|box] [--radius R] [--border B] [--steps N] "
        "[--weights W,W,… | --balance | --blocks XxYxZ] [-o V.npy]",
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
    code = parse_together(&args, blocks, &r);
    if (code == WFI_EXIT_DONE)
        code = wfi_shares_parse(rank, "stencil", &r.shares);
    if (code != WFI_EXIT_DONE)
        return code;
    wfi_stencil_name_case(&r.request, r.result);
    wfi_result_case_fact(r.result, "ranks", r.rank->count);
    code = wfi_rank_open(rank);
    if (code == WFI_EXIT_DONE)
        code = execute(&r, argc, argv);
    wf_mpi_stencil_destroy(&r.stencil);
    wfi_rank_close(rank);
    wfi_shares_free(&r.shares);
    free(r.in);
    free(r.out);
    free(r.own);
    return code;
}
