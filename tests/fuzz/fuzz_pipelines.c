/* The file of compiled pipelines. A file that wavefit wrote is changed as the input says, or the
 * input is the whole file: the driver gets what stands in the file or nothing, what was written is
 * taken, and one byte of another value is noticed. (More than that a checksum cannot promise:
 * libFuzzer finds files that have the right one.) The driver's three functions are ours, since it
 * is what they are given that is looked at. */
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
static uint8_t file[MOST_BYTES]; /* that is read */
static size_t file_bytes;

static VKAPI_ATTR VkResult VKAPI_CALL create(VkDevice device, const VkPipelineCacheCreateInfo *info,
                                             const VkAllocationCallbacks *allocator,
                                             VkPipelineCache *out)
{
    (void)device;
    (void)allocator;
    given = info->initialDataSize;
    if (given > file_bytes ||
        (given && memcmp(info->pInitialData, file + (file_bytes - given), given) != 0))
        fuzz_wrong("the driver gets what does not stand in the file");
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
    FILE *stream = fopen(path, "rb");
    uint8_t *bytes = malloc(MOST_BYTES);
    if (!stream || !bytes)
        fuzz_wrong("nothing was written");
    written_bytes = fread(bytes, 1, MOST_BYTES, stream);
    fclose(stream);
    written = bytes;
    memcpy(file, written, written_bytes);
    file_bytes = written_bytes;
    open_and_close();
    if (given != DATA_BYTES)
        fuzz_wrong("what was written is not taken");
    return 0;
}

static void write_file(const uint8_t *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");
    if (!stream || fwrite(bytes, 1, size, stream) != size || fclose(stream) != 0)
        fuzz_wrong("the input cannot be written");
}

/* Bytes of two each: which byte of the file, and what is added to it. */
static void edit(const uint8_t *data, size_t size)
{
    memcpy(file, written, written_bytes);
    file_bytes = written_bytes;
    for (size_t i = 0; i + 1 < size; i += 2) {
        if (data[i] < written_bytes)
            file[data[i]] = (uint8_t)(file[data[i]] + data[i + 1]);
        else /* longer or shorter */
            file_bytes =
                data[i + 1] <= written_bytes ? written_bytes - data[i + 1] : written_bytes + 1;
    }
}

/* How many bytes are not as they were written; more than one where it is longer or shorter. */
static size_t changed(void)
{
    size_t count = 0;
    if (file_bytes != written_bytes)
        return MOST_BYTES;
    for (size_t i = 0; i < file_bytes; i++)
        count += file[i] != written[i];
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > MOST_BYTES)
        return 0;
    if (size > 0 && data[0] == 0xff) {
        file_bytes = size - 1;
        memcpy(file, data + 1, file_bytes);
    } else {
        edit(data, size);
    }
    write_file(file, file_bytes);
    open_and_close();
    if (changed() == 0 && given != DATA_BYTES)
        fuzz_wrong("a whole file is not taken");
    if (changed() == 1 && given)
        fuzz_wrong("a changed byte is not noticed");
    return 0;
}
