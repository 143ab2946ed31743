/* Allocations of device memory that small buffers share. */
#ifndef WFI_CORE_CHUNK_H
#define WFI_CORE_CHUNK_H

#include "core/device.h"

#define WFI_CHUNK_BYTES (UINT64_C(1) << 20)
#define WFI_CHUNK_MOST (UINT64_C(64) << 10) /* of one buffer in it */

typedef struct wfi_chunk wfi_chunk;

/* Takes memory for the requirements from a chunk of block->type, mapped if `mapped`, and fills the
 * rest of *block. NULL: it is too large, or there is no chunk and none could be made within the
 * memory budget. */
wfi_chunk *wfi_chunk_take(wf_device *device, const VkMemoryRequirements *requirements, bool mapped,
                          wf_memory_block *block);
/* Gives the `bytes` that were required back to the chunk; one that is empty then is given up. */
void wfi_chunk_leave(wf_device *device, wfi_chunk *chunk, uint64_t offset, uint64_t bytes);

#endif
