/* VkPhysicalDeviceProperties.vendorID of the vendors that tables name. */
#ifndef WFI_CORE_VENDORS_H
#define WFI_CORE_VENDORS_H

#define WFI_AMD 0x1002u
#define WFI_APPLE 0x106bu
#define WFI_ARM 0x13b5u
#define WFI_BROADCOM 0x14e4u
#define WFI_IMAGINATION 0x1010u
#define WFI_INTEL 0x8086u
#define WFI_NVIDIA 0x10deu
#define WFI_QUALCOMM 0x5143u

#endif
