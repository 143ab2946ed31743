#include "core/pipeline_cache.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "core/heap.h"
#include "core/text.h"

#define MAGIC 0x46575043u /* "CPWF" */
#define FORMAT 1u
#define MAX_CACHE_BYTES ((size_t)256 << 20) /* a larger file is not ours */

/* The file: this header, then `bytes` bytes of vkGetPipelineCacheData. Drivers are known to trust
 * the data they are given, so all of it is checked before they see it. */
typedef struct file_header {
    uint32_t magic, format;
    uint32_t vendor_id, device_id, driver_version, driver_id;
    uint8_t cache_uuid[16];
    uint32_t wavefit_version;
    uint32_t reserved;
    uint64_t bytes;
    uint64_t hash;
} file_header;

uint64_t wfi_hash(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

static file_header header_for(const wf_caps *caps, const void *data, size_t bytes)
{
    file_header header;
    memset(&header, 0, sizeof header);
    header.magic = MAGIC;
    header.format = FORMAT;
    header.vendor_id = caps->vendor_id;
    header.device_id = caps->device_id;
    header.driver_version = caps->driver_version;
    header.driver_id = caps->driver_id;
    memcpy(header.cache_uuid, caps->cache_uuid, sizeof header.cache_uuid);
    header.wavefit_version = VK_MAKE_VERSION(WF_VERSION_MAJOR, WF_VERSION_MINOR, WF_VERSION_PATCH);
    header.bytes = bytes;
    header.hash = wfi_hash(data, bytes);
    return header;
}

static char *cache_path(const char *directory, const wf_caps *caps)
{
    char name[96];
    if (!directory)
        return NULL;
    snprintf(name, sizeof name, "pipelines-%04x-%04x-%016llx.bin", caps->vendor_id, caps->device_id,
             (unsigned long long)wfi_hash(caps->cache_uuid, sizeof caps->cache_uuid));
    return wfi_path_join(directory, name);
}

/* The data of a file that fits, to be freed; NULL when it is absent, stale or damaged. */
static void *read_file(const wfi_log *log, const char *path, const wf_caps *caps, size_t *bytes)
{
    file_header header;
    const char *why = NULL;
    size_t whole = 0;
    char *file = wfi_cache_read(path, sizeof header + MAX_CACHE_BYTES, &whole, &why);
    if (!file && errno != ENOENT && errno != ENOTDIR)
        wfi_log_write(log, WF_LOG_WARNING, "%s: %s; compiled pipelines are not used", path, why);
    if (!file || whole <= sizeof header) {
        wfi_free(file);
        return NULL;
    }
    memcpy(&header, file, sizeof header);
    *bytes = whole - sizeof header;
    memmove(file, file + sizeof header, *bytes);
    const file_header expected = header_for(caps, file, *bytes);
    if (memcmp(&header, &expected, sizeof header) != 0) {
        wfi_free(file);
        return NULL;
    }
    return file;
}

wf_result wfi_pipeline_cache_create(const wfi_log *log, VkDevice device,
                                    const struct VolkDeviceTable *fn,
                                    const VkAllocationCallbacks *allocator, const wf_caps *caps,
                                    const char *directory, wfi_pipeline_cache *out)
{
    wfi_pipeline_cache cache = {.path = cache_path(directory, caps)};
    size_t bytes = 0;
    void *data = cache.path ? read_file(log, cache.path, caps, &bytes) : NULL;
    VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
        .initialDataSize = data ? bytes : 0,
        .pInitialData = data,
    };
    VkResult vk =
        WFI_MADE(fn->vkCreatePipelineCache(device, &info, allocator, &cache.vk), &cache.vk);
    if (vk < VK_SUCCESS && data) { /* the driver refuses its own data: start afresh */
        info.initialDataSize = 0;
        vk = WFI_MADE(fn->vkCreatePipelineCache(device, &info, allocator, &cache.vk), &cache.vk);
    } else if (data) {
        cache.stored_hash = wfi_hash(data, bytes);
    }
    wfi_free(data);
    if (vk < VK_SUCCESS) {
        wfi_free(cache.path);
        return wfi_check_vk(log, vk, "vkCreatePipelineCache");
    }
    *out = cache;
    return WF_SUCCESS;
}

static void store(const wfi_log *log, VkDevice device, const struct VolkDeviceTable *fn,
                  const wf_caps *caps, wfi_pipeline_cache *cache)
{
    size_t bytes = 0;
    if (fn->vkGetPipelineCacheData(device, cache->vk, &bytes, NULL) != VK_SUCCESS || bytes == 0 ||
        bytes > MAX_CACHE_BYTES)
        return;
    void *data = wfi_malloc(bytes);
    if (data && fn->vkGetPipelineCacheData(device, cache->vk, &bytes, data) == VK_SUCCESS) {
        const file_header header = header_for(caps, data, bytes);
        const wfi_piece pieces[] = {{&header, sizeof header}, {data, bytes}};
        if (header.hash != cache->stored_hash &&
            !(wfi_make_directories(cache->path) && wfi_file_write(cache->path, pieces, 2)))
            wfi_log_write(log, WF_LOG_INFO, "%s: compiled pipelines were not kept: %s", cache->path,
                          strerror(errno));
    }
    wfi_free(data);
}

void wfi_pipeline_cache_destroy(const wfi_log *log, VkDevice device,
                                const struct VolkDeviceTable *fn,
                                const VkAllocationCallbacks *allocator, const wf_caps *caps,
                                wfi_pipeline_cache *cache)
{
    if (cache->vk && cache->path)
        store(log, device, fn, caps, cache);
    if (cache->vk && !cache->lent)
        fn->vkDestroyPipelineCache(device, cache->vk, allocator);
    wfi_free(cache->path);
    *cache = (wfi_pipeline_cache){0};
}
