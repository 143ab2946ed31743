/* What the times that a search takes must allow for on a kind of device. */
#ifndef WFI_PROFILES_TUNE_H
#define WFI_PROFILES_TUNE_H

#include "profiles/profile.h"

typedef struct wfi_tune_profile {
    double sample_seconds; /* a sample of a point lasts at least so long */
    double round_seconds;  /* so does a finalist's run in each round of the decision */
    /* Its clock falls while the host compiles and rises under work, so that it is warmed up before
     * it is timed, and times that moved are taken again. */
    bool clock_moves;
    /* Points drawn from the whole space without finding a better one, from which on a search is
     * over; 0: it ends where no neighbour of the best is better. */
    uint32_t wide_draws;
} wfi_tune_profile;

const wfi_tune_profile *wfi_tune_profile_of(const wf_caps *caps);

#endif
