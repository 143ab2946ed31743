/* The file of compiled pipelines. A file that wavefit wrote is changed as the input says, or the
 * input is the whole file: the driver must get what was written, or nothing. The driver's three
 * functions are ours, since it is what they are given that is looked at. */
#include "core/pipeline_cache.h"
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DATA_BYTES 96u
#define MOST_BYTES 4096u

static const wf_caps caps = {.vendor_id = 0x1002, .device_id = 0x744c, .driver_version = 7};
static struct VolkDeviceTable fn;
static char folder[64], path[160];
static uint8_t kept[DATA_BYTES]; /* what the driver had compiled */
static uint8_t *written;         /* the file of it */
static size_t written_bytes, given;

static VKAPI_ATTR VkResult VKAPI_CALL create(VkDevice device, const VkPipelineCacheCreateInfo *info,
                                             const VkAllocationCallbacks *allocator,
                                             VkPipelineCache *out)
{
    (void)device;
    (void)allocator;
    given = info->initialDataSize;
    if (given && (given != DATA_BYTES || memcmp(info->pInitialData, kept, DATA_BYTES) != 0))
        fuzz_wrong("the driver gets data that it did not make");
    *out = (VkPipelineCache)(uintptr_t)1;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy(VkDevice device, VkPipelineCache cache,
                                          const VkAllocationCallbacks *allocator)
{
    (void)device;
    (void)cache;
    (void)allocator;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_data(VkDevice device, VkPipelineCache cache, size_t *size,
                                               void *data)
{
    (void)device;
    (void)cache;
    *size = written ? 0 : DATA_BYTES;
    if (data && *size)
        memcpy(data, kept, DATA_BYTES);
    return VK_SUCCESS;
}

static void open_and_close(void)
{
    wfi_pipeline_cache cache = {0};
    const wfi_log log = {0};
    given = 0;
    if (wfi_pipeline_cache_create(&log, VK_NULL_HANDLE, &fn, NULL, &caps, folder, &cache) !=
        WF_SUCCESS)
        fuzz_wrong("a cache cannot be made");
    snprintf(path, sizeof path, "%s", cache.path);
    wfi_pipeline_cache_destroy(&log, VK_NULL_HANDLE, &fn, NULL, &caps, &cache);
}

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fn.vkCreatePipelineCache = create;
    fn.vkDestroyPipelineCache = destroy;
    fn.vkGetPipelineCacheData = get_data;
    for (unsigned i = 0; i < DATA_BYTES; i++)
        kept[i] = (uint8_t)(i * 37 + 11);
    snprintf(folder, sizeof folder, "%d-pipelines", (int)getpid());
    mkdir(folder, 0700);
    atexit(remove_folder);
    open_and_close();
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(MOST_BYTES);
    if (!file || !bytes)
        fuzz_wrong("nothing was written");
    written_bytes = fread(bytes, 1, MOST_BYTES, file);
    fclose(file);
    written = bytes;
    open_and_close();
    if (given != DATA_BYTES)
        fuzz_wrong("what was written is not taken");
    return 0;
}

static void write_file(const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        fuzz_wrong("the input cannot be written");
}

/* Bytes of two each: which byte of the file, and what is added to it. */
static size_t edit(const uint8_t *data, size_t size, uint8_t *file)
{
    size_t bytes = written_bytes;
    memcpy(file, written, written_bytes);
    for (size_t i = 0; i + 1 < size; i += 2) {
        if (data[i] < written_bytes)
            file[data[i]] = (uint8_t)(file[data[i]] + data[i + 1]);
        else /* longer or shorter */
            bytes = data[i + 1] <= written_bytes ? written_bytes - data[i + 1] : written_bytes + 1;
    }
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t file[MOST_BYTES] = {0};
    const bool whole = size > 0 && data[0] == 0xff;
    size_t bytes = whole ? size - 1 : 0;
    if (whole && bytes <= MOST_BYTES)
        memcpy(file, data + 1, bytes);
    else if (!whole)
        bytes = edit(data, size, file);
    if (bytes > MOST_BYTES)
        return 0;
    write_file(file, bytes);
    open_and_close();
    const bool same = bytes == written_bytes && memcmp(file, written, bytes) == 0;
    if (same != (given > 0))
        fuzz_wrong(same ? "a whole file is not taken" : "a changed file is taken");
    return 0;
}
