/* Sorting of samples. */
#ifndef WFI_TOOL_CLI_SORT_H
#define WFI_TOOL_CLI_SORT_H

#include <stddef.h>

/* Ascending; no value may be NaN. */
void wfi_sort(double *values, size_t count);

#endif
