#include "core/unpack.h"

#include <string.h>

bool wfi_unpack(const uint8_t *packed, size_t packed_bytes, uint8_t *to, size_t begin, size_t end)
{
    wfi_source from = {packed, packed + packed_bytes, false};
    for (size_t at = begin; at < end;) {
        const uint32_t token = wfi_read_byte(&from);
        size_t run = token >> 4;
        if (run == 15)
            run += wfi_read_number(&from);
        if (from.bad || run > (size_t)(from.end - from.at) || run > end - at)
            return false;
        memcpy(to + at, from.at, run);
        from.at += run;
        at += run;
        if (at == end && (token & 15) == 0) /* the last run */
            break;
        const size_t distance = wfi_read_number(&from);
        size_t length = (token & 15) + WFI_UNPACK_LEAST;
        if ((token & 15) == 15)
            length += wfi_read_number(&from);
        if (from.bad || distance == 0 || distance > at || length > end - at)
            return false;
        for (; length > 0; length--, at++) /* a match may reach into itself */
            to[at] = to[at - distance];
    }
    return !from.bad && from.at == from.end;
}
