/* Kernels of several candidates, compiled side by side: all of them before the first is timed, or
 * some while others are, where that disturbs no times. There the last of a generation compile on
 * while the best of it are timed for longer, and come with the next one: compilers of some kernels
 * take many times as long as those of others, and a search that waited for the slowest of each
 * generation did nothing else for half of its time. */
#include <math.h>

#include "core/device_kind.h"
#include "core/timing.h"
#include "kernels/families.h"
#include "tune/search.h"

#define FIRST_COMPILED 2
#define MOST_COMPILED 16
#define MOST_FRACTION 0.1 /* of the budget, for what is compiled at once */
#define LOOK_SECONDS 500e-6
#define BEGIN_SECONDS 10e-3 /* that beginning jobs may take before one of them is timed */
#define LATE_PART 4         /* of a generation: more than one in so many are waited for */
#define NONE UINT32_MAX

/* What fails to compile here fails again, with a message, when the plan is opened. */
static void begin(wfi_search *s, wfi_candidate *candidate)
{
    wfi_pipeline_list list = {0};
    const wfi_choice choice = {.point = candidate->point,
                               .family = wfi_family_get(candidate->point.problem->family)};
    choice.family->hooks->list(s->device, &choice, s->trial.own, &list);
    for (uint32_t i = 0; i < list.count; i++)
        if (wfi_compile_start(s->device, s->params->jobs, &list.items[i],
                              &candidate->compiles[candidate->compile_count]) == WF_SUCCESS)
            candidate->compile_count++;
}

static bool is_compiling(const wfi_candidate *candidate)
{
    for (uint32_t i = 0; i < candidate->compile_count; i++)
        if (wfi_compile_status(candidate->compiles[i]) == WF_NOT_READY)
            return true;
    return false;
}

/* The device keeps its pipelines, as ones that no plan needs any more. */
static void drop(wfi_candidate *candidate)
{
    while (candidate->compile_count > 0)
        wfi_compile_drop(&candidate->compiles[--candidate->compile_count]);
}

static void wait_for(wfi_candidate *candidate)
{
    while (is_compiling(candidate))
        wfi_sleep(LOOK_SECONDS);
    drop(candidate);
}

static void cancel(const wfi_candidate *candidate)
{
    for (uint32_t i = 0; i < candidate->compile_count; i++)
        wfi_compile_cancel(candidate->compiles[i]);
}

/* What the longest of its compilers took; 0: all was compiled before. */
static double seconds_of(const wfi_candidate *candidate)
{
    double seconds = 0;
    for (uint32_t i = 0; i < candidate->compile_count; i++)
        seconds = fmax(seconds, wfi_compile_seconds(candidate->compiles[i]));
    return seconds;
}

static bool may_compile(const wfi_search *s)
{
    return s->params->jobs && !s->one_by_one && s->device->cache.vk;
}

/* ----------------------------------------------------------------------- before any is timed */

/* Compiles the kernels of the first of `count` candidates and returns how many, at least 1. The
 * number follows from the time it took: a short search must not end before it has timed what it
 * compiled. */
static uint32_t compile_first(wfi_search *s, wfi_candidate *candidates, uint32_t count)
{
    const double begun = wfi_host_seconds();
    if (s->compiled_at_once == 0)
        s->compiled_at_once = FIRST_COMPILED;
    count = count < s->compiled_at_once ? count : s->compiled_at_once;
    if (!may_compile(s) || count < 2 || !wfi_search_report(s, "compiling", NULL))
        return 1;
    wfi_journal_note_several(&s->journal, true);
    for (uint32_t i = 0; i < count; i++)
        begin(s, &candidates[i]);
    for (uint32_t i = 0; i < count; i++)
        wait_for(&candidates[i]);
    wfi_journal_note_several(&s->journal, false);
    const double fraction = (wfi_host_seconds() - begun) / (s->decide_until - s->begun);
    if (fraction > MOST_FRACTION)
        s->compiled_at_once /= 2;
    else if (fraction < MOST_FRACTION / 2 && s->compiled_at_once < MOST_COMPILED)
        s->compiled_at_once *= 2;
    return count;
}

/* -------------------------------------------------------------------- while others are timed */

/* A card works and keeps time by itself. Other devices share the processor with the compilers, or
 * its power, and the host's clock counts what these take from the thread that submits. */
static bool disturbs_no_times(const wfi_search *s)
{
    return wfi_device_kind_of(&s->device->caps)->card && s->device->caps.timestamp_valid_bits &&
           !s->device->clock_errs;
}

/* One processor is left to the thread that times; more jobs than the others would end later. */
static uint32_t most_at_once(void)
{
    const uint32_t others = wfi_processors() - 1;
    return others < FIRST_COMPILED  ? FIRST_COMPILED
           : others > MOST_COMPILED ? MOST_COMPILED
                                    : others;
}

static uint32_t count_compiling(const wfi_pool *pool, uint32_t from, uint32_t until)
{
    uint32_t count = 0;
    for (uint32_t i = from; i < until; i++)
        count += is_compiling(&pool->items[i]);
    return count;
}

/* Begins jobs in place of those that ended. None is begun that would end when the time for
 * measuring is over, and where the caller runs jobs right away each is timed before the next. */
static void begin_more(wfi_search *s, wfi_pool *pool, uint32_t at, uint32_t most)
{
    const double now = wfi_host_seconds();
    if (!may_compile(s) || pool->count - at < 2 || now + s->compile_seconds > s->measure_until)
        return;
    while (pool->begun < pool->count && pool->begun < at + MOST_COMPILED &&
           count_compiling(pool, at, pool->begun) < most &&
           wfi_host_seconds() - now < BEGIN_SECONDS) {
        wfi_journal_note_several(&s->journal, true);
        begin(s, &pool->items[pool->begun++]);
    }
}

/* The first candidate that is compiled. As long as no point works they keep their order: what was
 * chosen before the search is tried first, and what is not near its time needs no check. Where the
 * clock turned out to be the host's after all, nothing may compile meanwhile. */
static uint32_t first_compiled(const wfi_search *s, const wfi_pool *pool, uint32_t at)
{
    const uint32_t until = s->elite_count > 0 && pool->begun > at ? pool->begun : at + 1;
    if (!disturbs_no_times(s) && count_compiling(pool, at, pool->begun) > 0)
        return NONE;
    for (uint32_t i = at; i < until; i++)
        if (!is_compiling(&pool->items[i]))
            return i;
    return NONE;
}

/* Whether those from `at` on are late. Something was measured before, so that those that were late
 * before, and are alone now, are waited for. An exhaustive search has no next generation in which
 * its points would come. */
static bool are_late(const wfi_search *s, const wfi_pool *pool, uint32_t at)
{
    const uint32_t left = pool->count - at;
    return at > 0 && left <= pool->count / LATE_PART && !s->params->exhaustive &&
           disturbs_no_times(s) && pool->begun == pool->count &&
           count_compiling(pool, at, pool->count) == left;
}

/* Waits until a candidate is compiled and returns its place; NONE: those that are left are late,
 * and `at` where the search is cancelled. */
static uint32_t wait_for_first(wfi_search *s, wfi_pool *pool, uint32_t at)
{
    const uint32_t most = disturbs_no_times(s) ? most_at_once() : 0;
    begin_more(s, pool, at, most);
    uint32_t first = first_compiled(s, pool, at);
    if (first != NONE || are_late(s, pool, at))
        return first;
    if (!wfi_search_report(s, "compiling", NULL))
        return at;
    while (first == NONE && !are_late(s, pool, at)) {
        wfi_sleep(LOOK_SECONDS);
        begin_more(s, pool, at, most);
        first = first_compiled(s, pool, at);
    }
    return first;
}

static bool compile_beside(wfi_search *s, wfi_pool *pool, uint32_t at)
{
    const uint32_t first = wait_for_first(s, pool, at);
    if (first == NONE)
        return false;
    const wfi_candidate next = pool->items[first];
    pool->items[first] = pool->items[at];
    pool->items[at] = next;
    pool->begun = pool->begun > at ? pool->begun : at + 1;
    if (s->cancelled)
        return true;
    const double took = seconds_of(&next);
    if (took > 0)
        s->compile_seconds = fmax(s->compile_seconds / 2, took);
    drop(&pool->items[at]);
    wfi_journal_note_several(&s->journal, count_compiling(pool, at, pool->begun) > 0);
    return true;
}

bool wfi_search_compile(wfi_search *s, wfi_pool *pool, uint32_t at)
{
    if (at < pool->begun || disturbs_no_times(s))
        return compile_beside(s, pool, at);
    pool->begun = at + compile_first(s, &pool->items[at], pool->count - at);
    return true;
}

void wfi_search_compile_late(wfi_search *s, wfi_pool *pool, uint32_t late)
{
    for (uint32_t i = late; i < pool->begun && !disturbs_no_times(s); i++)
        wait_for(&pool->items[i]);
    wfi_journal_note_several(&s->journal, count_compiling(pool, late, pool->begun) > 0);
}

void wfi_search_compile_end(wfi_search *s, wfi_pool *pool)
{
    for (uint32_t i = 0; i < pool->begun; i++)
        cancel(&pool->items[i]);
    if (count_compiling(pool, 0, pool->begun) > 0) /* no point is to blame for how long it takes */
        wfi_search_report(s, "compiling", NULL);
    for (uint32_t i = 0; i < pool->begun; i++)
        wait_for(&pool->items[i]);
    pool->begun = 0;
    wfi_journal_note_several(&s->journal, false);
}
