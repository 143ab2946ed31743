#include "choose/choose.h"
#include "api/families.h"
#include "kernels/families.h"
#include "profiles/tune.h"
#include "tune/search.h"

#include <math.h>
#include <string.h>

#include "core/heap.h"
#include "core/params.h"
#include "core/timing.h"

#define DEFAULT_BUDGET 60.0
#define DECIDE_FRACTION 0.15
#define DECIDE_MOST 6.0
#define GENERATION 16
#define LEAST_GENERATION 4
#define GENERATION_FRACTION                                                                        \
    0.1                  /* of the budget: where points are slow, what is learned is used sooner */
#define MOST_POINTS 4096 /* of an exhaustive search */
#define PATIENCE 4       /* generations without a better point */
#define BETTER 0.99

/* Begins with what is known of this very key. Nothing is taken from an entry of another driver
 * or of other shaders but the points at which a search was lost just now. */
static wf_result recall(wfi_search *s, const wfi_tuning_data *left)
{
    wf_result result = WF_SUCCESS;
    const wfi_key key = wfi_key_of(&s->trial.problem);
    wfi_mutex_lock(&s->device->tuning_lock);
    struct wfi_tuning *tuning = wfi_tuning_of(s->device);
    const wfi_tuning_entry *known = tuning ? wfi_tuning_find(&tuning->own, &key) : NULL;
    if (!tuning || (known && !wfi_tuning_entry_copy(known, &s->entry)))
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    if (tuning && (!known || !wfi_entry_is_current(s->device, known) || s->params->again)) {
        s->entry.tried_count = 0;
        s->entry.finished = false;
        /* A new driver or shader may have mended them; `again` asks for everything anew. */
        if (known && !wfi_entry_is_current(s->device, known))
            s->entry.bad_count = s->entry.best_count = 0;
    }
    s->known = known && s->entry.best_count > 0 && wfi_entry_is_current(s->device, known);
    s->entry.key = key;
    if (tuning) {
        s->entry.driver_id = s->device->caps.driver_id;
        s->entry.driver_version = s->device->caps.driver_version;
        s->entry.shaders = wfi_shaders_hash(tuning, key.family, key.type);
    }
    wfi_mutex_unlock(&s->device->tuning_lock);
    wfi_problem_text(&s->trial.problem, s->entry.problem, sizeof s->entry.problem);
    const wfi_tuning_entry *fatal = wfi_tuning_find(left, &key);
    for (uint32_t i = 0; fatal && i < fatal->bad_count; i++)
        wfi_entry_add_bad(&s->entry, &fatal->bad[i]);
    return result;
}

/* Points of other problems that did not come back are kept with these. */
static void keep_others(wfi_search *s, const wfi_tuning_data *left)
{
    char error[512];
    for (uint32_t i = 0; i < left->entry_count && !s->params->discard; i++) {
        const wfi_tuning_entry *fatal = &left->entries[i];
        wfi_tuning_entry merged = {0};
        if (wfi_key_equal(&fatal->key, &s->entry.key))
            continue;
        wfi_mutex_lock(&s->device->tuning_lock);
        const struct wfi_tuning *tuning = wfi_tuning_of(s->device);
        const wfi_tuning_entry *known = tuning ? wfi_tuning_find(&tuning->own, &fatal->key) : NULL;
        const bool ok = wfi_tuning_entry_copy(known ? known : fatal, &merged);
        wfi_mutex_unlock(&s->device->tuning_lock);
        for (uint32_t n = 0; ok && n < fatal->bad_count; n++)
            wfi_entry_add_bad(&merged, &fatal->bad[n]);
        if (ok)
            wfi_tuning_keep(s->device, &merged, error);
        wfi_tuning_entry_clear(&merged);
    }
}

/* The point that the search begins with. Where the model's values are illegal with what is held,
 * it is the legal point nearest to them. */
static wf_result choose(const wfi_search *s, wfi_choice *choice)
{
    const bool all = !s->within.variant && !s->within.constant_count;
    const wf_tuning *within = all ? NULL : &s->within;
    if (all ||
        wfi_choose_silently(s->device, &s->trial.problem, within, choice) != WF_ERROR_CONSTRAINT)
        return wfi_choose(s->device, &s->trial.problem, within, choice);
    choice->chosen_by = "forced";
    choice->family = wfi_family_get(s->trial.problem.family);
    return wfi_points_first(s, &choice->point)
               ? WF_SUCCESS
               : wfi_choose(s->device, &s->trial.problem, within, choice);
}

/* Every search measures the points where it begins, known or not: times are of today. */
static wf_result begin(wfi_search *s)
{
    wfi_choice choice;
    /* Points that are drawn take the rates of the one where the search begins. */
    wfi_mutex_lock(&s->device->tuning_lock);
    s->incumbent.point.rates = wfi_tuning_rates(wfi_tuning_of(s->device));
    wfi_mutex_unlock(&s->device->tuning_lock);
    const wf_result result = choose(s, &choice);
    if (result != WF_SUCCESS)
        return result;
    choice.point.caps = &s->device->caps;
    choice.point.problem = &s->trial.problem;
    s->incumbent.point = choice.point;
    s->incumbent.named = wfi_point_named(&choice.point);
    s->incumbent.hash = wfi_named_point_hash(&s->incumbent.named);
    s->result->before = wfi_describe_choice(&choice);
    return WF_SUCCESS;
}

static uint32_t count_tried(const wfi_search *s)
{
    return s->result->measured + s->result->wrong + s->result->spilling;
}

/* The number of points in the next generation, from the time that those so far took. */
static uint32_t generation(const wfi_search *s)
{
    const uint32_t tried = count_tried(s);
    const double now = wfi_host_seconds(), budget = s->decide_until - s->begun;
    const double wanted = budget * GENERATION_FRACTION * (tried + 1) / (now - s->begun + 1e-9);
    return wanted > GENERATION         ? GENERATION
           : wanted < LEAST_GENERATION ? LEAST_GENERATION
                                       : (uint32_t)wanted;
}

static void start_walk(wfi_search *s, wfi_pool *pool, wfi_pool *later)
{
    s->acquitted = false;
    wfi_search_compile_end(s, pool);
    s->waited = pool->count = later->count = 0;
    wfi_points_start(s, pool, later);
    wfi_search_halve(s, pool);
}

/* Whether so many points drawn from the whole space were slower that better ones are rare. */
static bool drew_enough(const wfi_search *s)
{
    return s->drawn >= wfi_tune_profile_of(&s->device->caps)->wide_draws;
}

static void walk_around(wfi_search *s)
{
    uint32_t patience = PATIENCE;
    wfi_pool pool = {0}, later = {0};
    start_walk(s, &pool, &later);
    while (wfi_search_goes_on(s)) {
        if (s->acquitted) {
            start_walk(s, &pool, &later);
            continue;
        }
        const double before = s->elite_count ? s->elite[0].seconds : INFINITY;
        wfi_points_around(s, generation(s), &later, &pool);
        if (pool.count == 0 && s->elite_count == 0 && s->entry.bad_count > 0 &&
            !s->tries_suspects) {
            s->tries_suspects = true;
            start_walk(s, &pool, &later);
            continue;
        }
        if (s->waited == later.count && patience == 0 && drew_enough(s))
            pool.count = pool.begun; /* only what is late is left to be measured */
        if (s->waited == later.count && pool.count == 0) {
            s->entry.finished = true;
            break;
        }
        wfi_search_halve(s, &pool);
        const bool better = s->elite_count && s->elite[0].seconds < before * BETTER;
        patience = better ? PATIENCE : patience ? patience - 1 : 0;
        s->refined = patience == 0;
        s->drawn = better ? 0 : s->drawn;
    }
    wfi_search_compile_end(s, &pool);
    wfi_pool_free(&pool);
    wfi_pool_free(&later);
}

static void walk_all(wfi_search *s)
{
    wfi_pool pool = {0}, slice;
    const double begun = wfi_host_seconds();
    s->result->legal = wfi_points_all(s, MOST_POINTS, &pool);
    /* Millions of points take seconds to list, which the budget of measuring them does not pay. */
    const double listing = wfi_host_seconds() - begun;
    s->measure_until += listing;
    s->decide_until += listing;
    const bool all = s->result->legal <= MOST_POINTS;
    uint32_t done = 0;
    while (done < pool.count && wfi_search_goes_on(s)) {
        const uint32_t count = pool.count - done < GENERATION ? pool.count - done : GENERATION;
        slice = (wfi_pool){.count = count, .room = count, .items = pool.items + done};
        wfi_search_halve(s, &slice);
        done += count;
        s->fraction = (double)done / pool.count;
    }
    s->entry.finished = all && done == pool.count && wfi_search_goes_on(s) && !s->acquitted;
    wfi_pool_free(&pool);
}

/* The best so far of a search that was cut short before its decision. */
static void tell_best_so_far(wfi_search *s)
{
    const wfi_candidate *best = &s->elite[0];
    if (s->elite_count == 0 || s->result->best_us > 0)
        return;
    s->result->best = wfi_describe_choice(
        &(wfi_choice){best->point, "tuned", wfi_family_get(s->trial.problem.family)});
    s->result->best_us = best->seconds * 1e6;
    s->result->spread = best->spread;
    for (uint32_t i = 0; i < s->elite_count; i++)
        if (s->elite[i].hash == s->incumbent.hash)
            s->result->before_us = s->elite[i].seconds * 1e6;
}

/* The row of an earlier search in place of a search, where it is of use: one of another size of the
 * same classes may have a point that this one cannot have. */
static bool tell_kept(wfi_search *s)
{
    const wf_tune_params *p = s->params;
    wfi_choice choice = {s->incumbent.point, "tuned", wfi_family_get(s->trial.problem.family)};
    if (!p->unless_kept || p->again || p->within || p->exhaustive || !s->known ||
        !wfi_point_from_names(&s->entry.best[0], &choice.point) ||
        !wfi_point_legal(&choice.point, NULL))
        return false;
    s->result->best = wfi_describe_choice(&choice);
    s->result->best_us = (double)s->entry.best[0].time_ns * 1e-3;
    s->result->spread = s->entry.best[0].spread_permille * 1e-3;
    s->result->finished = s->entry.finished;
    s->result->kept = true;
    return true;
}

static wf_result run(wfi_search *s)
{
    wf_result result = begin(s);
    if (result != WF_SUCCESS || tell_kept(s))
        return result;
    if (s->params->exhaustive)
        walk_all(s);
    else
        walk_around(s);
    s->result->finished = s->entry.finished;
    s->result->drawn = s->drawn;
    wfi_search_keep(s);
    if (s->broken != WF_SUCCESS)
        return s->broken;
    if (s->elite_count && !s->cancelled)
        result = wfi_search_decide(s);
    if (result == WF_SUCCESS && s->elite_count && !s->cancelled)
        wfi_search_keep(s);
    if (s->cancelled || result == WF_ERROR_CANCELLED) {
        tell_best_so_far(s);
        return WF_ERROR_CANCELLED;
    }
    if (result == WF_SUCCESS && !(s->result->best_us > 0))
        result = wfi_fail(&s->device->log, WF_ERROR_UNSUPPORTED,
                          "%s: no point gave a right result in the time allowed", s->entry.problem);
    return result;
}

/* The one problem that there must be, of a family that this build has. */
static wf_result require_problem(const wf_device *device, const wf_tune_params *params,
                                 const char *function)
{
    const wfi_searched *searched = wfi_searched_of(params);
    return searched ? wfi_family_require(&device->log, searched->family, function)
                    : wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                               "%s: exactly one problem must be given", function);
}

static void set_times(wfi_search *s)
{
    const double budget =
        s->params->budget_seconds > 0 ? s->params->budget_seconds : DEFAULT_BUDGET;
    const double decide =
        budget * DECIDE_FRACTION < DECIDE_MOST ? budget * DECIDE_FRACTION : DECIDE_MOST;
    s->begun = s->kept_at = s->settled_at = s->ran_at = wfi_host_seconds();
    s->decide_until = s->begun + budget;
    s->measure_until = s->decide_until - decide;
    s->random = s->params->seed * 2 + 1;
}

static wf_result read_within(wfi_search *s)
{
    wf_tuning given;
    const wf_result result =
        wfi_params_read(&s->device->log, "wf_tuning", s->params->within, &given, sizeof given);
    if (result == WF_SUCCESS)
        s->within = (wf_tuning){.size = sizeof given,
                                .variant = given.variant,
                                .constants = given.constants,
                                .constant_count = given.constant_count};
    return result;
}

static wf_result search(wf_device *device, const wf_tune_params *params, wf_tune_result *result)
{
    wfi_search *s = wfi_calloc(1, sizeof *s);
    wfi_tuning_data left = {0};
    if (!s)
        return wfi_no_memory(&device->log);
    *s = (wfi_search){.device = device, .params = params, .result = result, .journal = {.fd = -1}};
    set_times(s);
    wf_result code = read_within(s);
    if (code == WF_SUCCESS)
        code = wfi_journal_open(device, &s->journal, &left);
    if (code == WF_SUCCESS)
        code = wfi_trial_open(device, params, &s->trial);
    const bool opened = code == WF_SUCCESS;
    s->one_by_one = s->journal.several;
    if (opened) {
        const uint32_t variants = wfi_family_get(s->trial.problem.family)->variant_count;
        s->leaders = wfi_calloc(variants, sizeof *s->leaders);
        s->learned = wfi_learned_open(wfi_family_get(s->trial.problem.family));
        if (!s->leaders || !s->learned)
            code = wfi_no_memory(&device->log);
    }
    if (code == WF_SUCCESS)
        code = recall(s, &left);
    if (code == WF_SUCCESS) {
        keep_others(s, &left);
        code = run(s);
    }
    if (opened)
        wfi_trial_close(&s->trial);
    wfi_journal_close(&s->journal);
    wfi_tuning_entry_clear(&s->entry);
    wfi_tuning_data_free(&left);
    wfi_free(s->leaders);
    wfi_learned_free(s->learned);
    wfi_free(s);
    return code;
}

static wf_result tune(wf_device *device, const wf_tune_params *params, wf_tune_result *result)
{
    wf_tune_params read;
    if (!device || !params || !result)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result code = wfi_params_read(&device->log, "wf_tune", params, &read, sizeof read);
    if (code != WF_SUCCESS)
        return code;
    code = require_problem(device, &read, "wf_tune");
    if (code != WF_SUCCESS)
        return code;
    if (!wfi_tuning_claim(device, true))
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "wf_tune: a search on this device is under way");
    read.discard = read.discard || read.within;
    wf_tune_result local = {.size = sizeof local};
    code = search(device, &read, &local);
    wfi_tuning_claim(device, false);
    return wfi_params_write(result, &local, sizeof local) ? code : WF_ERROR_INVALID_ARGUMENT;
}

wf_result wf_tune(wf_device *device, const wf_tune_params *params, wf_tune_result *result)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, tune(device, params, result));
}

static wf_result compare(wf_device *device, const wf_tune_params *params, const wf_tuning *tunings,
                         uint32_t count, wf_plan_info *infos, double *us, double *noise)
{
    wf_tune_params read;
    wf_tune_result unused = {.size = sizeof unused};
    if (!device || !params || !tunings || !infos || !us || count > WF_TUNE_MOST_RIVALS)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result code = wfi_params_read(&device->log, "wf_tune_compare", params, &read, sizeof read);
    if (code != WF_SUCCESS)
        return code;
    code = require_problem(device, &read, "wf_tune_compare");
    if (code != WF_SUCCESS)
        return code;
    wfi_search *s = wfi_calloc(1, sizeof *s);
    if (!s)
        return wfi_no_memory(&device->log);
    *s = (wfi_search){.device = device, .params = &read, .result = &unused, .journal = {.fd = -1}};
    set_times(s);
    code = wfi_trial_open(device, &read, &s->trial);
    if (code == WF_SUCCESS) {
        code = wfi_search_compare(s, tunings, count, infos, us, noise);
        wfi_trial_close(&s->trial);
    }
    wfi_free(s);
    return code;
}

wf_result wf_tune_compare(wf_device *device, const wf_tune_params *params, const wf_tuning *tunings,
                          uint32_t count, wf_plan_info *infos, double *us, double *noise)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, compare(device, params, tunings, count, infos, us, noise));
}
