/* Allocations of device memory, and those that nothing uses any more: a card's driver takes
 * milliseconds to give or take a large one, so that some are kept for what comes next. */
#ifndef WFI_CORE_BLOCK_H
#define WFI_CORE_BLOCK_H

#include "core/device.h"

/* Whether large buffers have dedicated allocations: on cards, where the driver gives the memory. */
bool wfi_blocks_are_dedicated(const wf_device *device);
/* Sets how much of each heap is kept; device->memory is known. */
void wfi_blocks_keep(wf_device *device);
/* Bytes of the VkBuffer for so many, where its allocation is to be dedicated to it: whole pages, so
 * that sizes recur; 0: the buffer shares memory, or takes what any buffer can be bound to. */
uint64_t wfi_block_extent(const wf_device *device, uint64_t bytes);
/* Takes one that is kept: of wanted's type, of at least its bytes and little more, mapped or not;
 * where it has an extent, one that is bound to a buffer of at least that and little more. */
bool wfi_block_take(wf_device *device, const wfi_block *wanted, bool mapped, wfi_block *out);
/* Allocates wanted's bytes or a few more, dedicated to its buffer if it has one, and maps them if
 * `mapped`; where the driver has no more memory, what is kept is freed first. After a failure
 * nothing is left allocated. */
VkResult wfi_block_allocate(wf_device *device, const wfi_block *wanted, bool mapped,
                            wfi_block *out);
/* Maps all of an allocation; *at is NULL after a failure. */
VkResult wfi_block_map(wf_device *device, VkDeviceMemory memory, void **at);
/* Keeps the block, or frees it and its buffer where it would be too much. Accepts a zeroed one. */
void wfi_block_leave(wf_device *device, const wfi_block *block);
/* Frees what is kept, and returns how many there were. */
uint32_t wfi_blocks_free(wf_device *device);
/* Bytes of the heap that are kept. */
uint64_t wfi_blocks_kept(const wf_device *device, uint32_t heap);

#endif
