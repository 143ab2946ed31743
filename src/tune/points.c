/* The points that a search looks at. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/heap.h"
#include "kernels/families.h"
#include "profiles/tune.h"
#include "tune/search.h"

#define DRAWS 64          /* attempts to find a point two values away */
#define LOOK_POINTS 65536 /* listed before it is asked again whether to go on */
#define MOST_ROWS 8       /* a search begins with */
#define HOPEFUL 4.0       /* times the least that the model expects */
#define LEADING 3.0 /* times the best: how far a variant may be behind to be looked at further */
#define KNOWN_POINTS 16 /* of a variant; then it may be behind by: */
#define KNOWN_LEADING 1.5
/* Legal points drawn for each that is tried, where times are expected of them: most are not legal.
 * Once no neighbour of the best is better, points expected to be slower have their turn. */
#define WIDE_CHOICE 1024
#define REFINED_CHOICE 64
#define TRIES_A_CHOICE 8
#define NEAR_CHOICE 128 /* likewise of points a few values away */
#define MOST_VARIANTS 64
#define MOST_CHANGES 4 /* of the model's values, where these do not go with what is held */

static uint32_t random_below(wfi_search *s, uint32_t bound)
{
    /* xorshift64* (Vigna 2016). */
    s->random ^= s->random >> 12;
    s->random ^= s->random << 25;
    s->random ^= s->random >> 27;
    return (uint32_t)(((s->random * UINT64_C(2685821657736338717) >> 32) * bound) >> 32);
}

static bool pool_append(wfi_pool *pool, const wfi_candidate *candidate)
{
    wfi_candidate *items = wfi_grown(pool->items, pool->count, &pool->room, sizeof *items);
    if (!items)
        return false;
    pool->items = items;
    pool->items[pool->count++] = *candidate;
    return true;
}

static bool pool_add(wfi_pool *pool, const wfi_point *point)
{
    const wfi_named_point named = wfi_point_named(point);
    const uint64_t hash = wfi_named_point_hash(&named);
    for (uint32_t i = 0; i < pool->count; i++)
        if (pool->items[i].hash == hash)
            return false;
    return pool_append(pool, &(wfi_candidate){.point = *point, .named = named, .hash = hash});
}

void wfi_pool_free(wfi_pool *pool)
{
    wfi_free(pool->items);
    *pool = (wfi_pool){0};
}

static wfi_point empty_point(const wfi_search *s)
{
    return (wfi_point){
        .caps = &s->device->caps, .problem = &s->trial.problem, .rates = s->incumbent.point.rates};
}

/* Gives the point the variant and values that all points of this search must have; false: its
 * variant cannot have them. */
static bool hold(const wfi_search *s, wfi_point *point)
{
    const wf_tuning *within = &s->within;
    if (within->variant && strcmp(within->variant, point->variant->name) != 0)
        return false;
    for (uint32_t i = 0; i < within->constant_count; i++) {
        const uint32_t at = wfi_parameter_find(point->variant, within->constants[i].name);
        if (at == UINT32_MAX)
            return false;
        wfi_point_put(point, at, within->constants[i].value);
    }
    return true;
}

static bool is_held(const wfi_search *s, const wfi_variant *variant, uint32_t parameter)
{
    for (uint32_t i = 0; i < s->within.constant_count; i++)
        if (strcmp(variant->parameters[parameter].name, s->within.constants[i].name) == 0)
            return true;
    return false;
}

static bool is_known_bad(const wfi_search *s, const wfi_point *point)
{
    if (s->entry.bad_count == 0)
        return false;
    const wfi_named_point named = wfi_point_named(point);
    return s->tries_suspects ? wfi_entry_is_blamed(&s->entry, &named)
                             : wfi_entry_is_bad(&s->entry, &named);
}

static void add_legal(wfi_search *s, wfi_pool *pool, const wfi_point *wanted)
{
    wfi_point point = *wanted;
    if (hold(s, &point) && wfi_point_legal(&point, NULL) && !is_known_bad(s, &point))
        pool_add(pool, &point);
}

/* Adds rows of like problems, whatever driver or shaders they were measured with: of the very
 * same problem all points that are known, of others the best. */
static void add_rows(wfi_search *s, const wfi_tuning_data *data, int distance, wfi_pool *pool)
{
    for (uint32_t i = 0; i < data->entry_count; i++) {
        const wfi_tuning_entry *entry = &data->entries[i];
        if (wfi_key_distance(&s->entry.key, &entry->key) != distance)
            continue;
        const uint32_t most = distance == 0 ? entry->best_count : 1;
        for (uint32_t n = 0; n < most && n < entry->best_count && pool->count < MOST_ROWS; n++) {
            wfi_point point = empty_point(s);
            if (wfi_point_from_names(&entry->best[n], &point))
                add_legal(s, pool, &point);
        }
    }
}

static void add_all_rows(wfi_search *s, wfi_pool *pool)
{
    wfi_mutex_lock(&s->device->tuning_lock);
    const struct wfi_tuning *tuning = wfi_tuning_of(s->device);
    for (int distance = 0; tuning && distance <= WFI_KEY_FARTHEST; distance++) {
        add_rows(s, &tuning->own, distance, pool);
        add_rows(s, &tuning->shipped[0], distance, pool);
        add_rows(s, &tuning->shipped[1], distance, pool);
    }
    wfi_mutex_unlock(&s->device->tuning_lock);
}

/* A variant at the model's values, and what it should take. */
typedef struct expected {
    wfi_point point;
    double time;
} expected;

static int compare_expected(const void *a, const void *b)
{
    const expected *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* Lists the legal variants at the model's values, the fastest by the model first; returns how
 * many. A variant that the model has no time for can be forced, but is not searched. */
static uint32_t expect_all(const wfi_search *s, const wfi_family *family, expected *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < family->variant_count; i++) {
        expected e = {.point = empty_point(s)};
        e.point.variant = family->variants[i];
        wfi_point_defaults(&e.point);
        e.time = e.point.variant->fit(&e.point);
        if (e.time >= 0 && hold(s, &e.point) && wfi_point_legal(&e.point, NULL))
            out[count++] = e;
    }
    qsort(out, count, sizeof *out, compare_expected);
    return count;
}

/* Variants that the model expects to be much slower than its choice wait, and so do the
 * variants' default values: measured with the first generation, they would take all the time of a
 * short search. */
void wfi_points_start(wfi_search *s, wfi_pool *pool, wfi_pool *later)
{
    const wfi_family *family = wfi_family_get(s->trial.problem.family);
    expected *all = wfi_malloc(family->variant_count * sizeof *all);
    add_legal(s, pool, &s->incumbent.point);
    add_all_rows(s, pool);
    const uint32_t count = all ? expect_all(s, family, all) : 0;
    for (uint32_t i = 0; i < count; i++)
        add_legal(s, all[i].time <= all[0].time * HOPEFUL ? pool : later, &all[i].point);
    for (uint32_t i = 0; i < count; i++) {
        wfi_point_defaults(&all[i].point);
        add_legal(s, later, &all[i].point);
    }
    wfi_free(all);
}

/* Changes `changes` values of the point, from parameter `from` on and none that is held, so that
 * it becomes legal; false: it is as it was. */
static bool mend(const wfi_search *s, wfi_point *point, uint32_t from, uint32_t changes)
{
    if (changes == 0)
        return wfi_point_legal(point, NULL) && !is_known_bad(s, point);
    for (uint32_t p = from; p < point->variant->parameter_count; p++) {
        const wfi_parameter *parameter = &point->variant->parameters[p];
        const uint32_t was = wfi_point_get(point, p);
        for (uint32_t c = 0; c < parameter->candidate_count && !is_held(s, point->variant, p);
             c++) {
            wfi_point_put(point, p, parameter->candidates[c]);
            if (parameter->candidates[c] != was && mend(s, point, p + 1, changes - 1))
                return true;
        }
        wfi_point_put(point, p, was);
    }
    return false;
}

bool wfi_points_first(const wfi_search *s, wfi_point *out)
{
    const wfi_family *family = wfi_family_get(s->trial.problem.family);
    for (uint32_t changes = 1; changes <= MOST_CHANGES; changes++)
        for (uint32_t v = 0; v < family->variant_count; v++) {
            wfi_point point = empty_point(s);
            point.variant = family->variants[v];
            wfi_point_defaults(&point);
            if (point.variant->fit(&point) >= 0 && hold(s, &point) && mend(s, &point, 0, changes)) {
                *out = point;
                return true;
            }
        }
    return false;
}

/* Whether the point, given what is held, is one to try that has not been. */
static bool is_new(const wfi_search *s, wfi_point *point)
{
    if (!hold(s, point) || !wfi_point_legal(point, NULL))
        return false;
    const wfi_named_point named = wfi_point_named(point);
    return !wfi_entry_is_bad(&s->entry, &named) &&
           !wfi_entry_is_tried(&s->entry, wfi_named_point_hash(&named));
}

/* Adds a point around the elite unless it has been tried. */
static void add_new(wfi_search *s, const wfi_point *wanted, wfi_pool *pool)
{
    wfi_point point = *wanted;
    if (is_new(s, &point))
        pool_add(pool, &point);
}

/* Points with one value changed: to the next candidates up or down, or else to the others. */
static void add_one_away(wfi_search *s, const wfi_point *centre, bool next, wfi_pool *pool)
{
    const wfi_variant *variant = centre->variant;
    for (uint32_t p = 0; p < variant->parameter_count; p++) {
        const wfi_parameter *parameter = &variant->parameters[p];
        const uint32_t at = wfi_candidate_find(parameter, wfi_point_get(centre, p));
        for (uint32_t c = 0; c < parameter->candidate_count; c++) {
            const bool beside = at == parameter->candidate_count || c + 1 == at || c == at + 1;
            wfi_point point = *centre;
            wfi_point_put(&point, p, parameter->candidates[c]);
            if (beside == next)
                add_new(s, &point, pool);
        }
    }
}

static void change_one(wfi_search *s, wfi_point *point)
{
    const wfi_variant *variant = point->variant;
    const uint32_t p = random_below(s, variant->parameter_count);
    const wfi_parameter *parameter = &variant->parameters[p];
    if (parameter->candidate_count)
        wfi_point_put(point, p, parameter->candidates[random_below(s, parameter->candidate_count)]);
}

static void shuffle(wfi_search *s, wfi_pool *pool, uint32_t from)
{
    for (uint32_t i = pool->count; i > from + 1; i--) {
        const uint32_t j = from + random_below(s, i - from);
        const wfi_candidate swapped = pool->items[i - 1];
        pool->items[i - 1] = pool->items[j];
        pool->items[j] = swapped;
    }
}

/* Adds the next points that wait, unless a neighbour was the same. */
static void add_waiting(wfi_search *s, wfi_pool *later, uint32_t most, wfi_pool *pool)
{
    while (pool->count < most && s->waited < later->count)
        add_new(s, &later->items[s->waited++].point, pool);
}

static int compare_candidates(const void *a, const void *b)
{
    const wfi_candidate *x = a, *y = b;
    return (x->expected > y->expected) - (x->expected < y->expected);
}

/* Adds all neighbours, those first that the model expects least of. */
static void add_expected_around(wfi_search *s, const wfi_point *centre, wfi_pool *pool)
{
    const uint32_t from = pool->count;
    add_one_away(s, centre, true, pool);
    add_one_away(s, centre, false, pool);
    shuffle(s, pool, from); /* of those that it expects the same of any may come first */
    for (uint32_t i = from; i < pool->count; i++) {
        const double time = wfi_learned_expect(s->learned, &pool->items[i].point);
        pool->items[i].expected = time >= 0 ? time : INFINITY;
    }
    qsort(pool->items + from, pool->count - from, sizeof *pool->items, compare_candidates);
}

/* Adds the next values up and down before those farther off, each in random order. */
static void add_next_around(wfi_search *s, const wfi_point *centre, uint32_t most, wfi_pool *pool)
{
    for (int next = 1; next >= 0 && pool->count < most; next--) {
        const uint32_t from = pool->count;
        add_one_away(s, centre, next, pool);
        shuffle(s, pool, from);
    }
}

static void add_around(wfi_search *s, const wfi_point *centre, uint32_t most, wfi_pool *pool)
{
    if (wfi_learned_expect(s->learned, centre) >= 0)
        add_expected_around(s, centre, pool);
    else
        add_next_around(s, centre, most, pool);
    if (pool->count > most)
        pool->count = most;
}

/* The fastest point of the n-th variant, in the family's order, that is not the best point's
 * variant and not far slower than it; NULL: there are no more. */
static const wfi_candidate *leader(const wfi_search *s, uint32_t n)
{
    const wfi_family *family = wfi_family_get(s->trial.problem.family);
    const wfi_candidate *best = &s->elite[0];
    for (uint32_t i = 0; i < family->variant_count; i++) {
        const wfi_candidate *l = &s->leaders[i];
        const bool there = l->seconds > 0 && l->seconds < best->seconds * LEADING &&
                           l->point.variant != best->point.variant;
        if (there && n-- == 0)
            return l;
    }
    return NULL;
}

/* Adds points around the best of another variant, a different one each generation, since the
 * model may have begun it with bad values. */
static void add_around_leaders(wfi_search *s, uint32_t most, wfi_pool *pool)
{
    uint32_t count = 0;
    while (leader(s, count))
        count++;
    const uint32_t next_variant = s->next_variant++;
    for (uint32_t i = 0; i < count && pool->count < most; i++)
        add_around(s, &leader(s, (next_variant + i) % count)->point, most, pool);
}

/* The most promising of points that are drawn. Every other time what was learned says which that
 * is, and else the model alone: what was learned around the best may be wrong elsewhere. */
typedef struct draw {
    bool learned;
    uint32_t count; /* drawn so far */
    double least;   /* expected of the best of them */
    wfi_point best;
} draw;

static draw start_draw(wfi_search *s)
{
    return (draw){.learned = random_below(s, 2) == 0};
}

/* False: nothing is known of this one's time, and one is as good as another. */
static bool keep_better(const wfi_search *s, const wfi_point *drawn, draw *d)
{
    const double time =
        d->learned ? wfi_learned_expect(s->learned, drawn) : wfi_point_expected(drawn);
    if (d->count == 0 || (time >= 0 && time < d->least)) {
        d->best = *drawn;
        d->least = time;
    }
    d->count++;
    return time >= 0;
}

static void draw_values(wfi_search *s, wfi_point *point)
{
    const wfi_variant *variant = point->variant;
    wfi_point_defaults(point);
    for (uint32_t p = 0; p < variant->parameter_count; p++) {
        const wfi_parameter *parameter = &variant->parameters[p];
        if (parameter->candidate_count)
            wfi_point_put(point, p,
                          parameter->candidates[random_below(s, parameter->candidate_count)]);
    }
}

/* A legal point drawn from the variant's space, the most promising of several. False: none was
 * found. */
static bool draw_point(wfi_search *s, const wfi_variant *variant, wfi_point *out)
{
    const uint32_t choice = s->refined ? REFINED_CHOICE : WIDE_CHOICE;
    draw d = start_draw(s);
    for (uint32_t n = 0; n < choice * TRIES_A_CHOICE && d.count < choice; n++) {
        wfi_point point = empty_point(s);
        point.variant = variant;
        draw_values(s, &point);
        if (hold(s, &point) && wfi_point_legal(&point, NULL) && !keep_better(s, &point, &d))
            break;
    }
    *out = d.best;
    return d.count > 0;
}

/* Likewise a new one that differs from one of the centres in so many values. */
static bool draw_near(wfi_search *s, const wfi_candidate *centres, uint32_t count, uint32_t changes,
                      wfi_point *out)
{
    draw d = start_draw(s);
    for (uint32_t n = 0; n < NEAR_CHOICE * TRIES_A_CHOICE && d.count < NEAR_CHOICE; n++) {
        wfi_point point = centres[random_below(s, count)].point;
        for (uint32_t i = 0; i < changes && point.variant->parameter_count; i++)
            change_one(s, &point);
        if (is_new(s, &point) && !keep_better(s, &point, &d))
            break;
    }
    *out = d.best;
    return d.count > 0;
}

/* Whether a variant is worth drawing from: the model knows it, and its best is not far behind. */
static bool is_drawn(const wfi_search *s, uint32_t index)
{
    const wfi_variant *variant = wfi_family_get(s->trial.problem.family)->variants[index];
    wfi_point point = empty_point(s);
    point.variant = variant;
    wfi_point_defaults(&point);
    const double seconds = s->leaders[index].seconds,
                 leading =
                     wfi_learned_count(s->learned, index) < KNOWN_POINTS ? LEADING : KNOWN_LEADING;
    return variant->parameter_count > 0 &&
           (seconds <= 0 || s->elite_count == 0 || seconds < s->elite[0].seconds * leading) &&
           variant->fit(&point) >= 0 && hold(s, &point);
}

/* Adds `most` points drawn from the whole space, so that a search does not end in a basin that the
 * model began in. */
static void add_wide(wfi_search *s, uint32_t most, wfi_pool *pool)
{
    const wfi_family *family = wfi_family_get(s->trial.problem.family);
    const uint32_t begin = pool->count;
    bool drawn[MOST_VARIANTS] = {false};
    uint32_t variants = 0;
    for (uint32_t i = 0; i < family->variant_count && i < MOST_VARIANTS; i++)
        variants += drawn[i] = is_drawn(s, i);
    for (uint32_t n = 0; variants > 0 && n < 2 * most && pool->count < begin + most; n++) {
        uint32_t at = random_below(s, variants), i = 0;
        while (i + 1 < MOST_VARIANTS && (!drawn[i] || at-- > 0))
            i++;
        wfi_point point;
        if (draw_point(s, family->variants[i], &point))
            add_new(s, &point, pool);
    }
    for (uint32_t i = begin; i < pool->count; i++)
        pool->items[i].wide = true;
}

static void add_near(wfi_search *s, const wfi_candidate *centres, uint32_t count, uint32_t most,
                     wfi_pool *pool)
{
    for (uint32_t n = 0; n < DRAWS && pool->count < most; n++) {
        wfi_point point;
        if (draw_near(s, centres, count, 2 + n % (s->refined ? 3 : 2), &point))
            pool_add(pool, &point);
    }
}

void wfi_points_around(wfi_search *s, uint32_t most, wfi_pool *later, wfi_pool *pool)
{
    /* As long as no point works, it looks around the point where the search began. */
    const wfi_candidate *centres = s->elite_count ? s->elite : &s->incumbent;
    const uint32_t count = s->elite_count ? s->elite_count : 1, eighth = most / 8 ? most / 8 : 1;
    const uint32_t until = pool->count + most;
    const bool wide = wfi_tune_profile_of(&s->device->caps)->wide_draws > 0,
               refined = s->refined && wide;
    wfi_learned_fit(s->learned);
    add_waiting(s, later, pool->count + most / 4, pool);
    if (wide)
        add_wide(s, refined ? most / 2 : most / 4, pool);
    for (uint32_t c = 0; !refined && c < count && pool->count + 2 * eighth < until; c++)
        add_around(s, &centres[c].point, until - 2 * eighth, pool);
    if (!refined && s->elite_count)
        add_around_leaders(s, pool->count + eighth, pool);
    add_near(s, centres, count, until, pool); /* what is left */
}

/* Steps through the values like an odometer; false after the last. Those that are held stay. */
static bool next_values(const wfi_search *s, const wfi_variant *variant, uint32_t *at)
{
    for (uint32_t p = 0; p < variant->parameter_count; p++) {
        if (is_held(s, variant, p))
            continue;
        if (++at[p] < variant->parameters[p].candidate_count)
            return true;
        at[p] = 0;
    }
    return false;
}

/* Puts the n-th legal point into the pool, or in a random one's place (reservoir sampling, Vitter
 * 1985). */
static void put_drawn(wfi_search *s, const wfi_point *point, uint64_t n, uint32_t most,
                      wfi_pool *pool)
{
    if (n < most) {
        pool_append(pool, &(wfi_candidate){.point = *point});
        return;
    }
    const uint32_t bound = n < UINT32_MAX ? (uint32_t)n + 1 : UINT32_MAX;
    const uint32_t at = random_below(s, bound);
    if (at < pool->count)
        pool->items[at] = (wfi_candidate){.point = *point};
}

uint64_t wfi_points_all(wfi_search *s, uint32_t most, wfi_pool *pool)
{
    const wfi_family *family = wfi_family_get(s->trial.problem.family);
    uint64_t legal = 0, listed = 0;
    for (uint32_t v = 0; v < family->variant_count && !s->cancelled; v++) {
        uint32_t at[WF_MAX_PARAMETERS] = {0};
        wfi_point point = empty_point(s);
        point.variant = family->variants[v];
        wfi_point_defaults(&point);
        if (!hold(s, &point) || point.variant->fit(&point) < 0)
            continue;
        do {
            for (uint32_t p = 0; p < point.variant->parameter_count; p++)
                if (point.variant->parameters[p].candidate_count)
                    wfi_point_put(&point, p, point.variant->parameters[p].candidates[at[p]]);
            hold(s, &point);
            if (wfi_point_legal(&point, NULL) && !is_known_bad(s, &point))
                put_drawn(s, &point, legal++, most, pool);
            if (++listed % LOOK_POINTS == 0)
                s->cancelled = !wfi_search_report(s, "listing", NULL) ||
                               wfi_device_goes_on(s->device) != WF_SUCCESS;
        } while (!s->cancelled && next_values(s, point.variant, at));
    }
    for (uint32_t i = 0; i < pool->count; i++) {
        wfi_candidate *c = &pool->items[i];
        c->named = wfi_point_named(&c->point);
        c->hash = wfi_named_point_hash(&c->named);
    }
    shuffle(s, pool, 0);
    return legal;
}
