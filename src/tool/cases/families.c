#include "tool/cases/families.h"

#include <string.h>

static const wf_family families[] = {WF_FAMILY_HIMENO, WF_FAMILY_SPMV, WF_FAMILY_MATMUL,
                                     WF_FAMILY_STENCIL};

int wfi_parse_family(const char *what, const char *name, wf_family *family)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(name, wf_family_name(families[i])) == 0) {
            *family = families[i];
            return WFI_EXIT_DONE;
        }
    if (strcmp(name, "grid") == 0)
        return wfi_usage_error("%s: 'grid' is now 'stencil' (and what was 'stencil' is 'himeno')",
                               what);
    return wfi_usage_error("%s: '%s' is not a family (" WFI_FAMILY_NAMES ")", what, name);
}
