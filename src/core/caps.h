/* What a physical device can do, in one structure. */
#ifndef WFI_CORE_CAPS_H
#define WFI_CORE_CAPS_H

#include "core/features.h"

wf_result wfi_caps_query(const wfi_instance *instance, const wfi_log *log, VkPhysicalDevice device,
                         const wfi_features *features, wf_caps *out);

/* Lowers caps to what Vulkan 1.1 guarantees; see WF_LIMITS_MINIMUM. */
void wfi_caps_clamp_minimum(wf_caps *caps);

/* Sets caps->withheld to what `physical`, the same device with all its features enabled, can do and
 * caps cannot. */
void wfi_caps_withhold(const wf_caps *physical, wf_caps *caps);
/* Why the device does not do `feature` (WF_WITHHELD_…): it has no such feature ("the device has no
 * 64-bit floats"), or the application did not enable it. */
void wfi_caps_say_missing(const wf_caps *caps, uint32_t feature, char text[256]);

static inline bool wfi_is_cpu(const wf_caps *caps)
{
    return caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
}

/* The alignment of windows into a buffer: at its multiples bindings and texel buffers may start and
 * vectors of 16 bytes stay aligned. All alignments are powers of two. */
static inline uint64_t wfi_window_alignment(const wf_caps *caps)
{
    const uint64_t alignment = caps->storage_alignment > caps->texel_alignment
                                   ? caps->storage_alignment
                                   : caps->texel_alignment;
    return alignment > 16 ? alignment : 16;
}

/* Whether the shape is of subgroup scope, with operands of type `factor` and sums of type `sum`
 * (VkComponentTypeKHR). */
bool wfi_shape_multiplies(const wf_cooperative_shape *shape, uint32_t factor, uint32_t sum);
/* Among the device's shapes of those types with this m, n and k (0: any), the one with the most
 * multiply-adds a call; NULL where there is none. */
const wf_cooperative_shape *wfi_caps_shape(const wf_caps *caps, uint32_t factor, uint32_t sum,
                                           uint32_t m, uint32_t n, uint32_t k);

/* The queue family that wavefit uses: compute, with timestamps where there is a choice, and without
 * graphics where there still is one: an H100 takes 5 us more for each further submission to such a
 * family, and 14 to the one with both. UINT32_MAX: there is none with compute. */
uint32_t wfi_best_queue_family(const VkQueueFamilyProperties *families, uint32_t count);
/* The same of a device, and its timestamp bits. */
uint32_t wfi_caps_queue_family(const wfi_instance *instance, VkPhysicalDevice device,
                               uint32_t *timestamp_valid_bits);

/* Families whose queues work beside those of `family`: another one with compute and timestamps of
 * the same bits, and one for copies alone. UINT32_MAX: there is none. */
void wfi_caps_side_families(const wfi_instance *instance, VkPhysicalDevice device, uint32_t family,
                            uint32_t *compute, uint32_t *copies);

/* Whether queue family `family` of the device exists and has compute; gives its timestamp bits. */
bool wfi_caps_compute_family(const wfi_instance *instance, VkPhysicalDevice device, uint32_t family,
                             uint32_t *timestamp_valid_bits);

#endif
