/* What a physical device can do, in one structure. */
#ifndef WFI_CORE_CAPS_H
#define WFI_CORE_CAPS_H

#include "core/features.h"

wf_result wfi_caps_query(const wfi_instance *instance, const wfi_log *log, VkPhysicalDevice device,
                         const wfi_features *features, wf_caps *out);

/* Lowers caps to what Vulkan 1.1 guarantees; see WF_LIMITS_MINIMUM. */
void wfi_caps_clamp_minimum(wf_caps *caps);

static inline bool wfi_is_cpu(const wf_caps *caps)
{
    return caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
}

/* The queue family that wavefit uses: compute, with timestamps where there is a choice.
 * UINT32_MAX: the device has no compute queue. */
uint32_t wfi_caps_queue_family(const wfi_instance *instance, VkPhysicalDevice device,
                               uint32_t *timestamp_valid_bits);

/* Whether queue family `family` of the device exists and has compute; gives its timestamp bits. */
bool wfi_caps_compute_family(const wfi_instance *instance, VkPhysicalDevice device, uint32_t family,
                             uint32_t *timestamp_valid_bits);

#endif
