/* Grids of the Himeno benchmark, as the user names them. */
#ifndef WFI_TOOL_CASES_HIMENO_SIZE_H
#define WFI_TOOL_CASES_HIMENO_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#define WFI_HIMENO_MOST_EXTENT 65536u

/* Reads "XS" to "XL" or "IxJxK", cells with borders, each axis at least 3. False: one line was
 * printed. */
bool wfi_parse_himeno_size(const char *option, const char *text, uint64_t extent[3]);

#endif
