/* Bytes: loads for each product, reuse that caches do not hold, the floor of memory; and arithmetic
 * that a device has no instructions for. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/advice_rules.h"
#include "model/duration.h"

#define NEAR_FLOOR 1.15
#define ARITHMETIC 16.0     /* operations a byte above which arithmetic should be the limit */
#define VALUES 1.0          /* values loaded a multiply-add, above which loads are the limit */
#define FETCHED_TWICE 1.5   /* bytes that work-groups fetch over the fewest possible */
#define MOST_TIME 0.6       /* fraction of the time that fetching them takes at the measured rate */
#define UNSURE_HEADROOM 1.5 /* where caches may have given those bytes as well */
#define SLOW_F64 4.0        /* f32 rate over f64 rate */
#define MATRIX_GAIN 2.0
#define PASS_GAIN 2.0 /* what several steps a pass gain at most, with rare exceptions */

static const char *const reuse_words[] = {"tile_m", "tile", "march", "local_", NULL};

static bool loads(const wfi_observation *o, wfi_advice *out)
{
    static const char *const words[] = {"thread_", NULL};
    const double size = (double)wf_type_size(o->type), products = o->flops / 2;
    const double values = (o->requested_bytes + o->shared_requested_bytes) / size / products;
    char memory[32], shared[32];
    if (!(o->flops > ARITHMETIC * o->least_bytes) || !(values >= VALUES) ||
        wfi_headroom(o) < WFI_HEADROOM)
        return false;
    out->gain = fmin(1 + values, wfi_headroom(o)); /* a load takes no less than a product */
    wfi_format_bytes(o->requested_bytes, memory, sizeof memory);
    wfi_format_bytes(o->shared_requested_bytes, shared, sizeof shared);
    wfi_say(out,
            "Each multiply-add loads %.3g values (%s from memory and caches, %s of shared memory "
            "in all): lanes load more than they multiply. A block of outputs in registers uses "
            "each value several times.",
            values, memory, shared);
    wfi_try_sweep(o, out, words);
    return true;
}

/* The fraction of the time in which a level of memory, at `rate`, moves the bytes that work-groups
 * fetch. */
static double fetching(const wfi_observation *o, double rate)
{
    const bool twice = o->group_bytes > FETCHED_TWICE * o->least_bytes;
    return twice && rate > 0 && o->time_us > 0 ? o->group_bytes / (rate * 1e3) / o->time_us : 0;
}

static bool reuse(const wfi_observation *o, wfi_advice *out)
{
    const double memory = fetching(o, o->copy), cache = fetching(o, o->cache);
    const bool held = memory > 1; /* faster than memory gives them */
    char bytes[32];
    if (!((held ? cache : memory) >= MOST_TIME) ||
        wfi_headroom(o) < (held || cache >= MOST_TIME ? WFI_HEADROOM : UNSURE_HEADROOM))
        return false;
    out->gain = fmin(o->group_bytes / o->least_bytes, wfi_headroom(o));
    wfi_format_bytes(o->group_bytes, bytes, sizeof bytes);
    if (held)
        wfi_say(out,
                "Work-groups fetch %s, %.3g times the least: at the measured rate of caches that "
                "alone takes %.0f %% of the time. Larger tiles or work-groups fetch less.",
                bytes, o->group_bytes / o->least_bytes, fmin(cache, 1) * 100);
    else
        wfi_say(
            out,
            "Work-groups fetch %s, %.3g times the least, and memory takes %.0f %% of the time for "
            "so much: caches keep little of what work-groups share until it is used again. "
            "Larger tiles or work-groups fetch less.",
            bytes, o->group_bytes / o->least_bytes, memory * 100);
    wfi_try_sweep(o, out, reuse_words);
    return true;
}

/* The command that explains the same with a type that takes half the bytes. */
static void try_type(const wfi_observation *o, wfi_advice *out, const char *type)
{
    const char *given = strstr(o->arguments, " --type ");
    snprintf(out->command, sizeof out->command, "wavefit explain %s %.*s%s%s", o->family,
             given ? (int)(given - o->arguments) : (int)strlen(o->arguments), o->arguments,
             strcmp(type, "f32") == 0 ? "" : " --type ", strcmp(type, "f32") == 0 ? "" : type);
}

/* Whether another variant would take several steps in one pass over memory. */
static bool takes_one_step(const wfi_observation *o, const wfi_advice_family *family)
{
    return family->pass_variant && o->variant && !o->box &&
           strcmp(o->variant->name, family->pass_variant) != 0;
}

/* At the floor of memory only fewer bytes help: fewer passes, or a narrower type. */
static bool memory_floor(const wfi_observation *o, wfi_advice *out)
{
    const wfi_advice_family *family = wfi_advice_family_of(o);
    const char *type = family->narrower[o->type];
    const char *how = "where it is precise enough";
    if (!o->memory_bound || !(o->floor_us > 0) || o->time_us > o->floor_us * NEAR_FLOOR)
        return false;
    if (takes_one_step(o, family)) {
        how = family->pass;
        type = NULL;
        out->gain = PASS_GAIN;
        snprintf(out->command, sizeof out->command, "wavefit explain %s %s%s --variant %s",
                 o->family, o->arguments, o->steps > 1 ? "" : family->pass_options,
                 family->pass_variant);
    } else if (type) {
        out->gain = family->narrower_gain;
        try_type(o, out, type);
    } else {
        return false;
    }
    wfi_say(out,
            "The kernel moves its bytes as fast as memory can: only fewer bytes make it faster "
            "(%s%s%s).",
            type ? type : "", type ? " " : "", how);
    return true;
}

static bool slow_f64(const wfi_observation *o, wfi_advice *out)
{
    if (o->type != WF_TYPE_F64 || o->memory_bound || !(o->fma > 0) ||
        !(o->fma_f32 > SLOW_F64 * o->fma))
        return false;
    out->gain = o->fma_f32 / o->fma;
    wfi_say(out,
            "This device does f64 at 1/%.0f of its f32 rate, having few units for it: use f32 "
            "where it is precise enough.",
            out->gain);
    snprintf(out->command, sizeof out->command, "wavefit peaks --only fma_f32,fma_f64");
    return true;
}

/* Memory still gains by a narrow type; arithmetic only loses. */
static bool no_hardware(const wfi_observation *o, wfi_advice *out)
{
    const double again = o->fma_f32 > 0 && o->time_us > 0 ? o->flops * 1e-3 / o->fma_f32 : 0;
    if (!o->no_hardware || o->memory_bound || wfi_headroom(o) < WFI_HEADROOM)
        return false;
    out->gain = fmax(1, fmin(wfi_headroom(o), again > 0 ? o->time_us / again : 2));
    wfi_say(out,
            "This device has no arithmetic of %s: values are widened one by one, multiplied as "
            "wider ones and rounded back. Only their bytes are fewer, and here arithmetic is the "
            "limit: f32 does without the conversions.",
            wf_type_name(o->type));
    try_type(o, out, "f32");
    return true;
}

static bool matrix_units(const wfi_observation *o, wfi_advice *out)
{
    if (!wfi_advice_family_of(o)->matrix_units || o->type != WF_TYPE_F32 || o->memory_bound ||
        !(o->matrix_f16 > MATRIX_GAIN * o->fma_f32))
        return false;
    out->gain = o->matrix_f16 / o->fma_f32;
    wfi_say(out,
            "Its matrix units multiply f16 %.0f times as fast as f32 is: use f16 inputs where they "
            "are precise enough.",
            out->gain);
    snprintf(out->command, sizeof out->command, "wavefit %s %s --type f16", o->family,
             o->arguments);
    return true;
}

const wfi_rule wfi_memory_rules[] = {
    {"loads", loads},
    {"reuse", reuse},
    {"memory-floor", memory_floor},
    {"slow-f64", slow_f64},
    {"no-hardware", no_hardware},
    {"matrix-units", matrix_units},
    {NULL, NULL},
};
