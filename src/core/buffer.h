/* Buffers: device-local with staging, or mapped where memory is unified. */
#ifndef WFI_CORE_BUFFER_H
#define WFI_CORE_BUFFER_H

#include "core/doom.h"
#include "core/memory.h"

struct wf_buffer {
    wfi_object object;
    wfi_doom doom;
    wf_device *device;
    VkBuffer vk;
    wfi_memory memory;
    uint64_t bytes;
    uint64_t number;       /* from 1; no other buffer of the device ever has it, as handles may */
    void *mapped;          /* NULL when not host-visible; always coherent */
    unsigned char *window; /* where the host may write, but should not read; NULL: nowhere */
    bool exportable;       /* of wf_buffer_create_exportable */
};

/* Makes the VkBuffer of a new wf_buffer, which gets its memory from the caller. `extent`: bytes of
 * the VkBuffer; 0: those of the wf_buffer. `handles`: kinds of external memory that it can be bound
 * to; 0: none. After a failure *out is NULL. */
wf_result wfi_buffer_open(wf_device *device, uint64_t bytes, uint64_t extent,
                          VkExternalMemoryHandleTypeFlags handles, wf_buffer **out);
/* What buffers are used for. */
VkBufferUsageFlags wfi_buffer_usage(const wf_device *device);

#endif
