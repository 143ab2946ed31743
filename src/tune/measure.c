/* Trying candidates: each is run once and verified, then timed; the better half goes on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/caps.h"
#include "core/timing.h"
#include "tune/search.h"

#define SAMPLE_SECONDS 3e-3     /* a sample lasts at least so long */
#define SAMPLE_SECONDS_CPU 1e-2 /* a CPU has more else to do */
#define WARM_SECONDS 0.06       /* a GPU's clocks fall while the host compiles */
#define FIRST_SAMPLES 3
#define HOPELESS 3.0 /* times the best: the first run alone says enough */
#define PROMISING 1.3
#define NEAR 1.15 /* the same where every point has its turn */
#define LOOK_SHARE                                                                                 \
    0.4 /* of the warming, before the look that an exhaustive search has at a point */
#define RUNGS 4
#define MOST_UNITS 4096
#define KEEP_SECONDS 0.5 /* what is learned in so long a time may be lost with the process */

static void note_bad(wfi_search *s, const wfi_candidate *candidate, const char *reason)
{
    wfi_named_point bad = candidate->named;
    snprintf(bad.reason, sizeof bad.reason, "%s", reason);
    wfi_entry_add_bad(&s->entry, &bad);
    s->result->wrong++;
}

/* Units a sample, from the time of one unit. */
static uint32_t units_for(const wfi_search *s, double seconds)
{
    const double wanted =
        (wfi_is_cpu(&s->device->caps) ? SAMPLE_SECONDS_CPU : SAMPLE_SECONDS) / (seconds + 1e-9);
    return wanted < 1 ? 1 : wanted > MOST_UNITS ? MOST_UNITS : (uint32_t)wanted;
}

static wf_result warm(wfi_search *s, wfi_runner *runner, uint32_t units, double share)
{
    const double until =
        wfi_host_seconds() + (wfi_is_cpu(&s->device->caps) ? 0 : WARM_SECONDS * share);
    wf_result result = WF_SUCCESS;
    double seconds;
    while (result == WF_SUCCESS && wfi_host_seconds() < until)
        result = wfi_runner_time(runner, units, &seconds);
    return result;
}

static wf_result sample(wfi_search *s, wfi_runner *runner, uint32_t rung, wfi_candidate *candidate)
{
    static const uint32_t most = FIRST_SAMPLES << (RUNGS - 1);
    wf_timing timing = {.count = 0};
    double seconds = 0;
    wf_result result = wfi_runner_time(runner, 1, &seconds);
    const double best = s->elite_count ? s->elite[0].seconds : INFINITY;
    if (result == WF_SUCCESS && seconds > best * HOPELESS && seconds > SAMPLE_SECONDS) {
        candidate->seconds = seconds;
        return WF_SUCCESS;
    }
    uint32_t units = units_for(s, seconds * runner->unit);
    /* Where every point has its turn, most are far behind: one look at each must do. */
    const bool look = s->params->exhaustive && rung == 0;
    if (result == WF_SUCCESS)
        result = warm(s, runner, units, look ? LOOK_SHARE : 1);
    /* The first run may have been with low clocks. */
    if (result == WF_SUCCESS)
        result = wfi_runner_time(runner, units, &seconds);
    if (result == WF_SUCCESS && look && seconds > best * NEAR) {
        candidate->seconds = seconds;
        return WF_SUCCESS;
    }
    units = units_for(s, seconds * runner->unit);
    const uint32_t wanted = FIRST_SAMPLES << rung;
    while (result == WF_SUCCESS && timing.count < (wanted < most ? wanted : most)) {
        result = wfi_runner_time(runner, units, &seconds);
        timing.samples_us[timing.count++] = seconds * 1e6;
    }
    wfi_timing_summarise(&timing);
    candidate->seconds = timing.median_us * 1e-6;
    candidate->spread = timing.spread;
    return result;
}

/* A kernel that keeps registers in memory is slower than its neighbours that do not: what the search
 * begins with is timed all the same, and so is everything as long as nothing else works. */
static bool is_passed_over(const wfi_search *s, const wfi_candidate *candidate,
                           const wfi_runner *runner)
{
    return !s->params->exhaustive && s->elite_count > 0 && candidate->hash != s->incumbent.hash &&
           wfi_kernel_spills(&runner->info.kernel);
}

/* Everything between the plan and its time. */
static wf_result try_candidate(wfi_search *s, wfi_candidate *candidate, uint32_t rung, bool *right)
{
    wf_constant constants[WF_MAX_PARAMETERS];
    const wf_tuning tuning = wfi_point_tuning(&candidate->point, constants);
    wfi_runner runner;
    *right = true;
    wf_result result = wfi_runner_open(&s->trial, &tuning, &runner);
    candidate->spills = result == WF_SUCCESS && is_passed_over(s, candidate, &runner);
    if (candidate->spills) {
        wfi_runner_close(&runner);
        return WF_SUCCESS;
    }
    if (result == WF_SUCCESS && !candidate->verified)
        result = wfi_runner_verify(&runner, right);
    candidate->verified = *right;
    if (result == WF_SUCCESS && *right)
        result = sample(s, &runner, rung, candidate);
    wfi_runner_close(&runner);
    return result;
}

bool wfi_search_measure(wfi_search *s, wfi_candidate *candidate, uint32_t rung)
{
    bool right = true;
    if (!wfi_search_report(s, "measuring", &candidate->named))
        return false;
    wfi_journal_note(&s->journal, &s->entry, &candidate->named);
    const wf_result result = try_candidate(s, candidate, rung, &right);
    wfi_journal_note(&s->journal, NULL, NULL);
    if (result == WF_ERROR_CANCELLED) { /* says nothing of the point */
        s->cancelled = true;
        return false;
    }
    if (!wfi_entry_is_tried(&s->entry, candidate->hash))
        (*(candidate->spills ? &s->result->spilling : &s->result->measured))++;
    wfi_entry_add_tried(&s->entry, candidate->hash);
    if (candidate->spills)
        return false;
    if (result == WF_SUCCESS && right && candidate->seconds > 0)
        return true;
    if (!right)
        note_bad(s, candidate, "wrong result");
    else if (result == WF_ERROR_DEVICE_LOST) {
        note_bad(s, candidate, "the device was lost");
        s->broken = result;
    } else if (result != WF_ERROR_OUT_OF_DEVICE_MEMORY && result != WF_ERROR_OUT_OF_HOST_MEMORY)
        note_bad(s, candidate, wf_result_string(result));
    return false;
}

static int compare(const void *a, const void *b)
{
    const wfi_candidate *x = a, *y = b;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* Puts a measured candidate among the elite if it belongs there. */
static void join_elite(wfi_search *s, const wfi_candidate *candidate)
{
    uint32_t at = s->elite_count;
    for (uint32_t i = 0; i < s->elite_count; i++)
        if (s->elite[i].hash == candidate->hash)
            at = i;
    if (at == s->elite_count && s->elite_count < WFI_ELITE)
        s->elite_count++;
    else if (at == s->elite_count && candidate->seconds >= s->elite[s->elite_count - 1].seconds)
        return;
    else if (at == s->elite_count)
        at--;
    s->elite[at] = *candidate;
    qsort(s->elite, s->elite_count, sizeof *s->elite, compare);
}

void wfi_search_halve(wfi_search *s, wfi_pool *pool)
{
    uint32_t count = pool->count;
    const double promising = s->params->exhaustive ? NEAR : PROMISING;
    for (uint32_t rung = 0; rung < RUNGS && count > 0 && wfi_search_goes_on(s); rung++) {
        uint32_t left = 0, compiled = 0;
        for (uint32_t i = 0; i < count && wfi_search_goes_on(s); i++) {
            wfi_candidate *c = &pool->items[i];
            if (rung == 0 && i >= compiled)
                compiled = i + wfi_search_compile(s, c, count - i);
            if (!wfi_search_measure(s, c, rung))
                continue;
            join_elite(s, c);
            if (c->seconds < s->elite[0].seconds * promising)
                pool->items[left++] = *c;
            if (wfi_host_seconds() - s->kept_at > KEEP_SECONDS)
                wfi_search_keep(s);
        }
        qsort(pool->items, left, sizeof *pool->items, compare);
        count = left / 2;
        if (rung + 1 < RUNGS && left == 1)
            break;
    }
}
