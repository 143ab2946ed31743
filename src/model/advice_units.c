/* Compute units that are not full: of work-groups, of subgroups, of registers. */
#include <math.h>
#include <string.h>

#include "model/advice_rules.h"

#define LOW_OCCUPANCY 0.35   /* below it, latency is hard to hide */
#define GROUP_OCCUPANCY 0.75 /* occupancy that the shape of work-groups should allow */
#define FULL_WAVES 0.85      /* efficiency above which the last wave costs little */

static const char *const tile_words[] = {"tile_m", "march", "local_", "tile_", NULL};
static const char *const item_words[] = {"thread_", "steps", "loads", "tile_", NULL};

static double items_of(const wfi_observation *o)
{
    const uint32_t *size = o->kernel.group_size;
    return (double)size[0] * size[1] * size[2];
}

static double units_of(const wfi_observation *o)
{
    const uint32_t counted = o->has_occupancy ? o->occupancy.counted_units : 0;
    return (double)o->compute_units / (counted ? counted : 1);
}

static bool few_groups(const wfi_observation *o, wfi_advice *out)
{
    const double groups = (double)o->kernel.groups;
    if (!(groups > 0) || groups >= o->compute_units || wfi_headroom(o) < WFI_HEADROOM)
        return false;
    out->gain = fmin(o->compute_units / groups, wfi_headroom(o));
    wfi_say(out,
            "%.0f work-groups leave %.0f of %u compute units without work: smaller tiles or "
            "work-groups make more of them.",
            groups, o->compute_units - groups, o->compute_units);
    wfi_try_sweep(o, out, tile_words);
    return true;
}

/* Every compute unit has a work-group, but all work-items together are few. */
static bool few_items(const wfi_observation *o, wfi_advice *out)
{
    static const char *const words[] = {"split_k", "march", "thread_", "lanes", "local_", NULL};
    const double groups = (double)o->kernel.groups, items = groups * items_of(o);
    const double room =
        o->has_occupancy ? units_of(o) * o->occupancy.most_subgroups * o->kernel.subgroup_size : 0;
    if (!(items > 0) || groups < o->compute_units || !(items < LOW_OCCUPANCY * room) ||
        wfi_headroom(o) < WFI_HEADROOM)
        return false;
    out->gain = fmin(room / items, wfi_headroom(o));
    wfi_say(out,
            "%.0f work-items are under way at most, where the device holds %.0f: so few loads and "
            "sums overlap that each is waited for. Less work a work-item, or sums that several "
            "share, make more of them.",
            items, room);
    wfi_try_sweep(o, out, words);
    return true;
}

bool wfi_waves(const wfi_observation *o, double *waves, double *efficiency)
{
    const double at_once = o->has_occupancy ? units_of(o) * o->occupancy.groups : 0;
    if (!(at_once > 0) || o->kernel.groups == 0)
        return false;
    *waves = (double)o->kernel.groups / at_once;
    *efficiency = *waves / ceil(*waves);
    return true;
}

static bool tail(const wfi_observation *o, wfi_advice *out)
{
    double waves, efficiency;
    if (!wfi_waves(o, &waves, &efficiency) || waves < 1 || efficiency >= FULL_WAVES ||
        wfi_headroom(o) < WFI_HEADROOM)
        return false;
    out->gain = fmin(1 / efficiency, wfi_headroom(o));
    wfi_say(out,
            "The work-groups come in %.2f waves: the last one fills %.0f %% of the device, and "
            "lasts as long as a full one. Other tiles or work-groups end more evenly.",
            waves, (waves - floor(waves)) * 100);
    wfi_try_sweep(o, out, tile_words);
    return true;
}

/* Low occupancy for the reason given, where the floor is far. */
static bool held_down_by(const wfi_observation *o, const char *limit, double below)
{
    return o->has_occupancy && o->occupancy.fraction < below && wfi_headroom(o) >= WFI_HEADROOM &&
           strcmp(o->occupancy.limited_by, limit) == 0;
}

static bool registers(const wfi_observation *o, wfi_advice *out)
{
    if (!held_down_by(o, "registers", LOW_OCCUPANCY))
        return false;
    out->gain = fmin(wfi_headroom(o), sqrt(1 / o->occupancy.fraction));
    wfi_say(out,
            "%u registers a work-item leave room for %u of %u subgroups a compute unit: few are "
            "there to run while others wait. Less work a work-item makes room (or costs more than "
            "it gains: registers are what makes tiles fast).",
            o->kernel.registers, o->occupancy.subgroups, o->occupancy.most_subgroups);
    wfi_try_sweep(o, out, item_words);
    return true;
}

static bool shared_memory(const wfi_observation *o, wfi_advice *out)
{
    static const char *const words[] = {"tile_k", "tile_", "march", "steps", NULL};
    if (!held_down_by(o, "shared memory", LOW_OCCUPANCY))
        return false;
    out->gain = fmin(wfi_headroom(o), sqrt(1 / o->occupancy.fraction));
    wfi_say(out,
            "%llu bytes of shared memory a work-group leave room for %u of %u subgroups a compute "
            "unit: few are there to run while others wait. A smaller tile lets more run.",
            (unsigned long long)o->kernel.shared_bytes, o->occupancy.subgroups,
            o->occupancy.most_subgroups);
    wfi_try_sweep(o, out, words);
    return true;
}

static bool group_size(const wfi_observation *o, wfi_advice *out)
{
    static const char *const words[] = {"local_", "tile_", NULL};
    if (!held_down_by(o, "work-groups a unit", GROUP_OCCUPANCY) &&
        !held_down_by(o, "work-group size", GROUP_OCCUPANCY))
        return false;
    out->gain = fmin(wfi_headroom(o), 1 / o->occupancy.fraction);
    wfi_say(out,
            "Work-groups of %.0f work-items fill %.0f %% of a compute unit, limited by %s: the "
            "rest of its places stays empty, so that less overlaps. Another work-group size keeps "
            "more subgroups busy.",
            items_of(o), o->occupancy.fraction * 100, o->occupancy.limited_by);
    wfi_try_sweep(o, out, words);
    return true;
}

static bool spills(const wfi_observation *o, wfi_advice *out)
{
    if (o->kernel.spilled == 0)
        return false;
    out->gain = fmax(1, fmin(wfi_headroom(o), 2));
    wfi_say(out,
            "The compiler keeps %u registers of each work-item in memory: each use is a load or a "
            "store. Less work a work-item avoids that.",
            o->kernel.spilled);
    wfi_try_sweep(o, out, item_words);
    return true;
}

const wfi_rule wfi_unit_rules[] = {
    {"few-groups", few_groups},
    {"few-items", few_items},
    {"tail", tail},
    {"registers", registers},
    {"shared", shared_memory},
    {"group-size", group_size},
    {"spills", spills},
    {NULL, NULL},
};
