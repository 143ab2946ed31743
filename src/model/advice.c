#include "model/advice.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/duration.h"

#define TRANSFER_FRACTION 0.5  /* of a call that moving data takes before it is worth a word */
#define DISPATCH_FRACTION 0.15 /* of the time that barriers between dispatches take */
#define LOW_OCCUPANCY 0.35     /* below it, latency is hard to hide */
#define GROUP_OCCUPANCY 0.75   /* that the shape of work-groups should reach */
#define HEADROOM 1.25          /* over the floor, from which a faster kernel is worth looking for */
#define FULL_WAVES 0.85        /* efficiency from which the tail is small */
#define NEAR_FLOOR 1.15
#define SLOWER_CHOICE 1.05
#define SLOW_F64 4.0 /* f32 rate over f64 rate */
#define MATRIX_GAIN 2.0
#define FAR_FROM_FLOOR 2.0 /* where a search is worth its minutes */
#define SEARCH_GAIN 2.0    /* that it seldom passes */

typedef struct rule {
    const char *name;
    bool (*look)(const wfi_observation *o, wfi_advice *out);
} rule;

static void say(wfi_advice *out, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

static void say(wfi_advice *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out->text, sizeof out->text, format, args);
    va_end(args);
}

static double headroom(const wfi_observation *o)
{
    return o->floor_us > 0 && o->time_us > o->floor_us ? o->time_us / o->floor_us : 1;
}

static uint32_t items_of(const wfi_observation *o)
{
    const uint32_t *size = o->kernel.group_size;
    return size[0] * size[1] * size[2];
}

/* A sweep over the first parameter whose name begins with one of the words, else the ladder. */
static void try_sweep(const wfi_observation *o, wfi_advice *out, const char *const *words)
{
    for (; *words; words++)
        for (uint32_t i = 0; o->variant && i < o->variant->parameter_count; i++) {
            const char *name = o->variant->parameters[i].name;
            if (strncmp(name, *words, strlen(*words)) != 0)
                continue;
            snprintf(out->command, sizeof out->command,
                     "wavefit sweep %s %s --variant %s --over %s", o->family, o->arguments,
                     o->variant->name, strcmp(*words, "local_") == 0 ? "work-group" : name);
            return;
        }
    snprintf(out->command, sizeof out->command, "wavefit ladder %s %s", o->family, o->arguments);
}

static bool forced_choice(const wfi_observation *o, wfi_advice *out)
{
    if (!o->forced || !(o->chosen_us > 0) || o->time_us < o->chosen_us * SLOWER_CHOICE)
        return false;
    char chosen[32];
    wfi_format_time(o->chosen_us, chosen, sizeof chosen);
    out->gain = o->time_us / o->chosen_us;
    say(out, "What was forced is slower than wavefit's own choice (%s): leave the choice to it.",
        chosen);
    snprintf(out->command, sizeof out->command, "wavefit explain %s %s", o->family, o->arguments);
    return true;
}

static bool transfers(const wfi_observation *o, wfi_advice *out)
{
    const double moving = o->upload_us + o->download_us;
    const double all = moving + o->submit_us + o->time_us;
    if (!(moving > TRANSFER_FRACTION * all))
        return false;
    out->gain = all / (all - moving);
    say(out,
        "A call that brings its data and fetches the result spends %.0f %% of its time moving "
        "them: keep data on the device between calls.",
        moving / all * 100);
    snprintf(out->command, sizeof out->command, "wavefit peaks --only upload,download");
    return true;
}

static bool submissions(const wfi_observation *o, wfi_advice *out)
{
    if (!(o->submit_us > o->time_us))
        return false;
    char submit[32], work[32];
    wfi_format_time(o->submit_us, submit, sizeof submit);
    wfi_format_time(o->time_us, work, sizeof work);
    out->gain = (o->submit_us + o->time_us) / o->time_us;
    say(out,
        "Submitting and waiting (%s) takes longer than the work (%s): record several executions in "
        "one command buffer (wf_plan_record), or make the problem larger.",
        submit, work);
    snprintf(out->command, sizeof out->command, "wavefit peaks --only submit,dispatch,barrier");
    return true;
}

static bool dispatches(const wfi_observation *o, wfi_advice *out)
{
    const double lost = o->dispatches > 1 ? (o->dispatches - 1) * o->barrier_us : 0;
    if (!(lost > DISPATCH_FRACTION * o->time_us) || lost >= o->time_us)
        return false;
    out->gain = o->time_us / (o->time_us - lost);
    say(out, "%u dispatches wait for one another; the waits alone take %.0f %% of the time.",
        o->dispatches, lost / o->time_us * 100);
    snprintf(out->command, sizeof out->command, "wavefit ladder %s %s", o->family, o->arguments);
    return true;
}

static bool few_groups(const wfi_observation *o, wfi_advice *out)
{
    static const char *const words[] = {"tile_m", "march", "local_", "tile_", NULL};
    const double groups = (double)o->kernel.groups;
    if (!(groups > 0) || groups >= o->compute_units || headroom(o) < HEADROOM)
        return false;
    out->gain = fmin(o->compute_units / groups, headroom(o));
    say(out,
        "%.0f work-groups leave %.0f of %u compute units without work: smaller tiles or "
        "work-groups make more of them.",
        groups, o->compute_units - groups, o->compute_units);
    try_sweep(o, out, words);
    return true;
}

bool wfi_waves(const wfi_observation *o, double *waves, double *efficiency)
{
    const uint32_t counted =
        o->has_occupancy && o->occupancy.counted_units ? o->occupancy.counted_units : 1;
    const double at_once =
        o->has_occupancy ? (double)o->compute_units / counted * o->occupancy.groups : 0;
    if (!(at_once > 0) || o->kernel.groups == 0)
        return false;
    *waves = (double)o->kernel.groups / at_once;
    *efficiency = *waves / ceil(*waves);
    return true;
}

static bool tail(const wfi_observation *o, wfi_advice *out)
{
    static const char *const words[] = {"tile_m", "march", "local_", "tile_", NULL};
    double waves, efficiency;
    if (!wfi_waves(o, &waves, &efficiency) || waves < 1 || efficiency >= FULL_WAVES ||
        headroom(o) < HEADROOM)
        return false;
    out->gain = fmin(1 / efficiency, headroom(o));
    say(out,
        "The work-groups come in %.2f waves: the last one fills %.0f %% of the device. Other tiles "
        "or work-groups end more evenly.",
        waves, (waves - floor(waves)) * 100);
    try_sweep(o, out, words);
    return true;
}

/* Low occupancy for the reason given, where the floor is far. */
static bool held_down_by(const wfi_observation *o, const char *limit, double below)
{
    return o->has_occupancy && o->occupancy.fraction < below && headroom(o) >= HEADROOM &&
           strcmp(o->occupancy.limited_by, limit) == 0;
}

static bool registers(const wfi_observation *o, wfi_advice *out)
{
    static const char *const words[] = {"thread_", "steps", "loads", "tile_", NULL};
    if (!held_down_by(o, "registers", LOW_OCCUPANCY))
        return false;
    out->gain = fmin(headroom(o), sqrt(1 / o->occupancy.fraction));
    say(out,
        "%u registers a work-item leave room for %u of %u subgroups a compute unit: less work a "
        "work-item may hide latency better (or worse: registers are what makes tiles fast).",
        o->kernel.registers, o->occupancy.subgroups, o->occupancy.most_subgroups);
    try_sweep(o, out, words);
    return true;
}

static bool shared_memory(const wfi_observation *o, wfi_advice *out)
{
    static const char *const words[] = {"tile_k", "tile_", "march", "steps", NULL};
    if (!held_down_by(o, "shared memory", LOW_OCCUPANCY))
        return false;
    out->gain = fmin(headroom(o), sqrt(1 / o->occupancy.fraction));
    say(out,
        "%llu bytes of shared memory a work-group leave room for %u of %u subgroups a compute "
        "unit: a smaller tile lets more run.",
        (unsigned long long)o->kernel.shared_bytes, o->occupancy.subgroups,
        o->occupancy.most_subgroups);
    try_sweep(o, out, words);
    return true;
}

static bool group_size(const wfi_observation *o, wfi_advice *out)
{
    static const char *const words[] = {"local_", "tile_", NULL};
    if (!held_down_by(o, "work-groups a unit", GROUP_OCCUPANCY) &&
        !held_down_by(o, "work-group size", GROUP_OCCUPANCY))
        return false;
    out->gain = fmin(headroom(o), 1 / o->occupancy.fraction);
    say(out,
        "Work-groups of %u work-items fill %.0f %% of a compute unit, limited by %s: another "
        "work-group size keeps more subgroups busy.",
        items_of(o), o->occupancy.fraction * 100, o->occupancy.limited_by);
    try_sweep(o, out, words);
    return true;
}

static bool spills(const wfi_observation *o, wfi_advice *out)
{
    static const char *const words[] = {"thread_", "steps", "loads", "tile_", NULL};
    if (o->kernel.spilled == 0)
        return false;
    out->gain = fmax(1, fmin(headroom(o), 2));
    say(out,
        "The compiler keeps %u registers of each work-item in memory: less work a work-item "
        "avoids that.",
        o->kernel.spilled);
    try_sweep(o, out, words);
    return true;
}

static bool idle_lanes(const wfi_observation *o, wfi_advice *out)
{
    static const char *const words[] = {"local_", "tile_", NULL};
    const uint32_t items = items_of(o), lanes = o->kernel.subgroup_size;
    if (lanes < 2 || items % lanes == 0)
        return false;
    const uint32_t whole = (items + lanes - 1) / lanes * lanes;
    out->gain = (double)whole / items;
    say(out,
        "Work-groups of %u work-items are no multiple of the subgroup of %u: %u lanes of each "
        "group idle.",
        items, lanes, whole - items);
    try_sweep(o, out, words);
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

/* How a star or box stencil could move fewer bytes; NULL: no way is known. */
static const char *fewer_stencil_bytes(const wfi_observation *o, wfi_advice *out)
{
    out->gain = 2;
    if (!o->box && strcmp(o->variant->name, "time") != 0) {
        snprintf(out->command, sizeof out->command, "wavefit explain stencil %s%s --variant time",
                 o->arguments, o->steps > 1 ? "" : " --steps 4");
        return "several steps a pass";
    }
    if (o->type == WF_TYPE_F16)
        return NULL;
    try_type(o, out, o->type == WF_TYPE_F64 ? "f32" : "f16");
    return o->type == WF_TYPE_F64 ? "f32 where it is precise enough"
                                  : "f16 where it is precise enough";
}

/* At the floor of memory only fewer bytes help; each family has a way to read fewer. */
static bool memory_floor(const wfi_observation *o, wfi_advice *out)
{
    const char *how = NULL;
    if (!o->memory_bound || !(o->floor_us > 0) || o->time_us > o->floor_us * NEAR_FLOOR)
        return false;
    if (strcmp(o->family, "himeno") == 0 && o->variant && strcmp(o->variant->name, "time") != 0) {
        how = "several iterations a pass";
        out->gain = 2;
        snprintf(out->command, sizeof out->command, "wavefit explain himeno %s --variant time",
                 o->arguments);
    } else if (strcmp(o->family, "spmv") == 0 && o->type == WF_TYPE_F64) {
        how = "f32 where it is precise enough";
        out->gain = 12.0 / 8.0; /* bytes an entry with its index */
        try_type(o, out, "f32");
    } else if (strcmp(o->family, "stencil") == 0 && o->variant) {
        how = fewer_stencil_bytes(o, out);
    }
    if (how)
        say(out,
            "The kernel moves its bytes as fast as memory can: only fewer bytes make it faster "
            "(%s).",
            how);
    return how != NULL;
}

static bool slow_f64(const wfi_observation *o, wfi_advice *out)
{
    if (o->type != WF_TYPE_F64 || o->memory_bound || !(o->fma > 0) ||
        !(o->fma_f32 > SLOW_F64 * o->fma))
        return false;
    out->gain = o->fma_f32 / o->fma;
    say(out,
        "This device does f64 at a %.0fth of its f32 rate: use f32 where it is precise enough.",
        out->gain);
    snprintf(out->command, sizeof out->command, "wavefit peaks --only fma_f32,fma_f64");
    return true;
}

static bool matrix_units(const wfi_observation *o, wfi_advice *out)
{
    if (strcmp(o->family, "matmul") != 0 || o->type != WF_TYPE_F32 || o->memory_bound ||
        !(o->matrix_f16 > MATRIX_GAIN * o->fma_f32))
        return false;
    out->gain = o->matrix_f16 / o->fma_f32;
    say(out,
        "Its matrix units multiply f16 %.0f times as fast as f32 is: use f16 inputs where they are "
        "precise enough.",
        out->gain);
    snprintf(out->command, sizeof out->command, "wavefit matmul %s --type f16", o->arguments);
    return true;
}

/* Whether `wavefit tune` can search the problem: it has no option for matrices that are made,
 * nor for other shapes and borders. */
static bool can_tune(const wfi_observation *o)
{
    const char *a = o->arguments;
    if (strcmp(o->family, "spmv") == 0)
        return strchr(a, '/') || (strchr(a, '.') && !strchr(a, ':'));
    return strcmp(o->family, "stencil") != 0 ||
           (!strstr(a, " --shape ") && !strstr(a, " --border "));
}

static bool untuned(const wfi_observation *o, wfi_advice *out)
{
    if (o->forced || !o->chosen_by || strcmp(o->chosen_by, "tuned") == 0 ||
        headroom(o) <= FAR_FROM_FLOOR)
        return false;
    out->gain = SEARCH_GAIN;
    say(out,
        "It takes %.3g times as long as the measured ceilings allow, and its variant and constants "
        "were not measured on this device (%s): %s may find better ones.",
        headroom(o), o->chosen_by, can_tune(o) ? "a search" : "the other variants");
    snprintf(out->command, sizeof out->command, "wavefit %s %s %s", can_tune(o) ? "tune" : "ladder",
             o->family, o->arguments);
    return true;
}

static const rule rules[] = {
    {"forced", forced_choice},  {"transfers", transfers},       {"submissions", submissions},
    {"dispatches", dispatches}, {"few-groups", few_groups},     {"tail", tail},
    {"registers", registers},   {"shared", shared_memory},      {"group-size", group_size},
    {"spills", spills},         {"idle-lanes", idle_lanes},     {"memory-floor", memory_floor},
    {"slow-f64", slow_f64},     {"matrix-units", matrix_units}, {"untuned", untuned},
};

static int by_gain(const void *a, const void *b)
{
    const double x = ((const wfi_advice *)a)->gain, y = ((const wfi_advice *)b)->gain;
    return (x < y) - (x > y);
}

uint32_t wfi_advise(const wfi_observation *o, wfi_advice advice[WFI_MAX_ADVICE])
{
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules && count < WFI_MAX_ADVICE; i++) {
        wfi_advice *out = &advice[count];
        *out = (wfi_advice){.rule = rules[i].name};
        count += rules[i].look(o, out);
    }
    qsort(advice, count, sizeof *advice, by_gain);
    return count;
}
