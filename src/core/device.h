/* The device object: one loader, instance, VkDevice and queue; no process-wide state. */
#ifndef WFI_CORE_DEVICE_H
#define WFI_CORE_DEVICE_H

#include <threads.h>

#include "core/instance.h"
#include "core/log.h"
#include "core/pipeline_cache.h"
#include "core/volk.h"
#include "wavefit/wavefit.h"

struct wf_device {
    wfi_log log;
    wfi_instance instance; /* loader, VkInstance and its functions */
    VkPhysicalDevice physical;
    VkDevice vk;
    struct VolkDeviceTable fn;              /* device functions */
    const VkAllocationCallbacks *allocator; /* NULL or &allocator_storage */
    VkAllocationCallbacks allocator_storage;
    wf_caps offered; /* clamped */
    wf_caps caps;    /* what is offered, less what driver faults take away (quirks.h) */
    VkPhysicalDeviceMemoryProperties memory;

    VkQueue queue;
    uint32_t queue_family;
    bool locks_made;
    mtx_t queue_lock;     /* queue, command pool, fence and queries */
    bool submission_made; /* the three below, at the first submission */
    VkCommandPool command_pool;
    VkFence fence;
    VkQueryPool queries; /* 2 timestamps; none where the queue has no timestamps */

    wfi_pipeline_cache cache;
    mtx_t peaks_lock;
    double copy_bandwidth;          /* bytes a second; 0: not measured yet */
    double fma_rate[WF_TYPE_COUNT]; /* flops a second; 0: not measured yet */
};

#endif
