/* The decision: the finalists run in turn, round after round, so that other work on the machine
 * slows all of them alike. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "choose/choose.h"
#include "core/heap.h"
#include "core/timing.h"
#include "profiles/tune.h"
#include "tune/search.h"

#define LEAST_ROUNDS 7
#define MOST_ROUNDS 201
#define WARM_SECONDS 0.3
#define CLEAR 0.01   /* uncertainty of a ratio that is good enough */
#define BEHIND 1.1   /* ratio from which on it matters little */
#define NEAR 1.3     /* of the best: a finalist */
#define PATIENCE 4.0 /* times the time of a comparison that noise may take */
#define DRIFT 0.05   /* between the halves of the rounds: the clock changed */

typedef struct finalist {
    wfi_candidate *candidate;
    wfi_runner runner;
    uint32_t units;
    wf_timing timing;
} finalist;

typedef struct final_round {
    uint32_t count;
    finalist items[WF_TUNE_MOST_RIVALS];
} final_round;

static wf_result enter(wfi_search *s, wfi_candidate *candidate, final_round *final)
{
    wf_constant constants[WF_MAX_PARAMETERS];
    const wf_tuning tuning = wfi_point_tuning(&candidate->point, constants);
    finalist *f = &final->items[final->count];
    double seconds = 0;
    f->candidate = candidate;
    f->timing.count = 0;
    wf_result result = wfi_runner_open(&s->trial, &tuning, &f->runner);
    if (result != WF_SUCCESS)
        return result;
    final->count++;
    result = wfi_runner_time(&f->runner, 1, &seconds);
    if (result == WF_SUCCESS)
        result = wfi_runner_time(&f->runner, 1, &seconds);
    const double round = wfi_tune_profile_of(&s->device->caps)->round_seconds;
    const double wanted = round / (seconds * f->runner.unit + 1e-9);
    f->units = wanted < 1 ? 1 : wanted > 8192 ? 8192 : (uint32_t)wanted;
    return result;
}

static wf_result run_round(final_round *final, uint32_t first, bool timed)
{
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < final->count && result == WF_SUCCESS; i++) {
        finalist *f = &final->items[(first + i) % final->count];
        double seconds = 0;
        result = wfi_runner_time(&f->runner, f->units, &seconds);
        if (timed && result == WF_SUCCESS)
            f->timing.samples_us[f->timing.count++] = seconds * 1e6;
    }
    return result;
}

/* Times of a to those of b, round by round. */
typedef struct ratio {
    uint32_t rounds;
    double median, uncertainty; /* the quartiles' distance over the root of the rounds */
} ratio;

static ratio ratio_of(const finalist *a, const finalist *b)
{
    wf_timing ratios = {.count = 0};
    if (a == b)
        return (ratio){a->timing.count, 1, 0};
    for (uint32_t i = 0; i < a->timing.count && i < b->timing.count; i++)
        ratios.samples_us[ratios.count++] =
            a->timing.samples_us[i] / (b->timing.samples_us[i] + 1e-12);
    if (ratios.count == 0)
        return (ratio){0, 1, 1};
    wfi_timing_summarise(&ratios);
    return (ratio){ratios.count, ratios.median_us,
                   (ratios.q3_us - ratios.q1_us) / sqrt(ratios.count)};
}

/* Whether a beats b by more than the noise. */
static bool beats(const finalist *a, const finalist *b)
{
    const ratio r = ratio_of(a, b);
    return r.rounds >= LEAST_ROUNDS && r.median + r.uncertainty < 1;
}

/* The one that no other beats in the median of the rounds. */
static uint32_t fastest_of(const final_round *final)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < final->count; i++)
        if (ratio_of(&final->items[i], &final->items[best]).median < 1)
            best = i;
    return best;
}

/* Whether more rounds would say little more about the ratios of the better ones. */
static bool is_clear(const final_round *final)
{
    const finalist *best = &final->items[fastest_of(final)];
    for (uint32_t i = 0; i < final->count; i++) {
        const ratio r = ratio_of(&final->items[i], best);
        if (&final->items[i] != best && r.uncertainty > CLEAR &&
            r.median - 2 * r.uncertainty < BEHIND)
            return false;
    }
    return true;
}

/* Whether the fastest took other times in the later rounds than in the earlier, as on a GPU that
 * changed its clock. The ratios of the finalists still hold then, but their times do not. */
static bool drifted(const final_round *final)
{
    const wf_timing *all = &final->items[fastest_of(final)].timing;
    wf_timing halves[2] = {{.count = 0}, {.count = 0}};
    for (uint32_t i = 0; i < all->count; i++) {
        wf_timing *half = &halves[i >= all->count / 2];
        half->samples_us[half->count++] = all->samples_us[i];
    }
    wfi_timing_summarise(&halves[0]);
    wfi_timing_summarise(&halves[1]);
    return all->count >= LEAST_ROUNDS &&
           fabs(halves[0].median_us - halves[1].median_us) > DRIFT * halves[1].median_us;
}

/* Runs rounds until `until`, and on until `latest` while they leave the result unclear. */
static wf_result run_rounds(wfi_search *s, final_round *final, double until, double latest)
{
    wf_result result = WF_SUCCESS;
    for (uint32_t round = 0; round < MOST_ROUNDS && result == WF_SUCCESS; round++) {
        const double now = wfi_host_seconds();
        if (round >= LEAST_ROUNDS && now > until && (now > latest || is_clear(final)))
            break;
        if (!wfi_search_report(s, "deciding", NULL))
            break;
        result = run_round(final, round, true);
    }
    return result;
}

/* Warms the device up, then runs rounds for `seconds`, or for up to `most` where the result is
 * unclear. Where the clock changed meanwhile, it does so once more. */
static wf_result decide_between(wfi_search *s, final_round *final, double seconds, double most)
{
    const bool clock_moves = wfi_tune_profile_of(&s->device->caps)->clock_moves;
    wf_result result = WF_SUCCESS;
    for (int attempt = 0; attempt < 2 && result == WF_SUCCESS && !s->cancelled; attempt++) {
        if (attempt > 0 && !(clock_moves && drifted(final)))
            break;
        for (uint32_t i = 0; i < final->count; i++)
            final->items[i].timing.count = 0;
        const double warm_until = wfi_host_seconds() + (clock_moves ? WARM_SECONDS : 0);
        while (result == WF_SUCCESS && wfi_host_seconds() < warm_until)
            result = run_round(final, 0, false);
        const double now = wfi_host_seconds();
        if (result == WF_SUCCESS)
            result = run_rounds(s, final, now + seconds, now + most);
    }
    for (uint32_t i = 0; i < final->count; i++)
        wfi_timing_summarise(&final->items[i].timing);
    return result;
}

static void describe(const finalist *f, const char *chosen_by, wf_plan_info *info)
{
    *info = f->runner.info;
    info->chosen_by = chosen_by;
}

static int compare(const void *a, const void *b)
{
    const wfi_candidate *x = a, *y = b;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

static void conclude(wfi_search *s, final_round *final)
{
    const finalist *incumbent = NULL, *best = NULL;
    for (uint32_t i = 0; i < final->count; i++) {
        finalist *f = &final->items[i];
        if (f->timing.count == 0)
            continue;
        f->candidate->seconds = f->timing.median_us * 1e-6;
        f->candidate->spread = f->timing.spread;
        if (f->candidate->hash == s->incumbent.hash)
            incumbent = f;
        if (!best || f->timing.median_us < best->timing.median_us)
            best = f;
    }
    if (!best)
        return;
    if (incumbent && !beats(best, incumbent))
        best = incumbent;
    if (incumbent) {
        describe(incumbent, s->result->before.chosen_by, &s->result->before);
        s->result->before_us = incumbent->timing.median_us;
    }
    describe(best, "tuned", &s->result->best);
    s->result->best_us = best->timing.median_us;
    s->result->spread = best->timing.spread;
    const wfi_candidate winner = *best->candidate;
    qsort(s->elite, s->elite_count, sizeof *s->elite, compare);
    /* The winner first, even where another's median is lower by less than the noise. */
    uint32_t at = 0;
    while (at < s->elite_count && s->elite[at].hash != winner.hash)
        at++;
    if (at == s->elite_count)
        at = s->elite_count < WFI_ELITE ? s->elite_count++ : WFI_ELITE - 1;
    memmove(&s->elite[1], &s->elite[0], at * sizeof *s->elite);
    s->elite[0] = winner;
}

/* The number of the elite that decide: those near enough to the best, as long as enough rounds
 * of them and of the choice before the search fit into `seconds`; at least two. */
static uint32_t finalists(const wfi_search *s, double seconds)
{
    const double round = wfi_tune_profile_of(&s->device->caps)->round_seconds;
    double all = fmax(s->incumbent.seconds, round);
    uint32_t count = 0;
    for (; count < s->elite_count; count++) {
        all += fmax(s->elite[count].seconds, round);
        if (count > 1 && (s->elite[count].seconds > s->elite[0].seconds * NEAR ||
                          all * (LEAST_ROUNDS + 2) > seconds))
            break;
    }
    return count;
}

wf_result wfi_search_decide(wfi_search *s)
{
    final_round *final = wfi_calloc(1, sizeof *final);
    bool incumbent_in = false;
    if (!final)
        return wfi_no_memory(&s->device->log);
    const double seconds = fmax(s->decide_until - wfi_host_seconds(), 0);
    const uint32_t count = finalists(s, seconds);
    /* Before any of them runs, so that no point is blamed for what happens from here on. */
    wf_result result = wfi_search_report(s, "deciding", NULL) ? WF_SUCCESS : WF_ERROR_CANCELLED;
    for (uint32_t i = 0; i < count && result == WF_SUCCESS; i++) {
        incumbent_in = incumbent_in || s->elite[i].hash == s->incumbent.hash;
        result = enter(s, &s->elite[i], final);
    }
    if (result == WF_SUCCESS && !incumbent_in && s->incumbent.verified)
        result = enter(s, &s->incumbent, final);
    /* Where not all finalists fit into memory at once, those that do decide. */
    if (result == WF_ERROR_OUT_OF_DEVICE_MEMORY || result == WF_ERROR_TOO_LARGE)
        result = WF_SUCCESS;
    const double left = fmax(s->decide_until - wfi_host_seconds(), 0);
    if (result == WF_SUCCESS && final->count)
        result = decide_between(s, final, left, left);
    if (result == WF_SUCCESS)
        conclude(s, final);
    for (uint32_t i = 0; i < final->count; i++)
        wfi_runner_close(&final->items[i].runner);
    wfi_free(final);
    return result;
}

/* Adds the rival unless the same point is there already; its place goes to *at. */
static wf_result enter_rival(wfi_search *s, const wf_tuning *tuning, wfi_candidate *candidate,
                             final_round *final, uint32_t *at, wf_plan_info *info)
{
    wfi_choice choice;
    bool right = false;
    wf_result result = wfi_choose(s->device, &s->trial.problem, tuning, &choice);
    if (result != WF_SUCCESS)
        return result;
    choice.point.problem = &s->trial.problem;
    *candidate = (wfi_candidate){.point = choice.point, .named = wfi_point_named(&choice.point)};
    candidate->hash = wfi_named_point_hash(&candidate->named);
    for (*at = 0; *at < final->count; ++*at)
        if (final->items[*at].candidate->hash == candidate->hash)
            break;
    if (*at == final->count) {
        result = enter(s, candidate, final);
        if (result == WF_SUCCESS)
            result = wfi_runner_verify(&final->items[*at].runner, &right);
        if (result == WF_SUCCESS && !right)
            result = wfi_fail(&s->device->log, WF_ERROR_UNSUPPORTED, "%s: a wrong result",
                              candidate->named.variant);
        if (result != WF_SUCCESS && final->count > *at)
            wfi_runner_close(&final->items[--final->count].runner);
    }
    if (result == WF_SUCCESS) {
        *info = final->items[*at].runner.info;
        info->chosen_by = choice.chosen_by;
    }
    return result;
}

wf_result wfi_search_compare(wfi_search *s, const wf_tuning *tunings, uint32_t count,
                             wf_plan_info *infos, double *us, double *noise)
{
    wfi_candidate candidates[WF_TUNE_MOST_RIVALS];
    uint32_t places[WF_TUNE_MOST_RIVALS];
    final_round *final = wfi_calloc(1, sizeof *final);
    if (!final)
        return wfi_no_memory(&s->device->log);
    wf_result result = wfi_search_report(s, "deciding", NULL) ? WF_SUCCESS : WF_ERROR_CANCELLED;
    for (uint32_t i = 0; i < count && result == WF_SUCCESS; i++) {
        const wf_result entered =
            enter_rival(s, &tunings[i], &candidates[i], final, &places[i], &infos[i]);
        if (entered != WF_SUCCESS)
            places[i] = UINT32_MAX;
        if (entered == WF_ERROR_DEVICE_LOST || entered == WF_ERROR_CANCELLED)
            result = entered;
    }
    const double budget = s->decide_until - s->begun;
    if (result == WF_SUCCESS && final->count)
        result = decide_between(s, final, budget, budget * PATIENCE);
    if (result == WF_SUCCESS && s->cancelled)
        result = WF_ERROR_CANCELLED;
    const finalist *best = &final->items[fastest_of(final)];
    for (uint32_t i = 0; i < count && result == WF_SUCCESS; i++) {
        const bool there = places[i] != UINT32_MAX;
        const ratio r = there ? ratio_of(&final->items[places[i]], best) : (ratio){.rounds = 0};
        us[i] = r.median * best->timing.median_us;
        if (noise)
            noise[i] = r.uncertainty;
    }
    for (uint32_t i = 0; i < final->count; i++)
        wfi_runner_close(&final->items[i].runner);
    wfi_free(final);
    return result;
}
