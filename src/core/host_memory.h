/* Memory of the application's that the device reads and writes itself. */
#ifndef WFI_CORE_HOST_MEMORY_H
#define WFI_CORE_HOST_MEMORY_H

#include "core/buffer.h"

struct wf_host_memory {
    wfi_object object;
    wf_device *device;
    wf_host_memory *next; /* of wfi_staging.imported */
    unsigned char *begin; /* the part that is imported: whole units of the alignment */
    uint64_t bytes;
    VkBuffer vk;
    VkDeviceMemory memory;
};

/* The imported memory that has part of [at, at + bytes), and that part; NULL: none has. The caller
 * holds the staging's lock. */
const wf_host_memory *wfi_host_memory_find(const wf_device *device, const unsigned char *at,
                                           uint64_t bytes, uint64_t *first, uint64_t *end);

/* Whether most of [at, at + bytes) is in imported memory. */
bool wfi_host_memory_has(wf_device *device, const void *at, uint64_t bytes);

/* What the driver can do with buffers in external memory of the kind. */
VkExternalMemoryFeatureFlags wfi_external_features(const wf_device *device,
                                                   VkBufferUsageFlags usage,
                                                   VkExternalMemoryHandleTypeFlagBits handle);
/* A coherent memory type for both the host's memory at `begin` and the buffer, which requires
 * *required bytes; UINT32_MAX: there is none. */
uint32_t wfi_host_memory_type(const wf_device *device, const void *begin, VkBuffer buffer,
                              uint64_t *required);

#endif
