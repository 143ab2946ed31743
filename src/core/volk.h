/* Vulkan types and volk's device table, with a prefix on volk's symbols; nothing of volk's
 * process-wide state is used. Comes before any other include of Vulkan's headers with prototypes
 * wanted, hence VK_NO_PROTOTYPES on the whole library. */
#ifndef WFI_CORE_VOLK_H
#define WFI_CORE_VOLK_H

#include <vulkan/vulkan.h>

#include "wfi_volk_prefix.h"

#include <volk.h>

/* Fills *table with the functions of `device`. */
void wfi_volk_load_device_table(struct VolkDeviceTable *table, VkDevice device,
                                PFN_vkGetDeviceProcAddr get_proc);

#endif
