#include "core/pipeline_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Joins with '/'; malloc'ed, NULL without memory. */
static char *join(const char *a, const char *b)
{
    const size_t bytes = strlen(a) + strlen(b) + 2;
    char *path = malloc(bytes);
    if (path)
        snprintf(path, bytes, "%s/%s", a, b);
    return path;
}

static char *default_directory(void)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (xdg && xdg[0] == '/')
        return join(xdg, "wavefit");
    return home && home[0] == '/' ? join(home, ".cache/wavefit") : NULL;
}

static char *cache_path(const char *directory, const wf_caps *caps)
{
    char name[96];
    char *base = directory ? strdup(directory) : default_directory();
    if (!base || !*base) {
        free(base);
        return NULL;
    }
    snprintf(name, sizeof name, "pipelines-%04x-%04x-%016llx.bin", caps->vendor_id, caps->device_id,
             (unsigned long long)wfi_hash(caps->cache_uuid, sizeof caps->cache_uuid));
    char *path = join(base, name);
    free(base);
    return path;
}

/* The data of a file that fits, malloc'ed; NULL when it is absent, stale or damaged. */
static void *read_file(const char *path, const wf_caps *caps, size_t *bytes)
{
    file_header header;
    void *data = NULL;
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    if (fread(&header, sizeof header, 1, file) == 1 && header.bytes > 0 &&
        header.bytes <= MAX_CACHE_BYTES)
        data = malloc((size_t)header.bytes);
    if (data) {
        *bytes = (size_t)header.bytes;
        const bool whole = fread(data, 1, *bytes, file) == *bytes && fgetc(file) == EOF;
        const file_header expected = header_for(caps, data, *bytes);
        if (!whole || memcmp(&header, &expected, sizeof header) != 0) {
            free(data);
            data = NULL;
        }
    }
    fclose(file);
    return data;
}

wf_result wfi_pipeline_cache_create(const wfi_log *log, VkDevice device,
                                    const struct VolkDeviceTable *fn,
                                    const VkAllocationCallbacks *allocator, const wf_caps *caps,
                                    const char *directory, wfi_pipeline_cache *out)
{
    wfi_pipeline_cache cache = {.path = cache_path(directory, caps)};
    size_t bytes = 0;
    void *data = cache.path ? read_file(cache.path, caps, &bytes) : NULL;
    VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
        .initialDataSize = data ? bytes : 0,
        .pInitialData = data,
    };
    VkResult vk = fn->vkCreatePipelineCache(device, &info, allocator, &cache.vk);
    if (vk < VK_SUCCESS && data) { /* the driver refuses its own data: start afresh */
        info.initialDataSize = 0;
        vk = fn->vkCreatePipelineCache(device, &info, allocator, &cache.vk);
    } else if (data) {
        cache.stored_hash = wfi_hash(data, bytes);
    }
    free(data);
    if (vk < VK_SUCCESS) {
        free(cache.path);
        return wfi_check_vk(log, vk, "vkCreatePipelineCache");
    }
    *out = cache;
    return WF_SUCCESS;
}

static bool make_directories(char *path)
{
    for (char *at = path + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        const bool ok = mkdir(path, 0700) == 0 || errno == EEXIST;
        *at = '/';
        if (!ok)
            return false;
    }
    return true;
}

static bool write_file(const char *path, const file_header *header, const void *data)
{
    const size_t length = strlen(path) + sizeof ".XXXXXX";
    char *temporary = malloc(length);
    if (!temporary)
        return false;
    snprintf(temporary, length, "%s.XXXXXX", path);
    const int fd = mkstemp(temporary);
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    bool ok = file && fwrite(header, sizeof *header, 1, file) == 1 &&
              fwrite(data, 1, (size_t)header->bytes, file) == (size_t)header->bytes;
    if (file)
        ok = fclose(file) == 0 && ok;
    else if (fd >= 0)
        close(fd);
    ok = ok && rename(temporary, path) == 0;
    if (!ok && fd >= 0)
        unlink(temporary);
    free(temporary);
    return ok;
}

static void store(const wfi_log *log, VkDevice device, const struct VolkDeviceTable *fn,
                  const wf_caps *caps, wfi_pipeline_cache *cache)
{
    size_t bytes = 0;
    if (fn->vkGetPipelineCacheData(device, cache->vk, &bytes, NULL) != VK_SUCCESS || bytes == 0 ||
        bytes > MAX_CACHE_BYTES)
        return;
    void *data = malloc(bytes);
    if (data && fn->vkGetPipelineCacheData(device, cache->vk, &bytes, data) == VK_SUCCESS) {
        const file_header header = header_for(caps, data, bytes);
        if (header.hash != cache->stored_hash &&
            !(make_directories(cache->path) && write_file(cache->path, &header, data)))
            wfi_log_write(log, WF_LOG_INFO, "%s: compiled pipelines were not kept: %s", cache->path,
                          strerror(errno));
    }
    free(data);
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
    free(cache->path);
    *cache = (wfi_pipeline_cache){0};
}
