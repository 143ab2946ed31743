#include "profiles/vector.h"

/* A few elements a work-item keep partial sums few, and leave enough work-items for a GPU. A
 * processor pays for each work-group. */
static const wfi_vector_profile profiles[WFI_PROFILE_KINDS] = {
    [WFI_PROFILE_OTHER] = {2, 8},     [WFI_PROFILE_CPU] = {64, 64}, [WFI_PROFILE_NVIDIA] = {2, 8},
    [WFI_PROFILE_AMD] = {2, 8},       [WFI_PROFILE_INTEL] = {2, 8}, [WFI_PROFILE_MOBILE] = {2, 8},
    [WFI_PROFILE_VIDEOCORE] = {2, 8},
};

const wfi_vector_profile *wfi_vector_profile_of(const wf_caps *caps)
{
    return &profiles[wfi_profile_kind_of(caps)];
}
