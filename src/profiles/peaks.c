#include "profiles/peaks.h"

#define MIB(n) (UINT64_C(n) << 20)

#define GPU                                                                                        \
    {                                                                                              \
        .sample_seconds = 0.004, .lines_wait = true, .most_set_bytes = MIB(1024),                  \
        .copy_bytes = MIB(1024), .copy_seconds = 0.3, .transfer_bytes = MIB(64)                    \
    }

static const wfi_peaks_profile profiles[WFI_PROFILE_KINDS] = {
    [WFI_PROFILE_OTHER] = GPU,
    /* Starting a work-group costs lavapipe and SwiftShader tens of microseconds. No clock has to
     * rise, and a copy takes all cores from whatever else runs. */
    [WFI_PROFILE_CPU] = {.sample_seconds = 0.02,
                         .groups = 64,
                         .most_set_bytes = MIB(128),
                         .copy_bytes = MIB(64),
                         .copy_seconds = 0.05,
                         .transfer_bytes = MIB(16)},
    [WFI_PROFILE_NVIDIA] = GPU,
    [WFI_PROFILE_AMD] = GPU,
    [WFI_PROFILE_INTEL] = GPU,
    [WFI_PROFILE_MOBILE] = GPU,
    [WFI_PROFILE_VIDEOCORE] = GPU,
};

const wfi_peaks_profile *wfi_peaks_profile_of(const wf_caps *caps)
{
    return &profiles[wfi_profile_kind_of(caps)];
}
