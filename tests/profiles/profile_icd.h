/* What the two parts of the pretending driver share. */
#ifndef WFI_TESTS_PROFILE_ICD_H
#define WFI_TESTS_PROFILE_ICD_H

#include <stdarg.h>

#include "tool/profile/profile.h"

#define EXPORT __attribute__((visibility("default")))

struct profile_icd {
    wfi_profile profile;
    VkPhysicalDevice physical;
    /* What the device was shown to have; the maxima are 0 where Vulkan 1.0 has none. */
    VkPhysicalDeviceLimits limits;
    VkDeviceSize max_allocation, max_buffer;
    VkPhysicalDeviceMemoryProperties memory;
    bool own_memory; /* memory types are the profile's, and not the driver's */
};
extern struct profile_icd icd;

/* Tells of a call that the profile's device would not allow. */
__attribute__((format(printf, 1, 2))) void outside(const char *format, ...);

#endif
