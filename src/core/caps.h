/* What a physical device can do, in one structure. */
#ifndef WFI_CORE_CAPS_H
#define WFI_CORE_CAPS_H

#include "core/features.h"

wf_result wfi_caps_query(const wfi_instance *instance, const wfi_log *log, VkPhysicalDevice device,
                         const wfi_features *features, wf_caps *out);

/* Lowers caps to what Vulkan 1.1 guarantees; see WF_LIMITS_MINIMUM. */
void wfi_caps_clamp_minimum(wf_caps *caps);

/* Sets caps->withheld: what `physical`, the same device with all enabled that it has, can do
 * beyond. */
void wfi_caps_withhold(const wf_caps *physical, wf_caps *caps);
/* Why there is nothing of `feature` (WF_WITHHELD_…): "the device has no 64-bit floats", or what the
 * application did not enable. */
void wfi_caps_say_missing(const wf_caps *caps, uint32_t feature, char text[256]);

static inline bool wfi_is_cpu(const wf_caps *caps)
{
    return caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
}

/* What the offsets of a window into a buffer are multiples of: bindings and texel buffers may start there,
 * and vectors of 16 bytes stay aligned. All are powers of two. */
static inline uint64_t wfi_window_alignment(const wf_caps *caps)
{
    const uint64_t alignment = caps->storage_alignment > caps->texel_alignment
                                   ? caps->storage_alignment
                                   : caps->texel_alignment;
    return alignment > 16 ? alignment : 16;
}

/* Whether a shape multiplies `factor` to `sum` (VkComponentTypeKHR) within a subgroup. */
bool wfi_shape_multiplies(const wf_cooperative_shape *shape, uint32_t factor, uint32_t sum);
/* Of the device's shapes that do, with this m, n and k (0: any), the one of most products a call;
 * NULL: there is none. */
const wf_cooperative_shape *wfi_caps_shape(const wf_caps *caps, uint32_t factor, uint32_t sum,
                                           uint32_t m, uint32_t n, uint32_t k);

/* The queue family that wavefit uses: compute, with timestamps where there is a choice.
 * UINT32_MAX: the device has no compute queue. */
uint32_t wfi_caps_queue_family(const wfi_instance *instance, VkPhysicalDevice device,
                               uint32_t *timestamp_valid_bits);

/* Whether queue family `family` of the device exists and has compute; gives its timestamp bits. */
bool wfi_caps_compute_family(const wfi_instance *instance, VkPhysicalDevice device, uint32_t family,
                             uint32_t *timestamp_valid_bits);

#endif
