#include "tool/cases/families.h"

#include <stdio.h>
#include <string.h>

#define ROW(name) &wfi_tool_##name##_family,
const wfi_tool_family *const wfi_tool_families[WFI_TOOL_FAMILY_COUNT] = {WFI_TOOL_FAMILIES(ROW)};
#undef ROW

const wfi_tool_family *wfi_tool_family_of(wf_family family)
{
    for (int i = 0; i < WFI_TOOL_FAMILY_COUNT; i++)
        if (wfi_tool_families[i]->family == family)
            return wfi_tool_families[i];
    return NULL;
}

void wfi_family_names(const char *between, char *text, size_t bytes)
{
    *text = '\0';
    for (int i = 0; i < WFI_TOOL_FAMILY_COUNT; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, bytes - used, "%s%s", used ? between : "",
                 wf_family_name(wfi_tool_families[i]->family));
    }
}

int wfi_parse_family(const char *what, const char *name, wf_family *family)
{
    char names[128];
    for (int i = 0; i < WFI_TOOL_FAMILY_COUNT; i++)
        if (strcmp(name, wf_family_name(wfi_tool_families[i]->family)) == 0) {
            *family = wfi_tool_families[i]->family;
            return WFI_EXIT_DONE;
        }
    wfi_family_names(", ", names, sizeof names);
    if (strcmp(name, "grid") == 0)
        return wfi_usage_error("%s: 'grid' is now 'stencil' (and what was 'stencil' is 'himeno')",
                               what);
    return wfi_usage_error("%s: '%s' is not a family (%s)", what, name, names);
}
