#include "plan/access.h"

static bool seen_before(const uint64_t *seen, uint32_t count, uint64_t value)
{
    for (uint32_t i = 0; i < count; i++)
        if (seen[i] == value)
            return true;
    return false;
}

void wfi_access_load(wf_access *access, const uint64_t *addresses, uint32_t lanes, uint32_t size)
{
    uint64_t seen[2 * WFI_MOST_LANES];
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < lanes && lane < WFI_MOST_LANES; lane++) {
        const uint64_t first = addresses[lane] / WFI_SECTOR_BYTES,
                       last = (addresses[lane] + size - 1) / WFI_SECTOR_BYTES;
        if (!seen_before(seen, count, first))
            seen[count++] = first;
        if (last != first && !seen_before(seen, count, last))
            seen[count++] = last;
    }
    access->sectors += count;
    const uint32_t least = (lanes * size + WFI_SECTOR_BYTES - 1) / WFI_SECTOR_BYTES;
    access->least_sectors += least;
}

uint32_t wfi_access_passes(const uint32_t *words, uint32_t lanes)
{
    uint64_t seen[WFI_BANKS][WFI_MOST_LANES];
    uint32_t counts[WFI_BANKS] = {0}, most = 0;
    for (uint32_t lane = 0; lane < lanes && lane < WFI_MOST_LANES; lane++) {
        const uint32_t bank = words[lane] % WFI_BANKS;
        if (!seen_before(seen[bank], counts[bank], words[lane]))
            seen[bank][counts[bank]++] = words[lane];
        if (counts[bank] > most)
            most = counts[bank];
    }
    return most;
}

wfi_lane_place wfi_access_place(uint32_t lane, const uint32_t group_size[3])
{
    return (wfi_lane_place){lane % group_size[0], lane / group_size[0] % group_size[1],
                            lane / group_size[0] / group_size[1]};
}
