/* The rules of what is around a kernel, and all of them put together. */
#include "model/advice_rules.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/duration.h"

#define TRANSFER_FRACTION 0.5  /* of a call that moving data takes before it is worth a word */
#define DISPATCH_FRACTION 0.15 /* of the time that barriers between dispatches take */
#define SLOWER_CHOICE 1.05
#define DIFFERENT 1.3      /* of two choices, from which on it may be the reason */
#define FAR_FROM_FLOOR 2.0 /* where a search is worth its minutes */
#define SEARCH_GAIN 2.0    /* that it seldom passes */

/* ------------------------------------------------------------------ a choice that was forced */

typedef struct difference {
    double ratio;
    char text[80];
} difference;

enum { DIFFERENCES = 7, TOLD = 3 };

/* One way in which the forced choice is worse, where it is by much. */
static void add_difference(difference *list, uint32_t *count, double ratio, const char *format, ...)
{
    va_list args;
    if (!(ratio >= DIFFERENT) || isinf(ratio))
        return;
    va_start(args, format);
    vsnprintf(list[*count].text, sizeof list[*count].text, format, args);
    va_end(args);
    list[(*count)++].ratio = ratio;
}

static int by_ratio(const void *a, const void *b)
{
    const double x = ((const difference *)a)->ratio, y = ((const difference *)b)->ratio;
    return (x < y) - (x > y);
}

static double apart(const wf_access *a)
{
    return a->least_sectors > 0 ? a->sectors / a->least_sectors : (double)NAN;
}

/* Ratios of what is known of both are NaN or infinite otherwise, and are left out. */
static uint32_t find_differences(const wfi_observation *o, difference list[DIFFERENCES])
{
    const wf_plan_info *own = o->chosen;
    uint32_t count = 0;
    const double memory = o->requested_bytes / own->requested_bytes,
                 shared = o->shared_requested_bytes / own->shared_requested_bytes;
    add_difference(list, &count, memory, "asks memory for %.3g times the bytes", memory);
    add_difference(list, &count, shared, "asks shared memory for %.3g times the bytes", shared);
    add_difference(list, &count, (double)o->dispatches / own->dispatches,
                   "takes %u dispatches in place of %u", o->dispatches, own->dispatches);
    add_difference(list, &count, o->processor ? 0 : apart(&o->access) / apart(&own->access),
                   "touches %.3g times the sectors a load",
                   apart(&o->access) / apart(&own->access));
    add_difference(list, &count, own->access.busy / o->access.busy,
                   "has work for %.0f %% of its lanes in place of %.0f %%", o->access.busy * 100,
                   own->access.busy * 100);
    if (o->has_occupancy)
        add_difference(list, &count, o->chosen_occupancy / o->occupancy.fraction,
                       "fills %.0f %% of a compute unit's places in place of %.0f %%",
                       o->occupancy.fraction * 100, o->chosen_occupancy * 100);
    add_difference(list, &count, o->access.bank_passes / own->access.bank_passes,
                   "takes %.3g times the passes of shared memory",
                   o->access.bank_passes / own->access.bank_passes);
    qsort(list, count, sizeof *list, by_ratio);
    return count < TOLD ? count : TOLD;
}

static bool forced_choice(const wfi_observation *o, wfi_advice *out)
{
    if (!o->forced || !(o->chosen_us > 0) || o->time_us < o->chosen_us * SLOWER_CHOICE)
        return false;
    char chosen[32], why[280] = "";
    difference list[DIFFERENCES];
    const uint32_t count = o->chosen ? find_differences(o, list) : 0;
    for (uint32_t i = 0; i < count; i++)
        snprintf(why + strlen(why), sizeof why - strlen(why), "%s%s",
                 i == 0           ? ": it "
                 : i + 1 == count ? " and "
                                  : ", ",
                 list[i].text);
    wfi_format_time(o->chosen_us, chosen, sizeof chosen);
    out->gain = o->time_us / o->chosen_us;
    wfi_say(out, "What was forced is slower than wavefit's own choice (%s%s%s)%s.",
            o->chosen ? o->chosen->variant : "", o->chosen ? ", " : "", chosen, why);
    snprintf(out->command, sizeof out->command, "wavefit explain %s %s", o->family, o->arguments);
    return true;
}

/* ------------------------------------------------------------------------ around the kernel */

static bool transfers(const wfi_observation *o, wfi_advice *out)
{
    const double moving = o->upload_us + o->download_us;
    const double all = moving + o->submit_us + o->time_us;
    if (!(moving > TRANSFER_FRACTION * all))
        return false;
    out->gain = all / (all - moving);
    wfi_say(out,
            "A call that brings its data and fetches the result spends %.0f %% of its time moving "
            "them, in which nothing is computed: keep data on the device between calls.",
            moving / all * 100);
    snprintf(out->command, sizeof out->command, "wavefit peaks --only upload,download");
    return true;
}

static bool submissions(const wfi_observation *o, wfi_advice *out)
{
    if (!(o->submit_us > o->time_us) || o->target)
        return false;
    char submit[32], work[32];
    wfi_format_time(o->submit_us, submit, sizeof submit);
    wfi_format_time(o->time_us, work, sizeof work);
    out->gain = (o->submit_us + o->time_us) / o->time_us;
    wfi_say(out,
            "Submitting and waiting (%s) takes longer than the work (%s): record several "
            "executions in one command buffer (wf_plan_record), or make the problem larger.",
            submit, work);
    snprintf(out->command, sizeof out->command, "wavefit peaks --only submit,dispatch,barrier");
    return true;
}

/* Where so many dispatches run, what one costs by itself may be more than it costs there. */
static bool dispatches(const wfi_observation *o, wfi_advice *out)
{
    const double lost =
        o->dispatches > 1 ? fmin((o->dispatches - 1) * o->barrier_us, o->time_us - o->floor_us) : 0;
    if (!(lost > DISPATCH_FRACTION * o->time_us))
        return false;
    out->gain = fmin(o->time_us / (o->time_us - lost), wfi_headroom(o));
    wfi_say(out,
            "%u dispatches follow one another: starting and ending them takes up to %.0f %% of the "
            "time, in which compute units are empty. Fewer dispatches do more each.",
            o->dispatches, lost / o->time_us * 100);
    snprintf(out->command, sizeof out->command, "wavefit ladder %s %s", o->family, o->arguments);
    return true;
}

/* Whether `wavefit tune` can search the problem: it has no option for other shapes. */
static bool can_tune(const wfi_observation *o)
{
    const char *a = o->arguments;
    return strcmp(o->family, "stencil") != 0 ||
           (!strstr(a, " --shape ") && !strstr(a, " --border "));
}

static bool untuned(const wfi_observation *o, wfi_advice *out)
{
    if (o->forced || !o->chosen_by || o->target || strcmp(o->chosen_by, "tuned") == 0 ||
        wfi_headroom(o) <= FAR_FROM_FLOOR)
        return false;
    out->gain = SEARCH_GAIN;
    wfi_say(out,
            "It takes %.3g times as long as the measured ceilings allow, and its variant and "
            "constants were not measured on this device (%s): %s may find better ones.",
            wfi_headroom(o), o->chosen_by, can_tune(o) ? "a search" : "the other variants");
    snprintf(out->command, sizeof out->command, "wavefit %s %s %s", can_tune(o) ? "tune" : "ladder",
             o->family, o->arguments);
    return true;
}

static const wfi_rule call_rules[] = {
    {"forced", forced_choice},  {"transfers", transfers}, {"submissions", submissions},
    {"dispatches", dispatches}, {"untuned", untuned},     {NULL, NULL},
};

/* --------------------------------------------------------------------------------- together */

static int by_gain(const void *a, const void *b)
{
    const double x = ((const wfi_advice *)a)->gain, y = ((const wfi_advice *)b)->gain;
    return (x < y) - (x > y);
}

uint32_t wfi_advise(const wfi_observation *o, wfi_advice advice[WFI_MAX_ADVICE])
{
    const wfi_rule *const sets[] = {call_rules, wfi_lane_rules, wfi_unit_rules, wfi_memory_rules,
                                    NULL};
    uint32_t count = 0;
    for (const wfi_rule *const *set = sets; *set; set++)
        for (const wfi_rule *rule = *set; rule->name && count < WFI_MAX_ADVICE; rule++) {
            wfi_advice *out = &advice[count];
            *out = (wfi_advice){.rule = rule->name};
            count += rule->look(o, out);
        }
    qsort(advice, count, sizeof *advice, by_gain);
    return count;
}
