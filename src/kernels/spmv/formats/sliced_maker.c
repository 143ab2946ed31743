#include "kernels/spmv/formats/sliced_maker.h"

#include "core/heap.h"

bool wfi_sliced_reserve(wfi_sliced_maker *m, uint64_t more)
{
    wfi_sliced *out = m->out;
    if (out->pattern_words + more <= m->pattern_room)
        return true;
    const uint64_t room = (out->pattern_words + more) + (out->pattern_words + more) / 2;
    uint32_t *pattern = wfi_realloc(out->pattern, (size_t)room * sizeof *pattern);
    if (!pattern)
        return false;
    out->pattern = pattern;
    m->pattern_room = room;
    return true;
}
