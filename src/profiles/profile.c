#include "profiles/profile.h"

#include "core/arithmetic.h"
#include "core/vendors.h"

wfi_profile_kind wfi_profile_kind_of(const wf_caps *caps)
{
    static const struct {
        uint32_t vendor_id;
        wfi_profile_kind kind;
    } vendors[] = {{WFI_NVIDIA, WFI_PROFILE_NVIDIA}, {WFI_AMD, WFI_PROFILE_AMD},
                   {WFI_INTEL, WFI_PROFILE_INTEL},   {WFI_QUALCOMM, WFI_PROFILE_MOBILE},
                   {WFI_ARM, WFI_PROFILE_MOBILE},    {WFI_BROADCOM, WFI_PROFILE_VIDEOCORE}};
    if (wfi_is_cpu(caps))
        return WFI_PROFILE_CPU;
    for (size_t i = 0; i < WFI_COUNT(vendors); i++)
        if (caps->vendor_id == vendors[i].vendor_id)
            return vendors[i].kind;
    return WFI_PROFILE_OTHER;
}
