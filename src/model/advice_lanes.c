/* Lanes without work, and lanes that reach memory one by one. */
#include <math.h>

#include "model/advice_rules.h"

#define BUSY_LANES 0.85 /* fraction above which tile edges cost little */
#define BUSY_ROWS 0.7   /* the same of lanes on rows and rows in a work-group */
#define APART 2.0       /* sectors touched over the fewest possible */
#define CONFLICT_PASSES 1.5
#define MEETING 2.0

static uint32_t items_of(const wfi_observation *o)
{
    const uint32_t *size = o->kernel.group_size;
    return size[0] * size[1] * size[2];
}

static bool idle_lanes(const wfi_observation *o, wfi_advice *out)
{
    static const char *const words[] = {"local_", "tile_", NULL};
    const uint32_t items = items_of(o), lanes = o->kernel.subgroup_size;
    if (lanes < 2 || items % lanes == 0)
        return false;
    const uint32_t whole = (items + lanes - 1) / lanes * lanes;
    out->gain = (double)whole / items;
    wfi_say(out,
            "Work-groups of %u work-items are no multiple of the subgroup of %u: %u lanes of each "
            "group idle, and take places as the others do.",
            items, lanes, whole - items);
    wfi_try_sweep(o, out, words);
    return true;
}

static bool edges(const wfi_observation *o, wfi_advice *out)
{
    static const char *const words[] = {"tile", "local_", NULL};
    if (!(o->access.busy > 0) || o->access.busy >= BUSY_LANES || wfi_headroom(o) < WFI_HEADROOM)
        return false;
    out->gain = fmin(1 / o->access.busy, wfi_headroom(o));
    wfi_say(out,
            "Tiles or work-groups reach over the problem's edges: %.0f %% of their lanes have no "
            "place in it, and take as long as the others. Sizes that divide the problem's leave "
            "fewer idle.",
            (1 - o->access.busy) * 100);
    wfi_try_sweep(o, out, words);
    return true;
}

static bool row_lanes(const wfi_observation *o, wfi_advice *out)
{
    static const char *const words[] = {"lanes", NULL};
    const wfi_row_use *r = &o->rows;
    if (r->lanes < 2 || r->busy >= BUSY_ROWS || wfi_headroom(o) < WFI_HEADROOM)
        return false;
    out->gain = fmin(1 / r->busy, wfi_headroom(o));
    wfi_say(out,
            "Rows have %.3g entries on average, and %u lanes take each: %.0f of %u lanes have "
            "nothing to multiply, but are loaded, summed and scheduled with the others. Fewer "
            "lanes a row waste less.",
            r->mean, r->lanes, (1 - r->busy) * r->lanes, r->lanes);
    wfi_try_sweep(o, out, words);
    return true;
}

static bool uneven_rows(const wfi_observation *o, wfi_advice *out)
{
    const wfi_row_use *r = &o->rows;
    if (r->lanes == 0 || r->even >= BUSY_ROWS || wfi_headroom(o) < WFI_HEADROOM)
        return false;
    out->gain = fmin(1 / r->even, wfi_headroom(o));
    wfi_say(out,
            "The rows of a work-group are of unequal length (%.3g entries on average, %u at most): "
            "a group lasts until its longest row ends, and %.0f %% of its lanes' time passes "
            "before. Variants that sort rows or cut them into equal pieces do not wait.",
            r->mean, r->longest, (1 - r->even) * 100);
    wfi_try_variant(o, out, "equal");
    return true;
}

static bool coalescing(const wfi_observation *o, wfi_advice *out)
{
    static const char *const words[] = {"lanes", "local_", NULL};
    const double apart = o->access.sectors / fmax(o->access.least_sectors, 1);
    if (o->processor || !(apart >= APART) || wfi_headroom(o) < WFI_HEADROOM)
        return false;
    out->gain = fmin(apart, wfi_headroom(o));
    wfi_say(out,
            "Neighbouring lanes read addresses that lie apart: one pass of a subgroup's loads "
            "touches %.0f sectors of 32 bytes where %.0f would hold what it asks for, and each is "
            "fetched by itself.",
            o->access.sectors, o->access.least_sectors);
    if (o->rows.lanes == 1)
        wfi_try_variant(o, out, "lanes");
    else
        wfi_try_sweep(o, out, words);
    return true;
}

static bool banks(const wfi_observation *o, wfi_advice *out)
{
    static const char *const words[] = {"items", "local_", NULL};
    if (o->processor || !(o->access.bank_passes >= CONFLICT_PASSES) ||
        wfi_headroom(o) < WFI_HEADROOM)
        return false;
    out->gain = fmin(o->access.bank_passes, wfi_headroom(o));
    wfi_say(out,
            "A subgroup's access to shared memory takes %.3g passes on average: several lanes want "
            "different words of one of the 32 banks, which gives one at a time. A tile that is "
            "transposed or padded, or an odd distance, spreads them.",
            o->access.bank_passes);
    const char *variant = wfi_advice_family_of(o)->no_conflicts;
    if (variant)
        wfi_try_variant(o, out, variant);
    else
        wfi_try_sweep(o, out, words);
    return true;
}

static bool atomics(const wfi_observation *o, wfi_advice *out)
{
    if (!(o->access.meeting >= MEETING) || wfi_headroom(o) < WFI_HEADROOM)
        return false;
    out->gain = fmin(o->access.meeting, wfi_headroom(o));
    wfi_say(out,
            "%.3g atomic additions meet at each element of the result: memory takes them one after "
            "another, and one that lost the race tries again. Lanes that add up by shuffles or in "
            "shared memory first store once.",
            o->access.meeting);
    wfi_try_variant(o, out, "lanes");
    return true;
}

const wfi_rule wfi_lane_rules[] = {
    {"idle-lanes", idle_lanes}, {"edges", edges},
    {"row-lanes", row_lanes},   {"uneven-rows", uneven_rows},
    {"coalescing", coalescing}, {"banks", banks},
    {"atomics", atomics},       {NULL, NULL},
};
