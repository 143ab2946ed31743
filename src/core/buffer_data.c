/* Writing, reading and filling buffers. */
#include <stdatomic.h>

#include "core/command.h"
#include "core/host_memory.h"
#include "core/transfer.h"

/* Up to this size the host writes an H100's memory directly in less time (27 to 32 GB/s from 4 MiB
 * on) than a copy through staging takes; for more bytes the device's copies are faster. */
#define WINDOW_MOST (UINT64_C(16) << 20)
/* But from here on not for imported memory, which the device copies itself: on an H200 42 us for 53
 * by the host, 103 for 147 of 4 MiB. */
#define WINDOW_IMPORTED_MOST (UINT64_C(512) << 10)

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

wf_result wfi_buffer_check(const wf_buffer *buffer, uint64_t offset, const void *data,
                           uint64_t bytes)
{
    const wf_result result = check_range(buffer, offset, bytes);
    return result == WF_SUCCESS && bytes && !data ? no_data(buffer) : result;
}

/* Whether the host writes the bytes where they belong, in place of a transfer. */
static bool writes_directly(const wf_buffer *buffer, const void *data, uint64_t bytes)
{
    return buffer->mapped ||
           (buffer->window && bytes <= WINDOW_MOST &&
            (bytes <= WINDOW_IMPORTED_MOST || !wfi_host_memory_has(buffer->device, data, bytes)));
}

wf_result wf_buffer_write(wf_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes)
{
    const wf_result result = wfi_buffer_check(buffer, offset, data, bytes);
    if (result != WF_SUCCESS || bytes == 0)
        return result;
    if (!writes_directly(buffer, data, bytes))
        return wfi_transfer_data(buffer, offset, data, NULL, bytes);
    wfi_copy(buffer->device, buffer->window + offset, data, bytes);
    atomic_thread_fence(memory_order_seq_cst); /* flushes write-combining buffers */
    return WF_SUCCESS;
}

wf_result wf_buffer_read(wf_buffer *buffer, uint64_t offset, void *data, uint64_t bytes)
{
    const wf_result result = wfi_buffer_check(buffer, offset, data, bytes);
    if (result != WF_SUCCESS || bytes == 0)
        return result;
    if (!buffer->mapped)
        return wfi_transfer_data(buffer, offset, NULL, data, bytes);
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

typedef struct copy_job {
    const wf_buffer *from, *to;
    uint64_t from_offset, to_offset, bytes;
} copy_job;

static wf_result record_copy(void *user, VkCommandBuffer command_buffer)
{
    const copy_job *job = user;
    wfi_record_copy(job->to->device, command_buffer, job->from, job->from_offset, job->to,
                    job->to_offset, job->bytes);
    return WF_SUCCESS;
}

wf_result wf_buffer_copy(const wf_buffer *from, uint64_t from_offset, wf_buffer *to,
                         uint64_t to_offset, uint64_t bytes)
{
    wf_result result = check_range(from, from_offset, bytes);
    if (result == WF_SUCCESS)
        result = check_range(to, to_offset, bytes);
    if (result != WF_SUCCESS || bytes == 0)
        return result;
    if (from == to || from->device != to->device)
        return wfi_fail(&to->device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_buffer_copy: the buffers must be two of one device");
    if (from->mapped && to->mapped) {
        wfi_copy(to->device, (unsigned char *)to->mapped + to_offset,
                 (const unsigned char *)from->mapped + from_offset, bytes);
        return WF_SUCCESS;
    }
    copy_job job = {from, to, from_offset, to_offset, bytes};
    return wfi_run(to->device, record_copy, &job);
}
