/* The values of a profile that wavefit reads, one row each: where Vulkan keeps it, and which of two
 * values is the weaker. */
#ifndef WFI_TOOL_PROFILE_FIELDS_H
#define WFI_TOOL_PROFILE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

typedef enum wfi_field_kind {
    WFI_FIELD_BOOL,
    WFI_FIELD_U32,
    WFI_FIELD_U64, /* VkDeviceSize too */
    WFI_FIELD_FLOAT,
    WFI_FIELD_THREE, /* three uint32_t */
    WFI_FIELD_FLAGS, /* an array of names, or a number */
    WFI_FIELD_ENUM,  /* a name or a number */
    WFI_FIELD_TEXT   /* 256 bytes */
} wfi_field_kind;

typedef enum wfi_field_order {
    WFI_ORDER_MORE,    /* the smaller one is weaker, of flags what both have */
    WFI_ORDER_LESS,    /* the larger one is: alignments */
    WFI_ORDER_NAME,    /* says who the device is: the profile's counts */
    WFI_ORDER_SUBGROUP /* a size that cannot be lowered */
} wfi_field_order;

typedef struct wfi_field {
    VkStructureType type;
    const char *name; /* of the member, unique among features and among properties */
    size_t at;
    wfi_field_kind kind;
    wfi_field_order order;
    bool feature;
} wfi_field;

extern const wfi_field wfi_fields[];
extern const size_t wfi_field_count;

/* The number of a name in flags or an enumeration; false: it is none that wavefit uses. */
bool wfi_field_number(const char *name, uint32_t *out);

#endif
