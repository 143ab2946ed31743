/* Publicly documented driver faults: which devices have them, and what wavefit does not use there.
 * The table is what is known before anything has run. What a self-test finds on the device itself
 * overrides it both ways: a feature that worked is used although the table names it, and one that
 * failed is not used although no row names it. */
#ifndef WFI_CORE_QUIRKS_H
#define WFI_CORE_QUIRKS_H

#include "wavefit/wavefit.h"

typedef struct wfi_quirk {
    /* The devices: each member that is not 0 or NULL must match. */
    uint32_t driver_id; /* VkDriverId */
    uint32_t vendor_id;
    const char *name_piece;                /* in the device's name */
    uint32_t subgroup_size;                /* the default one that the device reports */
    uint32_t most_subgroup_min;            /* the smallest size it reports is at most this */
    uint32_t version_first, version_fixed; /* driverVersion; fixed 0: in no version known */
    uint32_t faults;                       /* WF_FAULT_… */
    const char *what;                      /* is wrong */
    const char *instead;                   /* what wavefit does */
    const char *reference;                 /* who documented it */
    const char *test;                      /* what shows it on the device */
} wfi_quirk;

uint32_t wfi_quirk_count(void);
const wfi_quirk *wfi_quirk_get(uint32_t index);
bool wfi_quirk_matches(const wfi_quirk *quirk, const wf_caps *caps);

/* The faults that the table knows for a device; looks at what the device reports. */
uint32_t wfi_quirks_known(const wf_caps *offered);

/* What a self-test saw: bits of WF_FAULT_…; failed is a part of tested. */
typedef struct wfi_self_test {
    uint32_t tested, failed;
} wfi_self_test;

/* The faults to act on. test NULL: none was made. */
uint32_t wfi_quirks_resolve(uint32_t known, const wfi_self_test *test);

/* *caps = what the device offers, less what the faults take away. They may be the same object, but
 * what was taken comes back only from an untouched `offered` (wf_device.offered). */
void wfi_quirks_apply(const wf_caps *offered, uint32_t faults, wf_caps *caps);

#endif
