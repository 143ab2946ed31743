/* Compiled pipelines kept on disk between runs, one file a device and driver. */
#ifndef WFI_CORE_PIPELINE_CACHE_H
#define WFI_CORE_PIPELINE_CACHE_H

#include "core/log.h"
#include "core/volk.h"

typedef struct wfi_pipeline_cache {
    VkPipelineCache vk;
    bool lent;            /* the application's: neither stored nor destroyed here */
    char *path;           /* NULL: not kept on disk */
    uint64_t stored_hash; /* of the data in the file, 0 if none was usable */
} wfi_pipeline_cache;

/* Creates the cache, filled from disk where the file fits this device, driver and version of
 * wavefit and is undamaged; anything else is ignored and rewritten later. directory as
 * wfi_cache_directory has it; NULL: nowhere. Never fails for what is on disk. */
wf_result wfi_pipeline_cache_create(const wfi_log *log, VkDevice device,
                                    const struct VolkDeviceTable *fn,
                                    const VkAllocationCallbacks *allocator, const wf_caps *caps,
                                    const char *directory, wfi_pipeline_cache *out);

/* Writes the file when its content changed (temporary name, then rename), and destroys. */
void wfi_pipeline_cache_destroy(const wfi_log *log, VkDevice device,
                                const struct VolkDeviceTable *fn,
                                const VkAllocationCallbacks *allocator, const wf_caps *caps,
                                wfi_pipeline_cache *cache);

/* 64-bit FNV-1a (Fowler, Noll, Vo). */
uint64_t wfi_hash(const void *data, size_t bytes);

#endif
