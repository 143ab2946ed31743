/* Rules of advice, and what they share. A rule returns whether it applies; *out then says what it
 * saw, why that costs time, the most that can be gained, and a command to try. */
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

/* What rules know of a family: a row in advice_families.c. */
typedef struct wfi_advice_family {
    const char *name;
    const char *const *not_tuned; /* options of problems that `wavefit tune` cannot search */
    const char *no_conflicts;     /* the variant without conflicts of banks; NULL: values decide */
    const char *pass_variant;     /* several steps in one pass over memory; NULL: there is none */
    const char *pass;             /* what it does, in words */
    const char *pass_options;     /* that it needs where the problem has one step */
    const char *narrower[WF_TYPE_COUNT]; /* the type of fewer bytes, of each; NULL: none */
    double narrower_gain;                /* bytes over those of the narrower type */
    bool matrix_units;                   /* a variant multiplies f16 on them */
} wfi_advice_family;

/* The row of the observed family; an empty one where it has none. */
const wfi_advice_family *wfi_advice_family_of(const wfi_observation *o);

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
