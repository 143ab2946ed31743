#include "io/ratios.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static wfi_ratio_group *group_of(wfi_ratios *ratios, const char *family, const char *type)
{
    for (uint32_t i = 0; i < ratios->count; i++)
        if (strcmp(ratios->groups[i].family, family) == 0 &&
            strcmp(ratios->groups[i].type, type) == 0)
            return &ratios->groups[i];
    wfi_ratio_group *group = &ratios->groups[ratios->count];
    if (ratios->count == WFI_MOST_RATIO_GROUPS || strlen(family) >= sizeof group->family ||
        strlen(type) >= sizeof group->type)
        return NULL;
    ratios->count++;
    *group = (wfi_ratio_group){.worst = (double)INFINITY};
    snprintf(group->family, sizeof group->family, "%s", family);
    snprintf(group->type, sizeof group->type, "%s", type);
    return group;
}

void wfi_ratios_add(wfi_ratios *ratios, const char *family, const char *type, double ratio)
{
    wfi_ratio_group *group =
        ratio > 0 && isfinite(ratio) ? group_of(ratios, family, type) : (wfi_ratio_group *)NULL;
    if (!group)
        return;
    group->count++;
    group->under += ratio < 1;
    group->logarithms += log(ratio);
    group->worst = fmin(group->worst, ratio);
    group->best = fmax(group->best, ratio);
}

double wfi_ratios_mean(const wfi_ratio_group *group)
{
    return exp(group->logarithms / group->count);
}

const wfi_ratio_group *wfi_ratios_next(const wfi_ratios *ratios, uint32_t *at)
{
    while (*at < ratios->count) {
        const wfi_ratio_group *group = &ratios->groups[(*at)++];
        if (group->count >= WFI_LEAST_RATIOS)
            return group;
    }
    return NULL;
}

void wfi_ratios_put(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_ratios *ratios)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, object, "groups");
    uint32_t at = 0;
    for (const wfi_ratio_group *group; (group = wfi_ratios_next(ratios, &at)) != NULL;) {
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_strcpy(doc, item, "family", group->family);
        yyjson_mut_obj_add_strcpy(doc, item, "type", group->type);
        yyjson_mut_obj_add_uint(doc, item, "count", group->count);
        yyjson_mut_obj_add_uint(doc, item, "under_1", group->under);
        yyjson_mut_obj_add_real(doc, item, "geometric_mean", wfi_ratios_mean(group));
        yyjson_mut_obj_add_real(doc, item, "worst", group->worst);
        yyjson_mut_obj_add_real(doc, item, "best", group->best);
    }
}
