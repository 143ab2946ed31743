/* What a device can do, from a file of Khronos' Vulkan Profiles schema: what vulkan.gpuinfo.org
 * exports for each of its reports, `vulkaninfo --json` writes, and tests/profiles has. The tool
 * tells what would run on such a device, and the tests' pretending driver shows it. */
#ifndef WFI_TOOL_PROFILE_PROFILE_H
#define WFI_TOOL_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>
#include <yyjson.h>

#define WFI_PROFILE_MOST_BLOCKS 16

typedef struct wfi_profile {
    yyjson_doc *doc;
    char name[256]; /* the device's name, else the profile's label */
    uint32_t block_count;
    yyjson_val *blocks[WFI_PROFILE_MOST_BLOCKS]; /* of "capabilities" */
} wfi_profile;

/* Takes the document over in either case. False: it is no profile; `why` says why. */
bool wfi_profile_open(yyjson_doc *doc, wfi_profile *out, char why[192]);
void wfi_profile_close(wfi_profile *profile);

/* Whether the profile lists extensions, and this one. */
bool wfi_profile_lists_extensions(const wfi_profile *profile);
bool wfi_profile_has_extension(const wfi_profile *profile, const char *name);
/* The index-th extension; NULL: there are no more. */
const char *wfi_profile_extension(const wfi_profile *profile, uint32_t index);

/* What to do where a structure has a value already. */
typedef enum wfi_profile_mode {
    WFI_PROFILE_SET,  /* the profile's takes its place */
    WFI_PROFILE_LOWER /* the weaker of the two does, but for names and numbers that say who it is */
} wfi_profile_mode;

typedef struct wfi_profile_report {
    /* Called for each value that the profile has beyond the driver; NULL: nobody is told. */
    void (*beyond)(void *user, const char *field, uint64_t profile, uint64_t driver);
    void *user;
} wfi_profile_report;

/* Puts what the profile says of features and properties into a chain of Vulkan structures.
 * Subgroup sizes are left alone where `mode` is LOWER: they are what the driver really has. */
void wfi_profile_apply(const wfi_profile *profile, void *chain, wfi_profile_mode mode,
                       const wfi_profile_report *report);
/* The subgroup sizes that the profile tells: usual, least, most; 0: it does not tell. */
void wfi_profile_subgroups(const wfi_profile *profile, uint32_t sizes[3]);
/* Whether the profile says that a feature is there; false where it says nothing, too. */
bool wfi_profile_feature(const wfi_profile *profile, const char *field, bool otherwise);
/* The name of the first feature in a structure that is on and that the profile says is not there;
 * NULL: there is none. */
const char *wfi_profile_absent(const wfi_profile *profile, const void *structure);

/* Memory heaps and types; false: the profile does not tell. */
bool wfi_profile_memory(const wfi_profile *profile, VkPhysicalDeviceMemoryProperties *out);
/* Timestamp bits of the first queue family that has compute; false: the profile does not tell. */
bool wfi_profile_timestamps(const wfi_profile *profile, uint32_t *valid_bits);
/* Shapes of cooperative matrices; returns how many there are, and fills `room` of them. */
uint32_t wfi_profile_shapes(const wfi_profile *profile, uint32_t room,
                            VkCooperativeMatrixPropertiesKHR *out);

/* The names of limits that decide what runs and that the profile does not tell, with commas. */
void wfi_profile_untold(const wfi_profile *profile, char *text, size_t bytes);

#endif
