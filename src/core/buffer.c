#include "core/buffer.h"

#include <stdlib.h>
#include <string.h>

#include "core/command.h"
#include "core/names.h"

#define STAGING_BYTES (UINT64_C(64) << 20)

static wf_result create_vk_buffer(wf_buffer *buffer)
{
    wf_device *device = buffer->device;
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = buffer->bytes,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                 (device->caps.max_texel_elements ? VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT : 0),
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    const VkResult vk =
        device->fn.vkCreateBuffer(device->vk, &info, device->allocator, &buffer->vk);
    wfi_name(device, VK_OBJECT_TYPE_BUFFER, WFI_HANDLE(buffer->vk), "buffer of %llu bytes",
             (unsigned long long)buffer->bytes);
    return wfi_check_vk(&device->log, vk, "vkCreateBuffer");
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

static void destroy_later(void *owner)
{
    wf_buffer *buffer = owner;
    wf_buffer_destroy(&buffer);
}

wf_result wf_buffer_destroy_after(wf_buffer **handle, VkSemaphore timeline, uint64_t value)
{
    wf_buffer *buffer = handle ? *handle : NULL;
    if (!buffer)
        return WF_SUCCESS;
    wf_result result = wfi_doom_after(buffer->device, "wf_buffer_destroy_after", &buffer->doom,
                                      timeline, value, destroy_later, buffer);
    if (result == WF_SUCCESS)
        *handle = NULL;
    return result;
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

typedef struct copy_job {
    wf_device *device;
    const wf_buffer *from, *to;
    uint64_t from_offset, to_offset, bytes;
} copy_job;

static wf_result record_copy(void *user, VkCommandBuffer command_buffer)
{
    const copy_job *job = user;
    wfi_record_copy(job->device, command_buffer, job->from, job->from_offset, job->to,
                    job->to_offset, job->bytes);
    return WF_SUCCESS;
}

/* Moves data through a staging buffer in pieces; exactly one of `in` and `out` is given. */
static wf_result transfer(wf_buffer *buffer, uint64_t offset, const unsigned char *in,
                          unsigned char *out, uint64_t bytes)
{
    const uint64_t piece = bytes < STAGING_BYTES ? bytes : STAGING_BYTES;
    wf_buffer *staging = NULL;
    wf_result result = wf_buffer_create(buffer->device, piece,
                                        in ? WF_MEMORY_UPLOAD : WF_MEMORY_READBACK, &staging);
    for (uint64_t done = 0; result == WF_SUCCESS && done < bytes;) {
        const uint64_t n = bytes - done < piece ? bytes - done : piece;
        copy_job job = {buffer->device,         in ? staging : buffer,  in ? buffer : staging,
                        in ? 0 : offset + done, in ? offset + done : 0, n};
        if (in)
            memcpy(staging->mapped, in + done, (size_t)n);
        result = wfi_run(buffer->device, record_copy, &job);
        if (out && result == WF_SUCCESS)
            memcpy(out + done, staging->mapped, (size_t)n);
        done += n;
    }
    wf_buffer_destroy(&staging);
    return result;
}

wf_result wf_buffer_write(wf_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes)
{
    wf_result result = check_range(buffer, offset, bytes);
    if (result != WF_SUCCESS || bytes == 0)
        return result;
    if (!data)
        return no_data(buffer);
    if (!buffer->mapped)
        return transfer(buffer, offset, data, NULL, bytes);
    memcpy((unsigned char *)buffer->mapped + offset, data, (size_t)bytes);
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
        return transfer(buffer, offset, NULL, data, bytes);
    memcpy(data, (unsigned char *)buffer->mapped + offset, (size_t)bytes);
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
