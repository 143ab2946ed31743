/* Device memory: the type for a purpose, and allocations, of which small ones share blocks. */
#ifndef WFI_CORE_MEMORY_H
#define WFI_CORE_MEMORY_H

#include "core/device.h"

/* For wf_buffer_create: mapped, and on the device's side where that can be had. */
#define WFI_MEMORY_MAPPED ((wf_memory)3)

/* What is at most this large shares blocks of WFI_BLOCK_BYTES with others of its memory type. */
#define WFI_BLOCK_MOST (UINT64_C(64) << 10)
#define WFI_BLOCK_BYTES (UINT64_C(1) << 20)

typedef struct wfi_block wfi_block;

typedef struct wfi_memory {
    VkDeviceMemory vk; /* VK_NULL_HANDLE: there is none */
    uint64_t offset, bytes;
    unsigned char *mapped; /* the host's address of `offset`; NULL: not mapped, or not coherent */
    wfi_block *block;      /* NULL: the allocation is its own */
} wfi_memory;

/* The memory type among the bits `allowed` that suits the purpose; UINT32_MAX: there is none. */
uint32_t wfi_memory_type(const wf_device *device, uint32_t allowed, wf_memory kind);

/* Takes memory of a type as `needs` asks, mapped if `map`. WF_ERROR_OUT_OF_DEVICE_MEMORY also where
 * the driver's budget does not leave as much. */
wf_result wfi_memory_take(wf_device *device, const VkMemoryRequirements *needs, uint32_t type,
                          bool map, wfi_memory *out);
/* Gives it back; the block that it was the last of goes too. Accepts what was never taken. */
void wfi_memory_give_back(wf_device *device, wfi_memory *memory);

#endif
