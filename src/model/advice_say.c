/* What rules share: how they say something, and commands that try it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/advice_rules.h"

void wfi_say(wfi_advice *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out->text, sizeof out->text, format, args);
    va_end(args);
}

double wfi_headroom(const wfi_observation *o)
{
    if (o->target)
        return (double)INFINITY;
    return o->floor_us > 0 && o->time_us > o->floor_us ? o->time_us / o->floor_us : 1;
}

/* Ends a command with --target where the observation is of a device that is not there. */
static void add_target(const wfi_observation *o, wfi_advice *out)
{
    const size_t used = strlen(out->command);
    if (o->target)
        snprintf(out->command + used, sizeof out->command - used, " --target %s", o->target);
}

void wfi_try_sweep(const wfi_observation *o, wfi_advice *out, const char *const *words)
{
    for (; *words; words++)
        for (uint32_t i = 0; o->variant && i < o->variant->parameter_count; i++) {
            const char *name = o->variant->parameters[i].name;
            if (strncmp(name, *words, strlen(*words)) != 0)
                continue;
            snprintf(out->command, sizeof out->command,
                     "wavefit sweep %s %s --variant %s --over %s", o->family, o->arguments,
                     o->variant->name, strcmp(*words, "local_") == 0 ? "work-group" : name);
            add_target(o, out);
            return;
        }
    snprintf(out->command, sizeof out->command, "wavefit ladder %s %s", o->family, o->arguments);
    add_target(o, out);
}

void wfi_try_variant(const wfi_observation *o, wfi_advice *out, const char *variant)
{
    snprintf(out->command, sizeof out->command, "wavefit explain %s %s --variant %s", o->family,
             o->arguments, variant);
    add_target(o, out);
}
