#include "plan/hooks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plan/object.h"

void wfi_key_add(wfi_key *key, const char *name, int32_t value)
{
    wfi_class *class = &key->classes[key->count++];
    snprintf(class->name, sizeof class->name, "%s", name);
    class->value = value;
}

void wfi_key_add_size(wfi_key *key, const char *name, double size)
{
    wfi_key_add(key, name, size >= 1 ? (int32_t)lround(2 * log2(size)) : -1);
}

wf_result wfi_describe_extents(const wfi_log *log, const wf_problem *given)
{
    const uint64_t *e = given->extent;
    if (e[0] == 0 || e[1] == 0 || e[2] == 0 || (unsigned)given->type >= WF_TYPE_COUNT)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT, "wf_kernel_compile: an empty problem");
    return WF_SUCCESS;
}

bool wfi_read_extents(const char *text, uint64_t extents[3])
{
    for (int i = 0; i < 3; i++) {
        char *end;
        extents[i] = strtoull(text, &end, 10);
        if (end == text || *end != (i < 2 ? 'x' : '\0') || extents[i] == 0 ||
            extents[i] > INT32_MAX)
            return false;
        text = end + 1;
    }
    return true;
}

wf_result wfi_plan_build(wf_plan *plan, const void *params)
{
    const wfi_point *point = &plan->choice.point;
    const wfi_family_hooks *hooks = plan->choice.family->hooks;
    const wf_result result = point->variant->build(plan, point, params);
    return result == WF_SUCCESS && hooks && hooks->finish ? hooks->finish(plan, point, params)
                                                          : result;
}
