/* What the models of vector operations know of kinds of devices. */
#ifndef WFI_PROFILES_VECTOR_H
#define WFI_PROFILES_VECTOR_H

#include "profiles/profile.h"

typedef struct wfi_vector_profile {
    uint32_t items, items_large; /* elements a work-item; large: of over 4 million elements */
} wfi_vector_profile;

const wfi_vector_profile *wfi_vector_profile_of(const wf_caps *caps);

#endif
