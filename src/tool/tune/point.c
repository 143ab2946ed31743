#include "tool/tune/worker.h"

#include <stdio.h>

void wfi_tuned_point_text(const wfi_tuned_point *point, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "%s", point->variant);
    for (uint32_t i = 0; i < point->count && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, " %s=%u", point->names[i],
                                 point->values[i]);
}

wfi_tuned_point wfi_tuned_point_of(const wf_plan_info *plan, double us)
{
    wfi_tuned_point point = {.us = us, .count = plan->constant_count};
    snprintf(point.variant, sizeof point.variant, "%s", plan->variant ? plan->variant : "");
    snprintf(point.by, sizeof point.by, "%s", plan->chosen_by ? plan->chosen_by : "");
    for (uint32_t i = 0; i < plan->constant_count; i++) {
        snprintf(point.names[i], sizeof point.names[i], "%s", plan->constants[i].name);
        point.values[i] = plan->constants[i].value;
    }
    return point;
}
