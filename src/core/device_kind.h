/* What core knows of a device by its VkPhysicalDeviceType: a table of data. Models have
 * profiles. */
#ifndef WFI_CORE_DEVICE_KIND_H
#define WFI_CORE_DEVICE_KIND_H

#include "core/caps.h"

typedef struct wfi_device_kind {
    bool raises_clock;    /* under work, so that it is warmed up before it is timed */
    bool lost_means_idle; /* once it reports that it is lost, none of its work goes on */
    double poll_seconds;  /* how long a wait asks for the end before it sleeps */
    bool card;            /* it has memory of its own, behind a bus */
} wfi_device_kind;

const wfi_device_kind *wfi_device_kind_of(const wf_caps *caps);

#endif
