/* Buffers: device-local with staging, or mapped where memory is unified. */
#ifndef WFI_CORE_BUFFER_H
#define WFI_CORE_BUFFER_H

#include "core/device.h"

struct wf_buffer {
    wfi_object object;
    wf_device *device;
    VkBuffer vk;
    VkDeviceMemory memory;
    uint64_t bytes;
    void *mapped; /* NULL when not host-visible; always coherent */
};

/* For wf_buffer_create: mapped, and on the device's side where that can be had. */
#define WFI_MEMORY_MAPPED ((wf_memory)3)

#endif
