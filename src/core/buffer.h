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
};

#endif
