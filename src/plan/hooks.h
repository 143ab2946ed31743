/* What a family tells those who know no family by name: the keys of tuning data, searches, and
 * compiling for a problem that is described. */
#ifndef WFI_PLAN_HOOKS_H
#define WFI_PLAN_HOOKS_H

#include "core/log.h"
#include "plan/family.h"

#define WFI_MAX_CLASSES 16
#define WFI_CLASS_NAME 16

typedef struct wfi_class {
    char name[WFI_CLASS_NAME]; /* one that begins with '=' is a kind, which must agree */
    int32_t value;             /* sizes: half octaves, so 2 log2(size) rounded */
} wfi_class;

/* What makes two problems alike enough that one's best values suit the other: family, type and
 * classes of size and shape. */
typedef struct wfi_key {
    wf_family family;
    wf_type type;
    uint32_t count;
    wfi_class classes[WFI_MAX_CLASSES];
} wfi_key;

/* Adds a class to the key; a size below 1 has the value -1. */
void wfi_key_add(wfi_key *key, const char *name, int32_t value);
void wfi_key_add_size(wfi_key *key, const char *name, double size);

/* Pipelines that a plan asks for, the first ones where they are more. */
#define WFI_MOST_LISTED 6
typedef struct wfi_pipeline_list {
    uint32_t count; /* up to the most */
    wfi_pipeline_desc items[WFI_MOST_LISTED];
} wfi_pipeline_list;

typedef struct wfi_family_hooks {
    uint64_t sources; /* hash of the family's GLSL without comments and white space */
    /* Relative error of the times that its variants expect; 0: they expect them of the device's
     * rates, and are as wrong as these are. */
    double expect_error;
    /* Adds the problem's classes to the key. */
    void (*classes)(const wfi_problem *problem, wfi_key *key);
    /* The problem in a few characters, "1000x2000x3000". */
    void (*text)(const wfi_problem *problem, char *text, size_t bytes);
    /* The problem with the extents of such a text, and all else as it is; false: the text has none.
     * NULL: rows serve other sizes whatever the model says of them. */
    bool (*resize)(const wfi_problem *problem, const char *text, wfi_problem *out);
    /* Fills the family's part of the problem, whose family and type are there; NULL: a problem of
     * the family cannot be described by sizes. */
    wf_result (*describe)(const wfi_log *log, const wf_problem *given, wfi_problem *out);
    /* Whether the device's bindings and allocations hold the arrays as the point lays them out;
     * NULL: that does not depend on the point. A point that they do not hold is taken only where
     * they hold none, or where the user names its variant. */
    bool (*fits)(const wfi_point *point);
    /* After a variant has built the plan's steps, for each size again: adds what comes before and
     * behind them. NULL: nothing. */
    wf_result (*finish)(wf_plan *plan, const wfi_point *point, const void *params);
    /* The following are of families that are searched. Lists the pipelines that a plan of the
     * choice asks for, as far as they are known before it is made. `params`: the public structure
     * of the family; Himeno's: unused. */
    void (*list)(wf_device *device, const wfi_choice *choice, const void *params,
                 wfi_pipeline_list *out);
    /* The following are of families whose search runs a plan on random inputs; NULL otherwise.
     * `params` is the public structure here, too. */
    /* Takes out of the parameters what takes no time to speak of, but makes outputs be read. */
    void (*simplify)(void *params);
    /* The element type of a binding. */
    wf_type (*element)(wf_type type, uint32_t binding);
    /* Compares as much of the outputs as costs little with the f64 reference. */
    wf_result (*check)(const void *params, void *const *host, uint64_t seed, wf_check *check);
} wfi_family_hooks;

/* For `describe`: WF_SUCCESS where no extent is 0 and the type is known. */
wf_result wfi_describe_extents(const wfi_log *log, const wf_problem *given);
/* The extents of a text like "1000x2000x3000", each from 1 to INT32_MAX; false: it has none. */
bool wfi_read_extents(const char *text, uint64_t extents[3]);

#endif
