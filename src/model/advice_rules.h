/* The rules by what they look at, and what they share. A rule returns whether it speaks; then *out
 * says what it saw and why that costs, the most that there is to gain, and a command. */
#ifndef WFI_MODEL_ADVICE_RULES_H
#define WFI_MODEL_ADVICE_RULES_H

#include "model/advice.h"

/* Time over the floor, from which a faster kernel is worth looking for. */
#define WFI_HEADROOM 1.25

typedef bool wfi_rule_look(const wfi_observation *o, wfi_advice *out);

typedef struct wfi_rule {
    const char *name;
    wfi_rule_look *look;
} wfi_rule;

/* Each ended by one without a name. */
extern const wfi_rule wfi_lane_rules[];   /* advice_lanes.c: how lanes reach memory */
extern const wfi_rule wfi_unit_rules[];   /* advice_units.c: how full compute units are */
extern const wfi_rule wfi_memory_rules[]; /* advice_memory.c: bytes, and arithmetic of the type */

void wfi_say(wfi_advice *out, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/* Time over the floor; infinite where nothing was measured. */
double wfi_headroom(const wfi_observation *o);
/* Names a sweep over the first parameter whose name begins with one of the words, else the ladder.
 * The words end with NULL. */
void wfi_try_sweep(const wfi_observation *o, wfi_advice *out, const char *const *words);
/* Names the explanation of another variant on the same problem. */
void wfi_try_variant(const wfi_observation *o, wfi_advice *out, const char *variant);

#endif
