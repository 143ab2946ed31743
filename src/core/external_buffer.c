/* Buffers in memory that others have too: the application's own, or device memory that goes from
 * one to another as a file descriptor. */
#include "core/block.h"
#include "core/budget.h"
#include "core/heap.h"
#include "core/host_memory.h"
#include "core/names.h"

#define HOST VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT
#define FD VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT

/* Fails unless the driver can do `wanted` with buffers in external memory of the kind. */
static wf_result needs(wf_device *device, const char *function, bool extension,
                       VkExternalMemoryHandleTypeFlagBits handle,
                       VkExternalMemoryFeatureFlags wanted, bool *dedicated)
{
    wf_result result = wfi_device_usable(device, function);
    if (result != WF_SUCCESS)
        return result;
    if (!extension)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "%s: the device has no %s, or the application did not enable it", function,
                        handle == HOST ? VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME
                                       : VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
    const VkExternalMemoryFeatureFlags features =
        wfi_external_features(device, wfi_buffer_usage(device), handle);
    *dedicated = features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT;
    if ((features & wanted) != wanted)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "%s: the driver shares no memory of buffers in this way", function);
    return WF_SUCCESS;
}

/* Allocates memory with what `next` adds and binds the buffer, which it destroys on failure. */
static wf_result bind(wf_buffer **handle, uint64_t bytes, uint32_t type, const void *next,
                      bool dedicated)
{
    wf_buffer *buffer = *handle;
    wf_device *device = buffer->device;
    wf_memory_block *block = &buffer->memory.block;
    const VkMemoryDedicatedAllocateInfo own = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
        .pNext = next,
        .buffer = buffer->vk,
    };
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = dedicated ? &own : next,
        .allocationSize = bytes,
        .memoryTypeIndex = type,
    };
    *block = (wf_memory_block){.size = sizeof *block, .type = type};
    buffer->memory.bytes = bytes;
    VkResult vk =
        WFI_MADE(device->fn.vkAllocateMemory(device->vk, &info, device->allocator, &block->memory),
                 &block->memory);
    if (vk < VK_SUCCESS && wfi_blocks_free(device) > 0)
        vk = WFI_MADE(
            device->fn.vkAllocateMemory(device->vk, &info, device->allocator, &block->memory),
            &block->memory);
    wfi_name(device, VK_OBJECT_TYPE_DEVICE_MEMORY, WFI_HANDLE(block->memory),
             "external memory of %llu bytes", (unsigned long long)bytes);
    wf_result result = wfi_check_vk(&device->log, vk, "allocating external memory");
    if (result == WF_SUCCESS)
        result = wfi_check_vk(
            &device->log, device->fn.vkBindBufferMemory(device->vk, buffer->vk, block->memory, 0),
            "vkBindBufferMemory");
    if (result != WF_SUCCESS)
        wf_buffer_destroy(handle);
    return result;
}

static wf_result import_host(wf_device *device, unsigned char *data, uint64_t bytes,
                             wf_buffer **out, uint64_t *offset)
{
    if (!device || !data || !bytes || !out || !offset)
        return wfi_fail(device ? &device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_buffer_import_host: bad parameters");
    const uint64_t unit = device->caps.host_import_alignment;
    bool dedicated = false;
    wf_result result = needs(device, "wf_buffer_import_host", unit != 0, HOST,
                             VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT, &dedicated);
    if (result != WF_SUCCESS)
        return result;
    const uint64_t before = (uintptr_t)data % unit,
                   whole = (before + bytes + unit - 1) / unit * unit;
    if (before % device->caps.storage_alignment)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "wf_buffer_import_host: the data begin at no multiple of %llu bytes",
                        (unsigned long long)device->caps.storage_alignment);
    wf_buffer *buffer = NULL;
    result = wfi_buffer_open(device, whole, 0, HOST, &buffer);
    if (result != WF_SUCCESS)
        return result;
    const VkImportMemoryHostPointerInfoEXT pointer = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = HOST,
        .pHostPointer = data - before,
    };
    uint64_t required = 0;
    const uint32_t type = wfi_host_memory_type(device, data - before, buffer->vk, &required);
    if (type == UINT32_MAX || required > whole) {
        wf_buffer_destroy(&buffer);
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "wf_buffer_import_host: the driver does not take this memory");
    }
    result = bind(&buffer, whole, type, &pointer, dedicated);
    if (result != WF_SUCCESS)
        return result;
    buffer->mapped = buffer->window = data - before;
    *offset = before;
    *out = buffer;
    return WF_SUCCESS;
}

wf_result wf_buffer_import_host(wf_device *device, void *data, uint64_t bytes, wf_buffer **out,
                                uint64_t *offset)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, import_host(device, data, bytes, out, offset));
}

/* Memory of its own for the buffer, in whose `bytes` (0: as many as it needs) it fits. */
static wf_result allocate(wf_buffer **handle, uint64_t bytes, const void *next, bool dedicated)
{
    wf_buffer *buffer = *handle;
    wf_device *device = buffer->device;
    VkMemoryRequirements required;
    bool mapped;
    device->fn.vkGetBufferMemoryRequirements(device->vk, buffer->vk, &required);
    const uint64_t size = bytes ? bytes : required.size;
    const uint32_t type =
        wfi_memory_type(device, WF_MEMORY_DEVICE, required.memoryTypeBits, &mapped);
    wf_result result = WF_SUCCESS;
    if (type == UINT32_MAX || size < required.size)
        result = wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                          "the driver shares no memory of this kind and size");
    else if (!bytes && size > wfi_budget_left(device, device->memory.memoryTypes[type].heapIndex))
        result =
            wfi_fail(&device->log, WF_ERROR_OUT_OF_DEVICE_MEMORY,
                     "an exportable buffer of %llu bytes is over what the memory budget leaves",
                     (unsigned long long)size);
    if (result != WF_SUCCESS) {
        wf_buffer_destroy(handle);
        return result;
    }
    result = bind(handle, size, type, next, dedicated);
    if (result == WF_SUCCESS && mapped && device->caps.unified_memory) {
        void *at = NULL;
        if (wfi_block_map(device, buffer->memory.block.memory, &at) ==
            VK_SUCCESS) /* else transfers go through staging */
            buffer->mapped = buffer->window = buffer->memory.block.mapped = at;
    }
    return result;
}

static wf_result create_exportable(wf_device *device, uint64_t bytes, wf_buffer **out)
{
    static const VkExportMemoryAllocateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .handleTypes = FD,
    };
    wf_buffer *buffer = NULL;
    bool dedicated = false;
    if (!device || !bytes || !out)
        return wfi_fail(device ? &device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_buffer_create_exportable: bad parameters");
    wf_result result = needs(device, "wf_buffer_create_exportable", device->caps.memory_fds, FD,
                             VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT, &dedicated);
    if (result == WF_SUCCESS)
        result = wfi_buffer_open(device, bytes, 0, FD, &buffer);
    if (result == WF_SUCCESS)
        result = allocate(&buffer, 0, &export, dedicated);
    if (result != WF_SUCCESS)
        return result;
    buffer->exportable = true;
    *out = buffer;
    return WF_SUCCESS;
}

wf_result wf_buffer_create_exportable(wf_device *device, uint64_t bytes, wf_buffer **out)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, create_exportable(device, bytes, out));
}

wf_result wf_buffer_export_fd(const wf_buffer *buffer, int *fd, uint64_t *memory_bytes)
{
    if (!buffer || !fd || !memory_bytes)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_device *device = buffer->device;
    wf_result result = wfi_device_usable(device, "wf_buffer_export_fd");
    if (result != WF_SUCCESS)
        return result;
    if (!buffer->exportable)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_buffer_export_fd: wf_buffer_create_exportable did not make the buffer");
    const VkMemoryGetFdInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
        .memory = buffer->memory.block.memory,
        .handleType = FD,
    };
    int made = -1;
    result = wfi_check_vk(&device->log, device->fn.vkGetMemoryFdKHR(device->vk, &info, &made),
                          "vkGetMemoryFdKHR");
    if (result != WF_SUCCESS)
        return result;
    *fd = made;
    *memory_bytes = buffer->memory.bytes;
    return WF_SUCCESS;
}

static wf_result import_fd(wf_device *device, int fd, uint64_t bytes, wf_buffer **out)
{
    wf_buffer *buffer = NULL;
    bool dedicated = false;
    if (!device || fd < 0 || !bytes || !out)
        return wfi_fail(device ? &device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_buffer_import_fd: bad parameters");
    const VkImportMemoryFdInfoKHR import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
        .handleType = FD,
        .fd = fd,
    };
    wf_result result = needs(device, "wf_buffer_import_fd", device->caps.memory_fds, FD,
                             VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT, &dedicated);
    if (result == WF_SUCCESS)
        result = wfi_buffer_open(device, bytes, 0, FD, &buffer);
    if (result == WF_SUCCESS)
        result = allocate(&buffer, bytes, &import, dedicated);
    if (result == WF_SUCCESS)
        *out = buffer;
    return result;
}

wf_result wf_buffer_import_fd(wf_device *device, int fd, uint64_t memory_bytes, wf_buffer **out)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, import_fd(device, fd, memory_bytes, out));
}
