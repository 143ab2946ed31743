/* What the rules know of each family: a row each. */
#include <string.h>

#include "model/advice_rules.h"

static const char *const none[] = {NULL};
static const char *const shapes[] = {" --shape ", " --border ", NULL};

/* The last is of families that have no row. */
static const wfi_advice_family families[] = {
    {
        .name = "himeno",
        .not_tuned = none,
        .pass_variant = "time",
        .pass = "several iterations a pass",
        .pass_options = "",
    },
    {
        .name = "spmv",
        .not_tuned = none,
        .narrower = {[WF_TYPE_F64] = "f32"},
        .narrower_gain = 12.0 / 8.0, /* bytes of an entry with its index */
    },
    {
        .name = "matmul",
        .not_tuned = none,
        .no_conflicts = "register",
        .matrix_units = true,
    },
    {
        .name = "stencil",
        .not_tuned = shapes,
        .pass_variant = "time",
        .pass = "several steps a pass",
        .pass_options = " --steps 4",
        .narrower = {[WF_TYPE_F64] = "f32", [WF_TYPE_F32] = "f16"},
        .narrower_gain = 2,
    },
    {.not_tuned = none},
};

const wfi_advice_family *wfi_advice_family_of(const wfi_observation *o)
{
    const wfi_advice_family *family = families;
    while (family->name && strcmp(family->name, o->family) != 0)
        family++;
    return family;
}
