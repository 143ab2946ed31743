/* How the lanes of a kernel reach memory, from its algorithm and constants: what decides whether a
 * subgroup's loads are few or many. */
#ifndef WFI_PLAN_ACCESS_H
#define WFI_PLAN_ACCESS_H

#include "wavefit/wavefit.h"

#define WFI_MOST_LANES 128 /* of a subgroup that is looked at */

/* Every device that wavefit knows moves at least so many bytes from cache to registers: NVIDIA's
 * sectors have 32, lines of others 64 or 128. */
#define WFI_SECTOR_BYTES 32
/* Shared memory has 32 banks of 4 bytes on NVIDIA's and AMD's devices, 16 of 4 or 64 on Intel's. */
#define WFI_BANKS 32

/* Adds a load of `lanes` lanes, each of `size` bytes at its address, to sums of sectors touched and
 * of the fewest possible. */
void wfi_access_load(wf_access *access, const uint64_t *addresses, uint32_t lanes, uint32_t size);
/* Passes that the banks take for one word of 4 bytes a lane: the most different words in one. */
uint32_t wfi_access_passes(const uint32_t *words, uint32_t lanes);

/* The lanes of a subgroup in a work-group, which is numbered along x first. */
typedef struct wfi_lane_place {
    uint32_t x, y, z;
} wfi_lane_place;
wfi_lane_place wfi_access_place(uint32_t lane, const uint32_t group_size[3]);

#endif
