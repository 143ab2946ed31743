/* What models know of kinds of devices: tables of data, a row a kind, in a file a family. A model
 * reads its family's row and never asks for a vendor, a driver or a processor itself, so that a new
 * kind of GPU needs rows and no code. */
#ifndef WFI_PROFILES_PROFILE_H
#define WFI_PROFILES_PROFILE_H

#include "core/caps.h"

typedef enum wfi_profile_kind {
    WFI_PROFILE_OTHER, /* what is guessed of a GPU that nobody has measured */
    WFI_PROFILE_CPU,   /* Vulkan on a processor: registers are memory, nothing hides a wait */
    WFI_PROFILE_NVIDIA,
    WFI_PROFILE_AMD,
    WFI_PROFILE_INTEL,
    WFI_PROFILE_MOBILE,    /* Adreno and Mali: few registers a work-item */
    WFI_PROFILE_VIDEOCORE, /* 32 or 64 registers, and shared memory is memory */
    WFI_PROFILE_KINDS
} wfi_profile_kind;

wfi_profile_kind wfi_profile_kind_of(const wf_caps *caps);

#endif
