#include "tool/cases/families.h"

#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"

#define ROW(name) &wfi_tool_##name##_family,
static const wfi_tool_family *const families[] = {WFI_TOOL_FAMILIES(ROW)};
#undef ROW
enum { FAMILIES = WFI_COUNT(families) };

const wfi_tool_family *wfi_tool_family_of(wf_family family)
{
    for (int i = 0; i < FAMILIES; i++)
        if (families[i]->family == family)
            return families[i];
    return NULL;
}

int wfi_parse_family(const char *what, const char *name, wf_family *family)
{
    char names[128] = "";
    for (int i = 0; i < FAMILIES; i++) {
        const char *own = wf_family_name(families[i]->family);
        const size_t used = strlen(names);
        if (strcmp(name, own) == 0) {
            *family = families[i]->family;
            return WFI_EXIT_DONE;
        }
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", own);
    }
    if (strcmp(name, "grid") == 0)
        return wfi_usage_error("%s: 'grid' is now 'stencil' (and what was 'stencil' is 'himeno')",
                               what);
    return wfi_usage_error("%s: '%s' is not a family (%s)", what, name, names);
}
