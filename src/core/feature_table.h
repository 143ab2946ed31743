/* The optional features that wavefit can use, one row a VkBool32: where wavefit keeps it, where an
 * application may have put it, and what it is for. */
#ifndef WFI_CORE_FEATURE_TABLE_H
#define WFI_CORE_FEATURE_TABLE_H

#include "core/features.h"

typedef struct wfi_feature_row {
    const char *name;
    size_t at;            /* of the VkBool32 in wfi_features */
    VkStructureType type; /* the feature's own structure, */
    size_t type_at;       /* and the VkBool32 in it */
    VkStructureType core; /* VkPhysicalDeviceVulkan1xFeatures that holds it too, else 0 */
    size_t core_at;
    const char *extension; /* NULL: none is needed */
    uint32_t core_version; /* from which the extension is not needed; 0: none */
    uint32_t families;     /* bits (1 << wf_family) */
    const char *gives;
    const char *without;
} wfi_feature_row;

extern const wfi_feature_row wfi_feature_rows[];
extern const uint32_t wfi_feature_row_count;

static inline VkBool32 *wfi_feature_bit(void *structure, size_t at)
{
    return (VkBool32 *)((char *)structure + at);
}

#endif
