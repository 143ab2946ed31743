/* How much work shows a peak on kinds of devices. */
#ifndef WFI_PROFILES_PEAKS_H
#define WFI_PROFILES_PEAKS_H

#include "profiles/profile.h"

typedef struct wfi_peaks_profile {
    double sample_seconds;   /* long enough to hide how a dispatch starts and ends */
    uint32_t groups;         /* of a kernel; 0: several waves of what the device holds */
    bool lines_wait;         /* work-items that write a cache line at once wait for each other */
    uint64_t most_set_bytes; /* of the largest working set: far over any last-level cache */
    uint64_t copy_bytes;     /* of a buffer whose copy shows the memory's bandwidth */
    double copy_seconds;     /* for which each of two ways of copying it is timed */
    uint64_t transfer_bytes; /* between host and device */
} wfi_peaks_profile;

const wfi_peaks_profile *wfi_peaks_profile_of(const wf_caps *caps);

#endif
