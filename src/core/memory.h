/* Device memory of buffers: the driver's, or what the application's allocator gives. */
#ifndef WFI_CORE_MEMORY_H
#define WFI_CORE_MEMORY_H

#include "core/chunk.h"

/* A further wf_memory: mapped, and on the device's side where that can be had. */
#define WFI_MEMORY_MAPPED ((wf_memory)3)

typedef struct wfi_memory {
    wf_memory_block block; /* mapped: NULL unless it is coherent too */
    bool lent;             /* by the application's allocator */
    wfi_chunk *chunk;      /* that the block is part of; NULL: it is an allocation of its own */
    bool kept;             /* an allocation that may serve others when it is given up */
    uint64_t bytes;        /* of the chunk that were required; of an allocation all */
    VkBuffer buffer;       /* that the allocation is dedicated to, and that goes with it */
    uint64_t extent;       /* bytes of that buffer; 0: there is none */
} wfi_memory;

/* Allocates memory of the kind for the buffer, binds it and maps it where it can be mapped: device
 * memory only where the device's memory is the host's. extent: of wfi_block_extent; where it is not
 * 0, out->buffer may be another buffer of about its size, which is bound already and is to take the
 * place of this one. Errors: WF_ERROR_OUT_OF_DEVICE_MEMORY (beyond the budget, too),
 * WF_ERROR_INVALID_ARGUMENT (the application gave what was not asked for). */
wf_result wfi_memory_allocate(wf_device *device, VkBuffer buffer, uint64_t extent, wf_memory kind,
                              wfi_memory *out);
/* The memory type among `allowed` that memory of the kind has; UINT32_MAX: none. *mapped: whether
 * it is to be mapped. */
uint32_t wfi_memory_type(const wf_device *device, wf_memory kind, uint32_t allowed, bool *mapped);
/* How many bytes buffers of the kind can still have, as far as the driver tells. */
uint64_t wfi_memory_left(const wf_device *device, wf_memory kind);
/* With it goes the buffer that it is dedicated to. Accepts zeroed memory. Where the device may
 * still be at work (wf_device.keeps), it frees nothing. */
void wfi_memory_free(wf_device *device, wfi_memory *memory);

#endif
