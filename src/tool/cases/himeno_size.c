#include "tool/cases/himeno_size.h"

#include <string.h>

#include "core/arithmetic.h"
#include "tool/cli/options.h"

/* The official grids; the program allocates each axis one larger and does not use it. */
static const struct {
    const char *name;
    uint64_t extent[3];
} sizes[] = {{"XS", {64, 32, 32}},
             {"S", {128, 64, 64}},
             {"M", {256, 128, 128}},
             {"L", {512, 256, 256}},
             {"XL", {1024, 512, 512}}};

bool wfi_parse_himeno_size(const char *option, const char *text, uint64_t extent[3])
{
    for (size_t i = 0; i < WFI_COUNT(sizes); i++)
        if (strcmp(text, sizes[i].name) == 0) {
            memcpy(extent, sizes[i].extent, sizeof sizes[i].extent);
            return true;
        }
    if (strcspn(text, "0123456789") > 1 || !strchr(text, 'x')) { /* no number */
        wfi_usage_error("%s: '%s' is not XS, S, M, L, XL or IxJxK", option, text);
        return false;
    }
    if (!wfi_parse_triple(option, text, WFI_HIMENO_MOST_EXTENT, extent))
        return false;
    if (extent[0] >= 3 && extent[1] >= 3 && extent[2] >= 3)
        return true;
    wfi_usage_error("%s: '%s' has no inner cells; each axis needs at least 3", option, text);
    return false;
}
