#include "core/buffer.h"

#include "core/block.h"
#include "core/heap.h"
#include "core/names.h"

VkBufferUsageFlags wfi_buffer_usage(const wf_device *device)
{
    return VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
           VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
           VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
           (device->caps.max_texel_elements ? VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT : 0) |
           (device->caps.conditional_rendering ? VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT : 0);
}

static void name_buffer(const wf_buffer *buffer)
{
    wfi_name(buffer->device, VK_OBJECT_TYPE_BUFFER, WFI_HANDLE(buffer->vk), "buffer of %llu bytes",
             (unsigned long long)buffer->bytes);
}

static wf_result create_vk_buffer(wf_buffer *buffer, uint64_t extent,
                                  VkExternalMemoryHandleTypeFlags handles)
{
    wf_device *device = buffer->device;
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = handles,
    };
    uint32_t families[WFI_MOST_FAMILIES];
    const uint32_t count = wfi_device_families(device, families);
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = handles ? &external : NULL,
        .size = extent ? extent : buffer->bytes,
        .usage = wfi_buffer_usage(device),
        .sharingMode = count > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = count > 1 ? count : 0,
        .pQueueFamilyIndices = count > 1 ? families : NULL,
    };
    const VkResult vk = WFI_MADE(
        device->fn.vkCreateBuffer(device->vk, &info, device->allocator, &buffer->vk), &buffer->vk);
    name_buffer(buffer);
    return wfi_check_vk(&device->log, vk, "vkCreateBuffer");
}

static void close_buffer(void *owner)
{
    wf_buffer *buffer = owner;
    wf_device *device = buffer->device;
    if (buffer->vk && buffer->vk != buffer->memory.buffer && !device->keeps)
        device->fn.vkDestroyBuffer(device->vk, buffer->vk, device->allocator);
    wfi_memory_free(device, &buffer->memory);
    buffer->vk = VK_NULL_HANDLE;
    buffer->mapped = NULL;
    buffer->window = NULL;
}

wf_result wfi_buffer_open(wf_device *device, uint64_t bytes, uint64_t extent,
                          VkExternalMemoryHandleTypeFlags handles, wf_buffer **out)
{
    if (bytes > device->caps.max_buffer)
        return wfi_fail(&device->log, WF_ERROR_TOO_LARGE,
                        "a buffer of %llu bytes is over this device's limit of %llu",
                        (unsigned long long)bytes, (unsigned long long)device->caps.max_buffer);
    wf_buffer *buffer = wfi_calloc(1, sizeof *buffer);
    if (!buffer)
        return wfi_no_memory(&device->log);
    buffer->device = device;
    buffer->number = atomic_fetch_add(&device->buffer_count, 1) + 1;
    wfi_object_enlist(device, &buffer->object, close_buffer, buffer);
    buffer->bytes = (bytes + 3) & ~UINT64_C(3); /* fills work in words */
    const wf_result result = create_vk_buffer(buffer, extent, handles);
    if (result != WF_SUCCESS)
        wf_buffer_destroy(&buffer);
    *out = buffer;
    return result;
}

/* The buffer that the memory is dedicated to takes the place of the one just made. */
static void take_kept_buffer(wf_buffer *buffer)
{
    wf_device *device = buffer->device;
    device->fn.vkDestroyBuffer(device->vk, buffer->vk, device->allocator);
    buffer->vk = buffer->memory.buffer;
    name_buffer(buffer);
}

static wf_result create(wf_device *device, uint64_t bytes, wf_memory memory, wf_buffer **out)
{
    wf_buffer *buffer = NULL;
    if (!device || !out || bytes == 0)
        return wfi_fail(device ? &device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_buffer_create: bad parameters");
    if (wfi_device_usable(device, "wf_buffer_create") != WF_SUCCESS)
        return WF_ERROR_DEVICE_CLOSED;
    const uint64_t extent = memory == WF_MEMORY_DEVICE ? wfi_block_extent(device, bytes) : 0;
    wf_result result = wfi_buffer_open(device, bytes, extent, 0, &buffer);
    if (result != WF_SUCCESS)
        return result;
    result = wfi_memory_allocate(device, buffer->vk, extent, memory, &buffer->memory);
    if (buffer->memory.buffer && buffer->memory.buffer != buffer->vk)
        take_kept_buffer(buffer);
    buffer->window = buffer->memory.block.mapped;
    if (memory != WF_MEMORY_DEVICE || device->caps.unified_memory)
        buffer->mapped = buffer->window;
    if (result != WF_SUCCESS) {
        wf_buffer_destroy(&buffer);
        return result;
    }
    *out = buffer;
    return WF_SUCCESS;
}

wf_result wf_buffer_create(wf_device *device, uint64_t bytes, wf_memory memory, wf_buffer **out)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, create(device, bytes, memory, out));
}

void wf_buffer_destroy(wf_buffer **handle)
{
    wf_buffer *buffer = handle ? *handle : NULL;
    if (!buffer)
        return;
    close_buffer(buffer);
    wfi_object_leave(&buffer->object);
    wfi_free(buffer);
    *handle = NULL;
}

WFI_DESTROY_AFTER(buffer)

VkBuffer wf_buffer_handle(const wf_buffer *buffer)
{
    return buffer->vk;
}

uint64_t wf_buffer_size(const wf_buffer *buffer)
{
    return buffer->bytes;
}

void *wf_buffer_mapped(const wf_buffer *buffer)
{
    return buffer->mapped;
}
