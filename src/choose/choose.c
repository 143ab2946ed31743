/* Picks the variant and its constants: what the user forces, then tuning data, then the model. */
#include <stdio.h>
#include <string.h>

#include "choose/choose.h"
#include "choose/neighbour.h"
#include "core/arithmetic.h"
#include "core/old_names.h"
#include "core/params.h"
#include "kernels/families.h"
#include "choose/store.h"
#include "plan/hooks.h"

/* Adds a name to a list of them. */
static void add_name(char *list, size_t bytes, const char *name)
{
    const size_t used = strlen(list);
    snprintf(list + used, bytes - used, "%s%s", used ? ", " : "", name);
}

enum { HINT_BYTES = 500 };

/* For errors: ", which is called 'x' now" where the name is one of before, else " (there are …)"
 * with the names that stand in `text`, which becomes the hint. */
static const char *hint_of(const char *name, const char *now, char text[HINT_BYTES])
{
    char names[HINT_BYTES];
    memcpy(names, text, sizeof names);
    text[0] = '\0';
    if (strcmp(name, now) != 0)
        snprintf(text, HINT_BYTES, ", which is called '%s' now", now);
    else if (*names)
        snprintf(text, HINT_BYTES, " (there are %.480s)", names);
    return text;
}

static wf_result no_variant(const wfi_log *log, const wfi_family *family, const char *name)
{
    char text[HINT_BYTES] = "";
    const char *now = wfi_old_variant(family->name, name);
    for (uint32_t i = 0; i < family->variant_count; i++)
        add_name(text, sizeof text, family->variants[i]->name);
    return wfi_fail(log, WF_ERROR_UNKNOWN_VARIANT, "family %s has no variant '%s'%s", family->name,
                    name, hint_of(name, now, text));
}

/* The variant's parameters that the list does not have. */
static void add_parameters(char *list, size_t bytes, const wfi_variant *variant)
{
    for (uint32_t i = 0; i < variant->parameter_count; i++) {
        const char *name = variant->parameters[i].name, *at = list;
        const size_t length = strlen(name);
        while ((at = strstr(at, name)) &&
               ((at > list && at[-1] != ' ') || (at[length] != ',' && at[length] != '\0')))
            at += length;
        if (!at)
            add_name(list, bytes, name);
    }
}

/* `variant`: NULL where no variant of the family has it. */
static wf_result no_constant(const wfi_log *log, const wfi_family *family,
                             const wfi_variant *variant, const char *name)
{
    const char *now = wfi_old_parameter(family->name, name);
    char text[HINT_BYTES] = "";
    if (wfi_removed_parameter(family->name, now))
        return wfi_fail(log, WF_ERROR_UNKNOWN_VARIANT,
                        "family %s has no constant '%s' any more: kernels have the value that was "
                        "best everywhere; leave it out",
                        family->name, name);
    if (variant)
        add_parameters(text, sizeof text, variant);
    for (uint32_t i = 0; !variant && i < family->variant_count; i++)
        add_parameters(text, sizeof text, family->variants[i]);
    return wfi_fail(log, WF_ERROR_UNKNOWN_VARIANT, "%s %s has no constant '%s'%s",
                    variant ? "variant" : "family", variant ? variant->name : family->name, name,
                    hint_of(name, now, text));
}

static wf_result apply_constants(const wfi_log *log, const wf_tuning *tuning, wfi_point *point)
{
    for (uint32_t i = 0; i < tuning->constant_count; i++) {
        const wf_constant *constant = &tuning->constants[i];
        const uint32_t at = wfi_parameter_find(point->variant, constant->name);
        if (at == UINT32_MAX)
            return no_constant(log, wfi_family_get(point->problem->family), point->variant,
                               constant->name);
        wfi_point_put(point, at, constant->value);
    }
    return WF_SUCCESS;
}

static bool has_all_constants(const wfi_variant *variant, const wf_tuning *tuning)
{
    for (uint32_t i = 0; i < tuning->constant_count; i++)
        if (wfi_parameter_find(variant, tuning->constants[i].name) == UINT32_MAX)
            return false;
    return true;
}

/* A question to the data: a problem, and what the user forces. */
typedef struct query {
    wf_device *device;
    const wfi_log *log; /* NULL: nobody is told */
    const wfi_problem *problem;
    const wf_tuning *tuning;
    wfi_key key;
    const wfi_tuning_entry *known; /* current entry of this very key: its bad points; NULL: none */
} query;

/* A plan of the point would fail, or a search found that it does. */
static bool is_bad(const query *q, const wfi_point *point)
{
    const wfi_family_hooks *hooks = wfi_family_get(point->problem->family)->hooks;
    if (hooks->fits && !hooks->fits(point))
        return true;
    const wfi_named_point named = wfi_point_named(point);
    return q->known && wfi_entry_is_blamed(q->known, &named);
}

/* --------------------------------------------------------------------------------------- model */

/* The variant that the user names, with the model's values where they are legal. */
static wf_result choose_forced(const query *q, const wfi_family *family, wfi_point *point)
{
    const wfi_log *log = q->log;
    char reason[256];
    const uint32_t index = wfi_variant_find(family, q->tuning->variant);
    if (index == UINT32_MAX)
        return no_variant(log, family, q->tuning->variant);
    point->variant = family->variants[index];
    wfi_point_defaults(point);
    point->variant->fit(point);
    wf_result result = apply_constants(log, q->tuning, point);
    if (result == WF_SUCCESS && !wfi_point_legal(point, reason))
        result =
            wfi_fail(log, q->tuning->constant_count ? WF_ERROR_CONSTRAINT : WF_ERROR_UNSUPPORTED,
                     "%s %s: %s", family->name, point->variant->name, reason);
    return result;
}

/* The legal point with the lowest expected time, over the variants that have every forced
 * constant. Where all are bad, the fastest is taken all the same: what a search came to must not
 * make a call fail, and where none fits the device, making the plan says what is too large. */
static wf_result choose_by_model(const query *q, const wfi_family *family, wfi_point *out,
                                 double *expected)
{
    const wf_tuning *tuning = q->tuning;
    const wfi_log *log = q->log;
    char reason[256] = "no variant suits the problem";
    bool found = false, found_good = false, named = false;
    double best = 0;
    for (uint32_t i = 0; i < family->variant_count; i++) {
        wfi_point point = *out;
        point.variant = family->variants[i];
        if (!has_all_constants(point.variant, tuning) ||
            (tuning->variant && strcmp(tuning->variant, point.variant->name) != 0))
            continue;
        named = true;
        wfi_point_defaults(&point);
        const double time = point.variant->fit(&point);
        if (time < 0 || apply_constants(log, tuning, &point) != WF_SUCCESS ||
            !wfi_point_legal(&point, reason))
            continue;
        const bool good = !is_bad(q, &point);
        if (found && (good == found_good ? time >= best : found_good))
            continue;
        best = time;
        found = true;
        found_good = good;
        *out = point;
    }
    *expected = best;
    if (found)
        return WF_SUCCESS;
    if (!named)
        return no_constant(log, family, NULL, tuning->constants[0].name);
    return wfi_fail(log, tuning->constant_count ? WF_ERROR_CONSTRAINT : WF_ERROR_UNSUPPORTED,
                    "%s %s: %s", family->name, wf_type_name(q->problem->type), reason);
}

/* --------------------------------------------------------------------------------- tuning data */

/* What the model says of a problem, and of the row's point there. */
static bool view(const query *q, const wfi_problem *problem, const wfi_point *row,
                 wfi_model_view *out)
{
    query of = *q;
    of.problem = problem;
    of.log = NULL;
    wfi_point at = *row, model = {.caps = row->caps, .problem = problem, .rates = row->rates};
    at.problem = problem;
    if (choose_by_model(&of, wfi_family_get(problem->family), &model, &out->choice_time) !=
            WF_SUCCESS ||
        !wfi_point_legal(&at, NULL))
        return false;
    out->choice = wfi_point_named(&model);
    out->row_time = wfi_point_expected(&at);
    return true;
}

static bool expects_times(const wfi_family *family)
{
    for (uint32_t i = 0; i < family->variant_count; i++)
        if (family->variants[i]->expect)
            return true;
    return false;
}

/* Whether a row is worth taking for another size than it was measured for; `taken` is its point as
 * this size has it. In families whose times are not of rates it is only while the model chooses the
 * row's variant for both sizes: a search finds one variant a few percent before another, and
 * nothing tells how far from there that holds. If times of the variant are expected, the row must
 * also have gained about as much over the model's choice where it was measured as it is expected to
 * lose here (H200, Himeno: the model's own choice for 105x192x290 took 43.3 us for 85x111x257,
 * which a search brought to 29.5). */
static bool serves(const query *q, const wfi_tuning_entry *entry, const wfi_point *row,
                   const wfi_point *taken)
{
    const wfi_family *family = wfi_family_get(q->problem->family);
    const struct wfi_family_hooks *hooks = family->hooks;
    const bool by_rates = hooks->expect_error == 0 && expects_times(family);
    wfi_problem measured;
    wfi_model_view there, here;
    if (by_rates && (!row->rates || !row->variant->expect))
        return true;
    if (!hooks->resize || !hooks->resize(q->problem, entry->problem, &measured) ||
        !view(q, &measured, row, &there) || !view(q, q->problem, taken, &here))
        return true;
    const struct wfi_tuning *tuning = wfi_tuning_of(q->device);
    if (by_rates)
        return wfi_row_serves(entry, &there, &here, tuning->own.rates.error_permille * 1e-3);
    return strcmp(here.choice.variant, row->variant->name) == 0 &&
           strcmp(there.choice.variant, row->variant->name) == 0 &&
           wfi_row_serves(entry, &there, &here, hooks->expect_error);
}

/* The row as a legal point with what the user forces. */
static bool usable(const query *q, const wfi_tuning_entry *entry, wfi_point *point)
{
    const wfi_named_point *row = &entry->best[0];
    const char *variant = q->tuning->variant;
    char text[sizeof entry->problem];
    if (variant && strcmp(variant, row->variant) != 0)
        return false;
    wfi_point trial = *point;
    if (!wfi_point_from_names(row, &trial) || !has_all_constants(trial.variant, q->tuning))
        return false;
    wfi_problem_text(q->problem, text, sizeof text);
    const bool elsewhere = strcmp(text, entry->problem) != 0;
    const wfi_point measured = trial;
    if (trial.variant->refit && elsewhere)
        trial.variant->refit(&trial);
    if (elsewhere && !serves(q, entry, &measured, &trial))
        return false;
    apply_constants(NULL, q->tuning, &trial);
    if (!wfi_point_legal(&trial, NULL) || is_bad(q, &trial))
        return false;
    *point = trial;
    return true;
}

/* The nearest entry whose best point can be used here. */
static bool nearest(const query *q, const wfi_tuning_data *data, bool current, wfi_point *point)
{
    int least = -1;
    for (uint32_t i = 0; i < data->entry_count; i++) {
        const wfi_tuning_entry *entry = &data->entries[i];
        const int distance = wfi_key_distance(&q->key, &entry->key);
        if (distance < 0 || distance > WFI_KEY_CHOSEN || (least >= 0 && distance >= least) ||
            entry->best_count == 0 ||
            !(current ? wfi_entry_is_current(q->device, entry)
                      : wfi_entry_is_of_these_sources(entry)))
            continue;
        if (usable(q, entry, point))
            least = distance;
    }
    return least >= 0;
}

/* Looks through the levels; *chosen_by says which one had a point. */
static bool choose_from_data(query *q, wfi_point *point, const char **chosen_by)
{
    const uint32_t skip = q->tuning->skip_levels;
    struct wfi_tuning *data = wfi_tuning_of(q->device);
    if (!data)
        return false;
    q->known = wfi_tuning_find(&data->own, &q->key);
    if (q->known && !wfi_entry_is_current(q->device, q->known))
        q->known = NULL;
    const struct {
        uint32_t level;
        const wfi_tuning_data *data;
        bool current;
        const char *name;
    } levels[] = {
        {WF_TUNING_MEASURED, &data->own, true, "tuned"},
        {WF_TUNING_DEVICE_ROWS, &data->shipped[0], false, "device row"},
        {WF_TUNING_ARCHITECTURE_ROWS, &data->shipped[1], false, "architecture row"},
    };
    for (size_t i = 0; i < WFI_COUNT(levels); i++)
        if (!(skip & levels[i].level) && nearest(q, levels[i].data, levels[i].current, point)) {
            *chosen_by = levels[i].name;
            return true;
        }
    return false;
}

static wf_result choose(wf_device *device, const wfi_log *log, const wfi_problem *problem,
                        const wf_tuning *tuning, wfi_choice *out)
{
    const wfi_family *family = wfi_family_get(problem->family);
    wfi_choice choice = {.point = {.caps = &device->caps, .problem = problem},
                         .chosen_by = "model",
                         .family = family};
    double expected;
    wf_tuning read;
    wf_result result = wfi_params_read(log, "wf_tuning", tuning, &read, sizeof read);
    if (result != WF_SUCCESS)
        return result;
    query q = {device, log, problem, &read, wfi_key_of(problem), NULL};
    wfi_mutex_lock(&device->tuning_lock);
    if (!(read.skip_levels & WF_TUNING_RATES))
        choice.point.rates = wfi_tuning_rates(wfi_tuning_of(device));
    const bool found = !read.no_tuning && choose_from_data(&q, &choice.point, &choice.chosen_by);
    if (!found && read.variant)
        result = choose_forced(&q, family, &choice.point);
    else if (!found)
        result = choose_by_model(&q, family, &choice.point, &expected);
    wfi_mutex_unlock(&device->tuning_lock);
    if (read.variant || read.constant_count)
        choice.chosen_by = "forced";
    if (result == WF_SUCCESS)
        *out = choice;
    return result;
}

wf_result wfi_choose(wf_device *device, const wfi_problem *problem, const wf_tuning *tuning,
                     wfi_choice *out)
{
    return choose(device, &device->log, problem, tuning, out);
}

wf_result wfi_choose_silently(wf_device *device, const wfi_problem *problem,
                              const wf_tuning *tuning, wfi_choice *out)
{
    return choose(device, NULL, problem, tuning, out);
}
