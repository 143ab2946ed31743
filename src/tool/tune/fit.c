/* Fits a device as a whole: the problems drawn by a seed share most of the time, and what their
 * rows and the model's rates are worth for others is measured in the rest. A run that was
 * interrupted goes on when it is started again, since problems that have a row are passed over. */
#include "tool/tune/fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/platform.h"
#include "tool/cases/random.h"
#include "tool/cli/console.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"
#include "tool/tune/calibrate.h"
#include "tool/tune/draw.h"
#include "tool/tune/outcomes.h"
#include "tool/tune/results.h"

#define SEARCHED 0.85     /* of the time; what it gained is measured in the rest */
#define SHARE_SECONDS 3.0 /* of a problem, where the command line does not say how many */
#define CPU_SECONDS 10.0  /* likewise on CPU devices, which compile for a second or more a point */
#define WEIGHED_SECONDS 1.5 /* of a problem whose gain is measured, with its inputs */

typedef struct fit {
    const wfi_tune_arguments *args;
    const wfi_common *common;
    wfi_tune_device device;
    double begun;
    uint64_t other_seed;
    uint32_t left;           /* problems that the time did not suffice for */
    uint32_t tuned, weighed; /* problems: first those that are tuned, then the others */
    wfi_case_problem problems[2 * WFI_MAX_TUNE_PROBLEMS];
    wfi_tune_outcome outcomes[2 * WFI_MAX_TUNE_PROBLEMS];
} fit;

/* As many problems as the time suffices for. */
static uint32_t as_many(double seconds, double each)
{
    const double count = floor(seconds / each);
    return count < 1 ? 1 : count > WFI_MOST_DRAWN ? WFI_MOST_DRAWN : (uint32_t)count;
}

static int draw(fit *f)
{
    const wfi_tune_arguments *args = f->args;
    const double share = f->device.cpu ? CPU_SECONDS : SHARE_SECONDS;
    const uint32_t count = args->count ? args->drawn : as_many(args->seconds * SEARCHED, share);
    uint64_t state = f->common->seed;
    f->other_seed = wfi_random_bits(&state) % 1000000;
    f->other_seed += f->other_seed == f->common->seed;
    const uint32_t others = as_many(args->seconds * (1 - SEARCHED), WEIGHED_SECONDS);
    const int code = wfi_tune_draw(args, &f->device, f->common->seed, WFI_MOST_DRAWN, count,
                                   f->problems, &f->tuned);
    if (code != WFI_EXIT_DONE)
        return code;
    return wfi_tune_draw(args, &f->device, f->other_seed, WFI_MOST_DRAWN,
                         others < count ? others : count, &f->problems[f->tuned], &f->weighed);
}

static wfi_tune_work work_of(fit *f, double until)
{
    return (wfi_tune_work){.common = f->common,
                           .device = &f->device,
                           .budget_seconds = fmax(0, until - (wfi_host_seconds() - f->begun)),
                           .ends = true,
                           .patience_seconds = f->args->patience_seconds,
                           .count = f->tuned,
                           .problems = f->problems,
                           .outcomes = f->outcomes};
}

/* How many problems were begun: the time ended before the others. */
static uint32_t begun(const wfi_tune_work *work)
{
    uint32_t count = work->count;
    while (count && !work->outcomes[count - 1].done &&
           work->outcomes[count - 1].result == WF_SUCCESS)
        count--;
    return count;
}

/* Where it fails or is interrupted, what was searched until then is told all the same. */
static int search(fit *f)
{
    wfi_tune_work work = work_of(f, f->args->seconds * SEARCHED);
    work.unless_kept = true;
    if (!f->args->no_calibrate)
        wfi_calibrate_before(&work);
    const int code = wfi_tune_run(&work);
    f->tuned = begun(&work);
    f->left = work.count - f->tuned;
    memmove(&f->problems[f->tuned], &f->problems[work.count], f->weighed * sizeof *f->problems);
    return code == WFI_EXIT_DONE ? wfi_tune_tell_interruption(&work) : code;
}

static int weigh(fit *f)
{
    wfi_tune_work work = work_of(f, f->args->seconds);
    work.weigh = true;
    work.count = f->weighed;
    work.problems += f->tuned;
    work.outcomes += f->tuned;
    const int code = wfi_tune_run(&work);
    f->weighed = code == WFI_EXIT_DONE ? begun(&work) : 0;
    return code == WFI_EXIT_DONE ? wfi_tune_tell_interruption(&work) : code;
}

static void print_weighed(const wfi_case_problem *problem, const wfi_tune_outcome *o)
{
    char before[48], best[48];
    wfi_format_time(o->before.us, before, sizeof before);
    wfi_format_time(o->best.us, best, sizeof best);
    printf("%-7s %-4s %-14s %10s %10s %6.2fx %5.1f %%  %s\n", wf_family_name(problem->family),
           wf_type_name(problem->type), problem->name, before, best, o->before.us / o->best.us,
           o->spread * 100, o->best.by);
}

/* The others' times without and with what is kept, and the mean. */
static void print_gain(const fit *f)
{
    double sum = 0, least = INFINITY, most = 0;
    uint32_t there = 0, by_rows = 0;
    for (uint32_t i = f->tuned; i < f->tuned + f->weighed; i++) {
        const wfi_tune_outcome *o = &f->outcomes[i];
        if (!o->done || !(o->before.us > 0) || !(o->best.us > 0))
            continue;
        if (there == 0)
            printf("\n%-7s %-4s %-14s %10s %10s %7s %7s\n", "family", "type", "problem", "without",
                   "with", "faster", "noise");
        print_weighed(&f->problems[i], o);
        const double gain = o->before.us / o->best.us;
        sum += log(gain);
        least = fmin(least, gain);
        most = fmax(most, gain);
        by_rows += strcmp(o->best.by, "tuned") == 0;
        there++;
    }
    if (there == 0) {
        puts("no time was left to measure what other problems gain");
        return;
    }
    wfi_line(4,
             "%u problem%s of seed %llu, for which nothing was searched: %.3f times as fast with "
             "what is kept of this device (geometric mean; %.2f to %.2f), %u of them by rows",
             there, there == 1 ? "" : "s", (unsigned long long)f->other_seed, exp(sum / there),
             least, most, by_rows);
}

static int print(const fit *f)
{
    uint32_t searched = 0, before = 0;
    for (uint32_t i = 0; i < f->tuned; i++) {
        searched += f->outcomes[i].done && f->outcomes[i].searched;
        before += f->outcomes[i].done && !f->outcomes[i].searched;
    }
    const int code = wfi_tune_print(f->problems, f->outcomes, f->tuned);
    wfi_line(4, "%u of %u problems of seed %llu were searched, %u had a row before, %u are left",
             searched, f->tuned + f->left, (unsigned long long)f->common->seed, before,
             f->tuned + f->left - searched - before);
    print_gain(f);
    return code;
}

int wfi_tune_fit(const wfi_tune_arguments *args, const wfi_common *common)
{
    static fit f;
    f = (fit){.args = args, .common = common, .begun = wfi_host_seconds()};
    int code = wfi_tune_probe(common, &f.device), told = WFI_EXIT_DONE;
    if (code == WFI_EXIT_DONE)
        code = draw(&f);
    if (code != WFI_EXIT_DONE)
        return code;
    code = search(&f);
    if (code == WFI_EXIT_NO_DEVICE || code == WFI_EXIT_USAGE)
        return code;
    if (code == WFI_EXIT_DONE)
        code = weigh(&f);
    else
        f.weighed = 0;
    if (!wfi_json_on_stdout(common))
        told = print(&f);
    wfi_tune_work all = work_of(&f, 0);
    all.count = f.tuned + f.weighed;
    const int written = wfi_tune_write(&all, args->argc, args->argv);
    return code != WFI_EXIT_DONE ? code : told != WFI_EXIT_DONE ? told : written;
}
