/* Device functions of the pretending driver that look at what they are asked for. */
#ifndef WFI_TESTS_PROFILE_CHECKS_H
#define WFI_TESTS_PROFILE_CHECKS_H

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

/* Ours in place of the driver's function, which is kept; the driver's own where none looks. */
PFN_vkVoidFunction checked(const char *name, PFN_vkVoidFunction found);

#endif
