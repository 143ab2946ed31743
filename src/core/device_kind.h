/* What core knows of a device by its VkPhysicalDeviceType: a table of data. Models have
 * profiles. */
#ifndef WFI_CORE_DEVICE_KIND_H
#define WFI_CORE_DEVICE_KIND_H

#include "core/caps.h"

typedef struct wfi_device_kind {
    bool raises_clock;    /* under work: the device is warmed up before timing */
    bool lost_means_idle; /* a device that reports its loss has ended all work */
    double poll_seconds;  /* how long a wait polls before it sleeps */
    bool card;            /* it has memory of its own, behind a bus */
    bool in_process;      /* it works in this process's memory, and only where that is mapped */
} wfi_device_kind;

const wfi_device_kind *wfi_device_kind_of(const wf_caps *caps);

#endif
