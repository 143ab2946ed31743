/* Times points with no more runs than it takes to tell them from the best, and corrects the
 * times for a clock that changes. */
#include <math.h>

#include "core/timing.h"
#include "profiles/tune.h"
#include "tune/search.h"

#define WARM_SECONDS 0.06 /* where clocks fall while the host compiles */
#define STEADY 0.02       /* a clock is, where runs before and after warming differ by less */
#define LEARN_STEADY 8    /* warmings that show it */
#define FIRST_SAMPLES 3
#define MOST_SAMPLES 24
#define POINT_FRACTION 0.004  /* of the search's time, for the first samples of a slow point */
#define HOPELESS 3.0          /* times the best: the first run alone says enough, */
#define HOPELESS_SECONDS 3e-3 /* where it took so long */
#define BEHIND 2.0            /* times the best: one look says enough */
#define PROMISING 1.3
#define NEAR 1.15 /* the same where every point has its turn */
/* Of the warming, before the look that an exhaustive search has at a point. */
#define LOOK_FRACTION 0.4
#define MOST_UNITS 4096
#define SETTLE_SECONDS 2.0          /* between two looks at the clock; of a short search: */
#define SETTLE_SAMPLE_FRACTION 0.05 /* of its time */
#define SETTLE_FRACTION 20          /* times what such a look takes must lie between two */
#define LOOK_RUNS 8   /* that a look takes at most, but where it waits for the clock */
#define LONG_IDLE 0.1 /* seconds; an H200 that idled for 0.3 between runs let its clock fall */
#define DRIFT 0.03
#define RECOVER_SECONDS 0.5 /* of work that a clock which fell is given to rise again */

double wfi_search_margin(const wfi_search *s)
{
    return s->params->exhaustive ? NEAR : PROMISING;
}

static bool clock_moves(const wfi_search *s)
{
    return wfi_tune_profile_of(&s->device->caps)->clock_moves;
}

/* Units a sample, from the time of one unit. */
static uint32_t units_for(const wfi_search *s, double seconds)
{
    const double wanted = wfi_tune_profile_of(&s->device->caps)->sample_seconds / (seconds + 1e-9);
    return wanted < 1 ? 1 : wanted > MOST_UNITS ? MOST_UNITS : (uint32_t)wanted;
}

/* Whether the clock was seen to hold while the device idled for so long. */
static bool holds_clock(const wfi_search *s, double idle)
{
    return !clock_moves(s) || (s->steady >= LEARN_STEADY && idle <= s->steady_idle);
}

/* Runs for so long as a clock may take to rise that fell while the device idled, and learns whether
 * it did. */
static wf_result warm(wfi_search *s, wfi_runner *runner, uint32_t units, double warm_seconds,
                      double idle)
{
    const double until = wfi_host_seconds() + (holds_clock(s, idle) ? 0 : warm_seconds);
    wf_result result = WF_SUCCESS;
    double first = 0, last = 0;
    uint32_t runs = 0;
    for (; result == WF_SUCCESS && wfi_host_seconds() < until; runs++) {
        result = wfi_runner_time(runner, units, &last);
        first = runs ? first : last;
    }
    if (result != WF_SUCCESS || runs < 2)
        return result;
    const bool held = fabs(first - last) <= STEADY * last;
    s->steady = held ? s->steady + 1 : 0;
    s->steady_idle = held ? fmax(s->steady_idle, idle) : 0;
    return result;
}

/* Whether a first run shows that the point is far behind: not where first runs take much more than
 * others, since the driver compiles then, or the clock is low. */
static bool is_hopeless(const wfi_search *s, double first, double best)
{
    return s->late < best && first > best * HOPELESS + s->late && first > HOPELESS_SECONDS;
}

/* Adds samples until there are as many as the rung asks for, or the point has taken its share of
 * the search's time. */
static wf_result take(const wfi_search *s, wfi_runner *runner, uint32_t rung, uint32_t units,
                      wf_timing *timing)
{
    const double fraction = (s->measure_until - s->begun) * POINT_FRACTION * (1u << rung);
    const double until = wfi_host_seconds() + fraction;
    const uint32_t wanted = FIRST_SAMPLES << rung;
    wf_result result = WF_SUCCESS;
    while (result == WF_SUCCESS &&
           timing->count < (wanted < MOST_SAMPLES ? wanted : MOST_SAMPLES) &&
           (timing->count == 0 || wfi_host_seconds() < until)) {
        double seconds = 0;
        result = wfi_runner_time(runner, units, &seconds);
        timing->samples_us[timing->count++] = seconds * 1e6;
    }
    return result;
}

/* The samples after the device idled for so long. */
static wf_result sample(wfi_search *s, wfi_runner *runner, uint32_t rung, double idle,
                        wfi_candidate *candidate)
{
    const double best = s->elite_count ? s->elite[0].seconds : INFINITY;
    wf_timing timing = {.count = 0};
    double first = 0, seconds = 0;
    wf_result result = wfi_runner_time(runner, 1, &first);
    candidate->seconds = first;
    if (result != WF_SUCCESS || is_hopeless(s, first, best))
        return result;
    uint32_t units = units_for(s, first * runner->unit);
    /* An exhaustive search times every point, and most are far behind: each is looked at once. */
    const bool look = s->params->exhaustive && rung == 0;
    result = warm(s, runner, units, WARM_SECONDS * (look ? LOOK_FRACTION : 1), idle);
    if (result == WF_SUCCESS)
        result = wfi_runner_time(runner, units, &seconds);
    candidate->seconds = seconds;
    s->late = fmax(s->late / 2, first - seconds);
    if (result != WF_SUCCESS || (rung == 0 && seconds > best * (look ? NEAR : BEHIND)))
        return result;
    /* Where no clock rises meanwhile, this run is a sample too: it may have taken a second. */
    if (!clock_moves(s) && units * 2 > units_for(s, seconds * runner->unit))
        timing.samples_us[timing.count++] = seconds * 1e6;
    result = take(s, runner, rung, units_for(s, seconds * runner->unit), &timing);
    wfi_timing_summarise(&timing);
    candidate->seconds = timing.median_us * 1e-6;
    candidate->spread = timing.spread;
    return result;
}

wf_result wfi_search_sample(wfi_search *s, wfi_runner *runner, uint32_t rung,
                            wfi_candidate *candidate)
{
    const wf_result result = sample(s, runner, rung, wfi_host_seconds() - s->ran_at, candidate);
    s->ran_at = wfi_host_seconds();
    return result;
}

/* ------------------------------------------------------------------------------------ the clock */

/* The time that the best point takes now over the time that it took before; 0: not known. A
 * clock that fell is given time to rise; that it did not hold is not forgotten. */
static double drift_of(wfi_search *s, wfi_runner *runner)
{
    wfi_candidate now = s->elite[0];
    const double until = wfi_host_seconds() + RECOVER_SECONDS;
    bool fell = false;
    wf_result result = wfi_search_sample(s, runner, 0, &now);
    while (result == WF_SUCCESS && clock_moves(s) &&
           now.seconds > s->elite[0].seconds * (1 + DRIFT) && wfi_host_seconds() < until) {
        fell = true;
        result = wfi_search_sample(s, runner, 0, &now);
    }
    if (fell || fabs(now.seconds / s->elite[0].seconds - 1) > DRIFT) {
        s->steady = 0;
        s->steady_idle = 0;
    }
    if (result == WF_ERROR_CANCELLED)
        s->cancelled = true;
    return result == WF_SUCCESS ? now.seconds / s->elite[0].seconds : 0;
}

/* Whether the best point's time is to be taken now: from time to time, and where the device idled
 * for long, as while the host checked a large result. It then runs for so little of the time that
 * the clock would stay down for many points. */
static bool is_due(const wfi_search *s, double now)
{
    const double since = now - s->settled_at, idle = now - s->ran_at;
    const double every =
        fmin(SETTLE_SECONDS, (s->decide_until - s->begun) * SETTLE_SAMPLE_FRACTION);
    const double least = fmax(s->settling, 2 * s->elite[0].seconds);
    return (since >= every && since >= least * SETTLE_FRACTION) ||
           (clock_moves(s) && idle > LONG_IDLE && idle > LOOK_RUNS * s->elite[0].seconds);
}

void wfi_search_settle(wfi_search *s)
{
    const double begun = wfi_host_seconds();
    if (s->elite_count == 0 || !is_due(s, begun))
        return;
    wf_constant constants[WF_MAX_PARAMETERS];
    const wf_tuning tuning = wfi_point_tuning(&s->elite[0].point, constants);
    wfi_runner runner;
    if (wfi_runner_open(&s->trial, &tuning, &runner) == WF_SUCCESS) {
        const double drift = drift_of(s, &runner);
        for (uint32_t i = 0; i < s->elite_count && fabs(drift - 1) > DRIFT && drift > 0; i++)
            s->elite[i].seconds *= drift;
        wfi_runner_close(&runner);
    }
    s->settled_at = wfi_host_seconds();
    s->settling = s->settled_at - begun;
}
