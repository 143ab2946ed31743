/* Candidates are tried: each is timed, those among the best are verified, and the faster half is
 * timed longer. */
#include <stdlib.h>
#include <string.h>

#include "kernels/families.h"
#include "core/caps.h"
#include "core/timing.h"
#include "tune/search.h"

#define RUNGS 4
#define KEEP_SECONDS 0.5 /* what is learned in so long a time may be lost with the process */

static void note_bad(wfi_search *s, const wfi_candidate *candidate, bool suspected,
                     const char *reason)
{
    wfi_named_point bad = candidate->named;
    bad.suspected = suspected;
    snprintf(bad.reason, sizeof bad.reason, "%s", reason);
    wfi_entry_add_bad(&s->entry, &bad);
    s->result->wrong++;
}

/* A kernel that spills registers is slower than its neighbours that do not, and is not timed.
 * The points that the search begins with are timed all the same, and so is every point as long as
 * none works. */
static bool is_passed_over(const wfi_search *s, const wfi_candidate *candidate,
                           const wfi_runner *runner)
{
    return !s->params->exhaustive && s->elite_count > 0 && candidate->hash != s->incumbent.hash &&
           wfi_kernel_spills(&runner->info.kernel);
}

/* Checking costs more than timing: it is for what would be among the best. */
static bool may_win(const wfi_search *s, const wfi_candidate *candidate)
{
    return s->elite_count == 0 || candidate->hash == s->incumbent.hash ||
           candidate->seconds < s->elite[0].seconds * wfi_search_margin(s);
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
    if (result == WF_SUCCESS)
        result = wfi_search_sample(s, &runner, rung, candidate);
    if (result == WF_SUCCESS && !candidate->verified && may_win(s, candidate)) {
        result = wfi_runner_verify(&runner, right);
        candidate->verified = result == WF_SUCCESS && *right;
    }
    wfi_runner_close(&runner);
    return result;
}

/* A point ran, so that the points lost before it can be judged: they are to blame, or the device
 * is lost at any point. */
static void judge_suspects(wfi_search *s)
{
    bool acquitted = false;
    if (!wfi_entry_judge(&s->entry, &acquitted))
        return;
    s->acquitted = s->acquitted || acquitted;
    s->kept_at = 0; /* kept at once, before the next point may be lost */
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
    if (!wfi_entry_is_tried(&s->entry, candidate->hash)) {
        (*(candidate->spills ? &s->result->spilling : &s->result->measured))++;
        s->drawn += candidate->wide;
    }
    wfi_entry_add_tried(&s->entry, candidate->hash);
    if (rung == 0 && (candidate->spills || (result == WF_SUCCESS && right)))
        wfi_learned_add(s->learned, &candidate->point, candidate->spills ? 0 : candidate->seconds);
    if (candidate->spills)
        return false;
    if (result == WF_SUCCESS && right && candidate->seconds > 0) {
        judge_suspects(s);
        return true;
    }
    if (!right)
        note_bad(s, candidate, false, "wrong result");
    else if (result == WF_ERROR_DEVICE_LOST) {
        note_bad(s, candidate, true, "the device was lost");
        s->broken = result;
    } else if (result != WF_ERROR_OUT_OF_DEVICE_MEMORY && result != WF_ERROR_OUT_OF_HOST_MEMORY)
        note_bad(s, candidate, false, wf_result_string(result));
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
    if (!candidate->verified)
        return;
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

static void note_leader(wfi_search *s, const wfi_candidate *candidate)
{
    const wfi_family *family = wfi_family_get(s->trial.problem.family);
    wfi_candidate *leader = &s->leaders[wfi_variant_find(family, candidate->point.variant->name)];
    if (leader->seconds == 0 || candidate->seconds < leader->seconds)
        *leader = *candidate;
}

static void note_incumbent(wfi_search *s, const wfi_candidate *candidate)
{
    if (candidate->hash != s->incumbent.hash || !candidate->verified)
        return;
    s->incumbent.verified = true;
    s->incumbent.seconds = candidate->seconds;
}

/* Measures the candidate; false: it is out of the race. */
static bool stays(wfi_search *s, wfi_candidate *candidate, uint32_t rung)
{
    wfi_search_settle(s);
    if (!wfi_search_measure(s, candidate, rung))
        return false;
    note_incumbent(s, candidate);
    note_leader(s, candidate);
    join_elite(s, candidate);
    if (wfi_host_seconds() - s->kept_at > KEEP_SECONDS)
        wfi_search_keep(s);
    return candidate->verified && candidate->seconds < s->elite[0].seconds * wfi_search_margin(s);
}

/* Measures each once, as long as the search goes on, and returns how many stay in the race: they
 * come first then. Those from *late on were not measured, and are late where any were begun. */
static uint32_t measure_once(wfi_search *s, wfi_pool *pool, uint32_t *late)
{
    uint32_t left = 0, at = 0;
    for (; at < pool->count && wfi_search_goes_on(s) && wfi_search_compile(s, pool, at); at++)
        if (stays(s, &pool->items[at], 0))
            pool->items[left++] = pool->items[at];
    if (at == pool->count || !wfi_search_goes_on(s))
        wfi_search_compile_end(s, pool);
    *late = at;
    return left;
}

void wfi_search_halve(wfi_search *s, wfi_pool *pool)
{
    uint32_t late, left = measure_once(s, pool, &late);
    for (uint32_t rung = 1; rung < RUNGS && left > 1; rung++) {
        qsort(pool->items, left, sizeof *pool->items, compare);
        const uint32_t count = left / 2;
        left = 0;
        for (uint32_t i = 0; i < count && wfi_search_goes_on(s); i++) {
            wfi_search_compile_late(s, pool, late);
            if (stays(s, &pool->items[i], rung))
                pool->items[left++] = pool->items[i];
        }
    }
    pool->count = pool->begun = pool->begun > 0 ? pool->count - late : 0;
    if (pool->count > 0)
        memmove(pool->items, pool->items + late, pool->count * sizeof *pool->items);
}
