/* A Vulkan implementation without a device: it answers questions from a profile, and that is all.
 * What the profile does not tell is what Vulkan 1.1 guarantees. */
#ifndef WFI_TOOL_PROFILE_NULL_DRIVER_H
#define WFI_TOOL_PROFILE_NULL_DRIVER_H

#include "tool/profile/profile.h"
#include "wavefit/wavefit.h"

/* The capabilities that wavefit reads of such a device, as wf_devices_list gives them. One caller
 * at a time. The log may be NULL. */
wf_result wfi_profile_caps(const wfi_profile *profile, wf_limits limits, wf_log_fn log,
                           wf_caps *out);

#endif
