#include "core/buffer.h"

#include <stdlib.h>

#include "core/command.h"
#include "core/transfer.h"

static wf_result create_vk_buffer(wf_buffer *buffer)
{
    wf_device *device = buffer->device;
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = buffer->bytes,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                 (device->caps.max_texel_elements ? VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT : 0),
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    return wfi_check_vk(
        &device->log, device->fn.vkCreateBuffer(device->vk, &info, device->allocator, &buffer->vk),
        "vkCreateBuffer");
}

static void close_buffer(void *owner)
{
    wf_buffer *buffer = owner;
    wf_device *device = buffer->device;
    if (buffer->vk && !device->keeps)
        device->fn.vkDestroyBuffer(device->vk, buffer->vk, device->allocator);
    wfi_memory_free(device, &buffer->memory);
    buffer->vk = VK_NULL_HANDLE;
    buffer->mapped = NULL;
}

wf_result wf_buffer_create(wf_device *device, uint64_t bytes, wf_memory memory, wf_buffer **out)
{
    if (!device || !out || bytes == 0)
        return wfi_fail(device ? &device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_buffer_create: bad parameters");
    if (wfi_device_usable(device, "wf_buffer_create") != WF_SUCCESS)
        return WF_ERROR_DEVICE_CLOSED;
    if (bytes > device->caps.max_buffer)
        return wfi_fail(&device->log, WF_ERROR_TOO_LARGE,
                        "a buffer of %llu bytes is over this device's limit of %llu",
                        (unsigned long long)bytes, (unsigned long long)device->caps.max_buffer);
    wf_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return wfi_no_memory(&device->log);
    buffer->device = device;
    buffer->number = atomic_fetch_add(&device->buffer_count, 1) + 1;
    wfi_object_enlist(device, &buffer->object, close_buffer, buffer);
    buffer->bytes = (bytes + 3) & ~UINT64_C(3); /* fills work in words */
    wf_result result = create_vk_buffer(buffer);
    if (result == WF_SUCCESS)
        result = wfi_memory_allocate(device, buffer->vk, memory, &buffer->memory);
    buffer->mapped = buffer->memory.block.mapped;
    if (result != WF_SUCCESS) {
        wf_buffer_destroy(&buffer);
        return result;
    }
    *out = buffer;
    return WF_SUCCESS;
}

void wf_buffer_destroy(wf_buffer **handle)
{
    wf_buffer *buffer = handle ? *handle : NULL;
    if (!buffer)
        return;
    close_buffer(buffer);
    wfi_object_leave(&buffer->object);
    free(buffer);
    *handle = NULL;
}

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

static wf_result check_range(const wf_buffer *buffer, uint64_t offset, uint64_t bytes)
{
    if (!buffer)
        return WF_ERROR_INVALID_ARGUMENT;
    if (wfi_device_usable(buffer->device, "a buffer") != WF_SUCCESS)
        return WF_ERROR_DEVICE_CLOSED;
    if (offset > buffer->bytes || bytes > buffer->bytes - offset)
        return wfi_fail(&buffer->device->log, WF_ERROR_INVALID_ARGUMENT,
                        "the range %llu + %llu is outside a buffer of %llu bytes",
                        (unsigned long long)offset, (unsigned long long)bytes,
                        (unsigned long long)buffer->bytes);
    return WF_SUCCESS;
}

static wf_result no_data(const wf_buffer *buffer)
{
    return wfi_fail(&buffer->device->log, WF_ERROR_INVALID_ARGUMENT, "a buffer: data is NULL");
}

wf_result wf_buffer_write(wf_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes)
{
    wf_result result = check_range(buffer, offset, bytes);
    if (result != WF_SUCCESS || bytes == 0)
        return result;
    if (!data)
        return no_data(buffer);
    if (!buffer->mapped)
        return wfi_transfer_staged(buffer, offset, data, NULL, bytes);
    wfi_copy(buffer->device, (unsigned char *)buffer->mapped + offset, data, bytes);
    return WF_SUCCESS;
}

wf_result wf_buffer_read(wf_buffer *buffer, uint64_t offset, void *data, uint64_t bytes)
{
    wf_result result = check_range(buffer, offset, bytes);
    if (result != WF_SUCCESS || bytes == 0)
        return result;
    if (!data)
        return no_data(buffer);
    if (!buffer->mapped)
        return wfi_transfer_staged(buffer, offset, NULL, data, bytes);
    wfi_copy(buffer->device, data, (unsigned char *)buffer->mapped + offset, bytes);
    return WF_SUCCESS;
}

typedef struct fill_job {
    const wf_buffer *buffer;
    uint64_t offset, bytes;
    uint32_t value;
} fill_job;

static wf_result record_fill(void *user, VkCommandBuffer command_buffer)
{
    const fill_job *job = user;
    const wf_device *device = job->buffer->device;
    device->fn.vkCmdFillBuffer(command_buffer, job->buffer->vk, job->offset, job->bytes,
                               job->value);
    return WF_SUCCESS;
}

wf_result wf_buffer_fill(wf_buffer *buffer, uint64_t offset, uint64_t bytes, uint32_t value)
{
    wf_result result = check_range(buffer, offset, bytes);
    if (result != WF_SUCCESS || bytes == 0)
        return result;
    if (offset % 4 || bytes % 4)
        return wfi_fail(&buffer->device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_buffer_fill: offset and bytes must be multiples of 4");
    if (buffer->mapped) {
        uint32_t *words = (uint32_t *)((unsigned char *)buffer->mapped + offset);
        for (uint64_t i = 0; i < bytes / 4; i++)
            words[i] = value;
        return WF_SUCCESS;
    }
    fill_job job = {buffer, offset, bytes, value};
    return wfi_run(buffer->device, record_fill, &job);
}
