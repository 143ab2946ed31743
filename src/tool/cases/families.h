/* The families that commands work on, by their names on the command line. */
#ifndef WFI_TOOL_CASES_FAMILIES_H
#define WFI_TOOL_CASES_FAMILIES_H

#include "tool/cli/options.h"

#define WFI_FAMILY_NAMES "himeno, spmv, matmul, stencil"

/* The family of that name. On another name prints one line, which begins with `what`, and returns
 * WFI_EXIT_USAGE. */
int wfi_parse_family(const char *what, const char *name, wf_family *family);

#endif
