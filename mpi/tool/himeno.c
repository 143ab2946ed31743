/* wavefit himeno on many ranks: the benchmark's own start values, rehearsal, Gosa and score. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance.h"
#include "blocks.h"
#include "commands.h"
#include "himeno_keep.h"
#include "io/atomic_file.h"
#include "io/npy.h"
#include "timeline.h"
#include "tool/cases/case_parts.h"
#include "tool/cases/himeno_size.h"
#include "tool/cli/path.h"

#define DEFAULT_SIZE "M"
#define DEFAULT_SECONDS 60.0
#define REHEARSAL 3 /* iterations, as the official program does */
#define SAMPLES 5
#define PENTIUM_III 82.84   /* MFLOPS of the 600 MHz Pentium III that scores 1 */
#define CHECKED_CELLS 20000 /* where all cells would take too long */
#define MOST_ITERATIONS 1e9

typedef struct run {
    wfi_rank *rank;
    uint32_t ni, nj, nk, iterations; /* iterations 0: `seconds` */
    double seconds;
    const char *output, *from; /* from: the checkpoint that it goes on from */
    bool once;                 /* so many iterations, without the benchmark's rehearsal */
    wfi_shares shares;
    uint32_t blocks[3];
    wf_mpi_part part;
    wf_mpi_himeno *himeno;
    float *p; /* where it is checked */
    wfi_checkpoints keep;
    wfi_checkpoint before;
    uint32_t before_iterations;
    int told; /* an exit code whose words are printed */
    double pace, total;
    uint32_t done; /* iterations of this run */
    float gosa;
    wf_mpi_times times;
    wfi_timeline timeline; /* of the measured run */
    wfi_result_case *out;
} run;

static double inner_cells(const run *r)
{
    return (double)(r->ni - 2) * (double)(r->nj - 2) * (double)(r->nk - 2);
}

/* Iterations after which rank 0 compares p and gosa with what they are after `all` of them. */
static wf_result check(run *r, uint32_t all, const char *part)
{
    const wf_himeno_params params = {.size = sizeof params,
                                     .ni = r->ni,
                                     .nj = r->nj,
                                     .nk = r->nk,
                                     .cancel = &r->rank->session.cancel};
    wf_check found = {0};
    double gosa = 0;
    wf_result result = wf_mpi_himeno_read(r->himeno, 0, r->p);
    if (result == WF_SUCCESS && r->rank->prints)
        result = wf_himeno_check(&params, NULL, all, r->p, r->gosa, CHECKED_CELLS,
                                 r->rank->common.seed, &found, &gosa);
    result = (wf_result)wfi_rank_share((int)result);
    if (result != WF_SUCCESS || !r->rank->prints)
        return result;
    if (gosa > found.error_over_bound || isnan(gosa))
        found.error_over_bound = gosa;
    if (r->out->has_check && found.error_over_bound <= 1) {
        r->out->checked_how = found.checked ? "all cells and gosa of the measured run against f64"
                                            : "the measured run: all cells' range, their sums "
                                              "with sine waves, and gosa";
        return result;
    }
    r->out->check = found;
    wfi_case_checked(r->out, part, found.worst);
    return result;
}

static wf_result relax(run *r, uint32_t count, double *seconds)
{
    wf_mpi_times times = {.size = sizeof times, .trace = r->times.trace};
    const wf_result result = wf_mpi_himeno_run(r->himeno, count, &r->gosa, seconds, &times);
    r->times.inside += times.inside;
    r->times.halo += times.halo;
    r->times.wait += times.wait;
    r->times.reduction += times.reduction;
    return result;
}

/* A few iterations from the start values, compared with f64. */
static wf_result rehearse(run *r)
{
    double seconds = 0;
    wf_result result = wf_mpi_himeno_start(r->himeno);
    if (result == WF_SUCCESS)
        result = relax(r, REHEARSAL, &seconds);
    if (result == WF_SUCCESS)
        result = check(r, REHEARSAL, "gosa or cell");
    r->pace = seconds / REHEARSAL;
    if (result == WF_SUCCESS && r->rank->prints) {
        wfi_result_case_extra(r->out, "rehearsal_iterations", REHEARSAL);
        wfi_result_case_extra(r->out, "rehearsal_gosa", (double)r->gosa);
        wfi_result_case_extra(r->out, "rehearsal_mflops",
                              WF_HIMENO_FLOPS * inner_cells(r) / r->pace * 1e-6);
    }
    return result;
}

/* How many iterations a sample makes, as rank 0 reckons. */
static uint32_t next_count(const run *r, uint32_t sample)
{
    const double fit = r->seconds / SAMPLES / (r->pace + 1e-9);
    const uint32_t end = (uint32_t)((uint64_t)r->iterations * (sample + 1) / SAMPLES);
    return (uint32_t)wfi_rank_share(
        (int)(r->iterations ? end - r->done : fmin(fmax(fit, 1), MOST_ITERATIONS / SAMPLES)));
}

static wf_result warm_up(run *r)
{
    double all = 0;
    wf_result result = WF_SUCCESS;
    for (uint32_t count = REHEARSAL; result == WF_SUCCESS && wfi_rank_warms(r->rank, all);
         count *= 2) {
        double seconds = 0;
        result = relax(r, count, &seconds);
        all += seconds;
        r->pace = seconds / count;
    }
    return result;
}

static wf_result measure(run *r)
{
    wf_timing *timing = &r->out->timing;
    wf_result result = warm_up(r);
    if (result == WF_SUCCESS)
        result = wf_mpi_himeno_start(r->himeno);
    if (result == WF_SUCCESS)
        result = relax(r, REHEARSAL, NULL);
    r->times = (wf_mpi_times){.size = sizeof r->times, .trace = &r->timeline.trace};
    for (uint32_t sample = 0; sample < SAMPLES && result == WF_SUCCESS; sample++) {
        const uint32_t count = next_count(r, sample);
        double seconds = 0;
        if (count == 0)
            continue;
        result = relax(r, count, &seconds);
        if (result != WF_SUCCESS)
            break;
        r->done += count;
        r->total += seconds;
        r->pace = seconds / count;
        timing->samples_us[timing->count++] = r->pace * 1e6;
        timing->batch = count;
    }
    if (result != WF_SUCCESS || !r->rank->prints)
        return result;
    wfi_case_summarise(timing);
    r->out->has_timing = true;
    r->out->rate = WF_HIMENO_FLOPS * inner_cells(r) * r->done / r->total * 1e-6;
    r->out->rate_unit = "MFLOPS";
    wfi_result_case_extra(r->out, "score", r->out->rate / PENTIUM_III);
    return WF_SUCCESS;
}

/* Up to the next checkpoint, or to the end; a checkpoint where it is due. */
static wf_result go_on(run *r, uint32_t unit)
{
    const uint32_t reached = r->before_iterations + r->done;
    const uint32_t count =
        wfi_checkpoints_next(&r->keep, reached, r->iterations - reached, unit, r->pace);
    double seconds = 0;
    const wf_result result = relax(r, count, &seconds);
    if (result != WF_SUCCESS)
        return result;
    r->done += count;
    r->total += seconds;
    r->pace = seconds / count;
    const wfi_himeno_state state = {{r->ni, r->nj, r->nk}, reached + count, r->gosa, r->p};
    if (wfi_checkpoints_due(r->rank, &r->keep, reached + count, unit) ||
        (r->keep.path && reached + count == r->iterations)) {
        const double start = MPI_Wtime();
        r->told = wfi_himeno_keep(r->rank, &r->keep, r->himeno, &state);
        r->keep.taken += MPI_Wtime() - start;
    }
    return WF_SUCCESS;
}

static wf_result once(run *r)
{
    uint32_t unit = 1;
    wf_result result = wf_mpi_himeno_start(r->himeno);
    if (result == WF_SUCCESS && r->from)
        result = wfi_himeno_resume(&r->before, r->himeno);
    if (result == WF_SUCCESS)
        result = wfi_himeno_unit(r->himeno, &unit);
    r->keep.last = MPI_Wtime();
    while (result == WF_SUCCESS && !r->told && r->before_iterations + r->done < r->iterations)
        result = go_on(r, unit);
    return result == WF_SUCCESS && !r->told ? check(r, r->iterations, "gosa, sum or cell") : result;
}

static wf_result work(run *r)
{
    wf_result result = WF_SUCCESS;
    if (r->once) {
        result = once(r);
    } else {
        result = rehearse(r);
        if (result == WF_SUCCESS && wfi_rank_share(r->out->status) == WFI_STATUS_OK)
            result = measure(r);
        if (result == WF_SUCCESS && r->done > 0)
            result = check(r, REHEARSAL + r->done, "gosa, sum or cell of the measured run");
    }
    if (result == WF_SUCCESS && r->rank->prints && r->done > 0) {
        wfi_result_case_extra(r->out, "iterations", r->done);
        wfi_result_case_extra(r->out, "gosa", (double)r->gosa);
        wfi_result_case_extra(r->out, "seconds", r->total);
        wfi_checkpoints_add(&r->keep, r->out);
    }
    return result;
}

/* --------------------------------------------------------------------------------------- output */

static double extra(const wfi_result_case *c, const char *name)
{
    for (uint32_t i = 0; i < c->extra_count; i++)
        if (strcmp(c->extras[i].name, name) == 0)
            return c->extras[i].number;
    return 0;
}

static void print(const run *r)
{
    const wfi_result_case *c = r->out;
    if (!r->rank->prints || wfi_json_on_stdout(&r->rank->common))
        return;
    wfi_case_print(&r->rank->session, c);
    wfi_rank_print(c);
    wfi_shares_print(r->rank, &r->shares);
    printf("grid      imax = %u jmax = %u kmax = %u, %d rank%s\n", r->ni, r->nj, r->nk,
           r->rank->count, r->rank->count > 1 ? "s" : "");
    wfi_blocks_print(&r->part, r->blocks);
    if (r->from)
        printf("continued after %u iterations of %s\n", r->before_iterations, r->from);
    if (r->once) {
        printf("iterated  %u times in %.3f s\ngosa      %.7E of the last\n", r->done, r->total,
               (double)r->gosa);
        wfi_checkpoints_print(&r->keep);
        return;
    }
    printf("rehearsal %d iterations: MFLOPS: %.2f  Gosa of the third: %.7E\n", REHEARSAL,
           extra(c, "rehearsal_mflops"), extra(c, "rehearsal_gosa"));
    if (!c->has_timing)
        return;
    printf("measured  Loop executed for %u times in %.3f s\n", r->done, r->total);
    printf("          Gosa : %.7E\n", (double)r->gosa);
    printf("          MFLOPS measured : %.2f\n", c->rate);
    printf("          Score based on Pentium III 600MHz : %.2f\n", extra(c, "score"));
}

/* What rank 0 has to print and to write. */
static int finish(run *r, int argc, char **argv)
{
    const uint64_t shape[3] = {r->nk, r->nj, r->ni};
    wfi_io_error error;
    print(r);
    if (!r->rank->prints)
        return WFI_EXIT_DONE;
    int code = wfi_case_exit(r->out, WF_SUCCESS);
    if (code == WFI_EXIT_DONE && r->output &&
        !wfi_npy_write(r->output, WF_TYPE_F32, 3, shape, r->p, &error))
        code = wfi_run_error("%s", error.text);
    const int written = wfi_session_write(&r->rank->session, argc, argv, r->out, 1);
    return code != WFI_EXIT_DONE ? code : written;
}

static wf_result describe(run *r)
{
    uint32_t first = 0, planes = 0;
    r->out->plan.size = sizeof r->out->plan;
    r->part.size = sizeof r->part;
    wf_result result = wf_mpi_himeno_describe(r->himeno, &r->out->plan, &first, &planes);
    if (result == WF_SUCCESS)
        result = wf_mpi_himeno_part(r->himeno, &r->part);
    if (result != WF_SUCCESS)
        return result;
    int shared = (int)wf_mpi_himeno_shared(r->himeno), all = 0;
    MPI_Allreduce(&shared, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wfi_result_case_extra(r->out, "shared_halos", all);
    r->out->has_plan = true;
    r->out->plan.flops = WF_HIMENO_FLOPS * inner_cells(r);
    wfi_blocks_collect(r->rank, &r->part, &r->times, r->done, r->out);
    return WF_SUCCESS;
}

/* Planes a second that this rank's device updates while the others' work too; 0: it has none. */
static wf_result measure_speed(wf_mpi_himeno *h, double *speed)
{
    wf_mpi_times times = {.size = sizeof times};
    wf_plan_info info = {.size = sizeof info};
    uint32_t first = 0, planes = 0;
    wf_result result = wf_mpi_himeno_describe(h, &info, &first, &planes);
    result = wfi_rank_agree(result);
    if (result == WF_SUCCESS)
        result = wf_mpi_himeno_start(h);
    if (result == WF_SUCCESS)
        result = wf_mpi_himeno_run(h, WFI_BALANCE_ITERATIONS, NULL, NULL, NULL);
    if (result == WF_SUCCESS)
        result = wf_mpi_himeno_run(h, WFI_BALANCE_ITERATIONS, NULL, NULL, &times);
    if (result == WF_SUCCESS && times.inside > 0)
        *speed = planes / times.inside;
    return result;
}

/* Relaxes equal shares. */
static wf_result balance(run *r, const wf_mpi_himeno_params *given)
{
    wf_mpi_himeno_params params = *given;
    wf_mpi_himeno *h = NULL;
    double speed = 0;
    params.weights = NULL;
    wf_result result = wf_mpi_himeno_create(MPI_COMM_WORLD, r->rank->session.device, &params, &h);
    if (result == WF_SUCCESS)
        result = measure_speed(h, &speed);
    wf_mpi_himeno_destroy(&h);
    if (result == WF_SUCCESS)
        wfi_shares_weigh(r->rank, speed, &r->shares);
    return result;
}

static int execute(run *r, int argc, char **argv)
{
    wfi_rank *rank = r->rank;
    wf_mpi_himeno_params params = {.size = sizeof params,
                                   .ni = r->ni,
                                   .nj = r->nj,
                                   .nk = r->nk,
                                   .tuning = &rank->session.tuning,
                                   .weights = r->shares.weights,
                                   .log = wfi_rank_log,
                                   .log_user = &rank->session,
                                   .blocks = {r->blocks[0], r->blocks[1], r->blocks[2]}};
    wf_result result = r->shares.balance ? balance(r, &params) : WF_SUCCESS;
    if (result == WF_SUCCESS)
        result = wf_mpi_himeno_create(MPI_COMM_WORLD, rank->session.device, &params, &r->himeno);
    if (result != WF_SUCCESS)
        return wfi_rank_failed(rank, result);
    rank->session.error[0] = '\0'; /* of choices that gave way to others */
    if (rank->prints)
        r->p = malloc((size_t)r->ni * r->nj * r->nk * sizeof *r->p);
    int code = rank->prints && !r->p ? wfi_run_error("himeno: out of memory") : WFI_EXIT_DONE;
    code = wfi_rank_share(code);
    if (code != WFI_EXIT_DONE)
        return code;
    result = work(r);
    if (r->told)
        return r->told;
    if (result != WF_SUCCESS)
        return wfi_rank_failed(rank, result);
    if (describe(r) != WF_SUCCESS)
        return wfi_run_error("himeno: no plan");
    return wfi_rank_share(finish(r, argc, argv));
}

/* -------------------------------------------------------------------------------------- options */

typedef struct arguments {
    const char *size, *iterations, *seconds, *output, *checkpoint, *every, *from, *blocks;
} arguments;

static int parse(const arguments *args, run *r)
{
    uint64_t extent[3], count = 0;
    if (args->iterations && args->seconds)
        return wfi_usage_error("himeno: give --iterations or --seconds, not both");
    if (wfi_shares_check_blocks("himeno", &r->shares, args->blocks) != WFI_EXIT_DONE)
        return WFI_EXIT_USAGE;
    const bool slabs = r->shares.text || r->shares.balance;
    if (wfi_blocks_parse(r->rank, "himeno", args->blocks || slabs ? args->blocks : "auto",
                         r->blocks) != WFI_EXIT_DONE)
        return WFI_EXIT_USAGE;
    if ((args->output || args->checkpoint || args->from) && !args->iterations)
        return wfi_usage_error("himeno: with %s, say how often p is relaxed: --iterations N",
                               args->output       ? "-o"
                               : args->checkpoint ? "--checkpoint"
                                                  : "--continue");
    if (args->from && (r->rank->common.variant || r->rank->common.constant_count))
        return wfi_usage_error("himeno: --continue goes on with the checkpoint's own variant");
    if (wfi_checkpoints_parse("himeno", args->checkpoint, args->every, &r->keep) != WFI_EXIT_DONE)
        return WFI_EXIT_USAGE;
    if (args->output && !wfi_path_takes_npy(args->output))
        return wfi_usage_error("himeno: -o writes P.npy, not '%s'", args->output);
    if (!wfi_parse_himeno_size("--size", args->size ? args->size : DEFAULT_SIZE, extent) ||
        (args->iterations &&
         !wfi_parse_u64("--iterations", args->iterations, 1, 1000000000, &count)) ||
        (args->seconds && !wfi_parse_seconds("--seconds", args->seconds, &r->seconds)))
        return WFI_EXIT_USAGE;
    if (args->size || !args->from) {
        r->ni = (uint32_t)extent[0];
        r->nj = (uint32_t)extent[1];
        r->nk = (uint32_t)extent[2];
    }
    r->iterations = (uint32_t)count;
    r->output = args->output;
    r->from = args->from;
    r->once = args->output || args->checkpoint || args->from;
    return WFI_EXIT_DONE;
}

/* What rank 0 finds wrong, it says for all. */
static int parse_together(const wfi_rank *rank, const arguments *args, run *r)
{
    int code = rank->prints ? parse(args, r) : WFI_EXIT_DONE;
    code = wfi_rank_share(code);
    return code == WFI_EXIT_DONE && !rank->prints ? parse(args, r) : code;
}

/* The checkpoint says what is left open: sizes and the variant. */
static int read_before(run *r)
{
    wfi_himeno_state state = {.extent = {r->ni, r->nj, r->nk}};
    wfi_io_error error;
    int code = r->from ? wfi_himeno_keep_read(r->rank, r->from, &r->before, &state) : WFI_EXIT_DONE;
    if (code != WFI_EXIT_DONE)
        return code;
    if (r->from) {
        r->ni = state.extent[0];
        r->nj = state.extent[1];
        r->nk = state.extent[2];
        r->before_iterations = state.iterations;
        r->gosa = state.gosa;
    }
    if (r->rank->prints && r->before_iterations >= r->iterations && r->from)
        code = wfi_usage_error("himeno: %s has %u iterations already; --iterations is how many "
                               "there are to be in all",
                               r->from, r->before_iterations);
    else if (r->rank->prints && r->keep.path && !wfi_atomic_check(r->keep.path, &error))
        code = wfi_run_error("%s", error.text);
    return wfi_rank_share(code);
}

int wfi_mpi_himeno(wfi_rank *rank, int argc, char **argv)
{
    arguments args = {0};
    static wfi_result_case result_case;
    run r = {.rank = rank, .seconds = DEFAULT_SECONDS, .out = &result_case};
    const wfi_option options[] = {
        {"--size", "XS|S|M|L|XL|IxJxK", &args.size, NULL,
         "cells of the whole grid, borders included (default: M)"},
        {"--iterations", "N", &args.iterations, NULL, "how many iterations the measured run makes"},
        {"--seconds", "T", &args.seconds, NULL, "how long the measured run takes (default 60)"},
        WFI_SHARES_OPTIONS(&r.shares, "planes"),
        WFI_BLOCKS_OPTION(&args.blocks),
        {"--checkpoint", "FILE", &args.checkpoint, NULL,
         "keep p in FILE while it is relaxed, in place of what was kept before"},
        {"--every", "N|Tmin|Ts", &args.every, NULL,
         "how often, in iterations, minutes or seconds (default 10min)"},
        {"--continue", "FILE", &args.from, NULL,
         "go on from a checkpoint until there are --iterations in all, on any number of ranks"},
        {"-o", "P.npy", &args.output, NULL, "write p as it is after --iterations"},
    };
    const wfi_command command = {
        "himeno",
        "[--size XS|S|M|L|XL|IxJxK] [--iterations N | --seconds T] "
        "[--weights W,W,… | --balance | --blocks IxJxK] "
        "[--checkpoint FILE [--every N|Tmin|Ts]] [--continue FILE] [-o P.npy]",
        "Runs the Himeno benchmark on the devices of all ranks: a 19-point Jacobi relaxation in "
        "f32, verified against f64.",
        0,
        0,
        options,
        sizeof options / sizeof *options};
    wfi_timeline_init(&r.timeline);
    bool done = false;
    int code = wfi_rank_parse(rank, &command, argc - 2, argv + 2, &done);
    if (code != WFI_EXIT_DONE || done)
        return code;
    code = parse_together(rank, &args, &r);
    if (code == WFI_EXIT_DONE)
        code = read_before(&r);
    if (code == WFI_EXIT_DONE)
        code = wfi_shares_parse(rank, "himeno", &r.shares);
    if (code != WFI_EXIT_DONE) {
        wfi_checkpoint_free(&r.before);
        return code;
    }
    wfi_result_case_init(&result_case, "himeno");
    if (args.from && !args.size)
        snprintf(result_case.name, sizeof result_case.name, "himeno %ux%ux%u", r.ni, r.nj, r.nk);
    else
        snprintf(result_case.name, sizeof result_case.name, "himeno %.40s",
                 args.size ? args.size : DEFAULT_SIZE);
    wfi_result_case_fact(&result_case, "ni", r.ni);
    wfi_result_case_fact(&result_case, "nj", r.nj);
    wfi_result_case_fact(&result_case, "nk", r.nk);
    wfi_result_case_fact(&result_case, "ranks", rank->count);
    result_case.type = wf_type_name(WF_TYPE_F32);
    code = wfi_rank_open(rank);
    if (code == WFI_EXIT_DONE)
        code = execute(&r, argc, argv);
    wf_mpi_himeno_destroy(&r.himeno);
    wfi_rank_close(rank);
    wfi_checkpoint_free(&r.before);
    wfi_shares_free(&r.shares);
    free(r.p);
    return code;
}
