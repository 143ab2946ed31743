#include "core/command.h"

#include "core/buffer.h"
#include "core/caps.h"
#include "core/clock.h"
#include "core/names.h"
#include "core/queue.h"

/* Made at the first submission: a device that only compiles (a driver without its card, an engine
 * that submits itself) never needs them. */
static wf_result create_submission(wf_device *device)
{
    if (device->submission_made)
        return WF_SUCCESS;
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
        .queueFamilyIndex = device->queue_family,
    };
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkQueryPoolCreateInfo queries = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = 2,
    };
    VkResult vk = VK_SUCCESS;
    if (!device->command_pool)
        vk = WFI_MADE(device->fn.vkCreateCommandPool(device->vk, &pool, device->allocator,
                                                     &device->command_pool),
                      &device->command_pool);
    if (vk >= VK_SUCCESS && !device->fence)
        vk = WFI_MADE(
            device->fn.vkCreateFence(device->vk, &fence, device->allocator, &device->fence),
            &device->fence);
    if (vk >= VK_SUCCESS && !device->queries && device->caps.timestamp_valid_bits)
        vk = WFI_MADE(
            device->fn.vkCreateQueryPool(device->vk, &queries, device->allocator, &device->queries),
            &device->queries);
    device->submission_made = vk >= VK_SUCCESS;
    wfi_name(device, VK_OBJECT_TYPE_COMMAND_POOL, WFI_HANDLE(device->command_pool),
             "runs: command pool");
    wfi_name(device, VK_OBJECT_TYPE_FENCE, WFI_HANDLE(device->fence), "runs: fence");
    wfi_name(device, VK_OBJECT_TYPE_QUERY_POOL, WFI_HANDLE(device->queries), "runs: timestamps");
    return wfi_check_vk(&device->log, vk, "creating the command pool");
}

static wf_result begin(wf_device *device, VkCommandBufferUsageFlags usage,
                       VkCommandBuffer *command_buffer)
{
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = device->command_pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = usage,
    };
    VkResult vk = device->fn.vkAllocateCommandBuffers(device->vk, &allocate, command_buffer);
    if (vk >= VK_SUCCESS) {
        wfi_name(device, VK_OBJECT_TYPE_COMMAND_BUFFER, (uint64_t)(uintptr_t)*command_buffer,
                 "run");
        vk = device->fn.vkBeginCommandBuffer(*command_buffer, &info);
    }
    return wfi_check_vk(&device->log, vk, "beginning a command buffer");
}

static void barrier_to_host(wf_device *device, VkCommandBuffer command_buffer,
                            VkPipelineStageFlags stages, VkAccessFlags writes)
{
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = writes,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    device->fn.vkCmdPipelineBarrier(command_buffer, stages, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                                    &barrier, 0, NULL, 0, NULL);
}

void wfi_barrier_host(wf_device *device, VkCommandBuffer command_buffer)
{
    barrier_to_host(device, command_buffer,
                    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                    VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
}

void wfi_barrier_copies_host(wf_device *device, VkCommandBuffer command_buffer)
{
    barrier_to_host(device, command_buffer, VK_PIPELINE_STAGE_TRANSFER_BIT,
                    VK_ACCESS_TRANSFER_WRITE_BIT);
}

static wf_result submit_and_wait(wf_device *device, VkCommandBuffer command_buffer, double times)
{
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &command_buffer,
    };
    /* Reset before the submission, since a run that failed may have left the fence signalled. */
    VkResult vk = device->fn.vkResetFences(device->vk, 1, &device->fence);
    if (vk >= VK_SUCCESS)
        vk = wfi_submit(device, &submit, device->fence);
    if (vk >= VK_SUCCESS) {
        vk = wfi_wait_patiently(device, device->fence, times);
        if (vk < VK_SUCCESS)
            wfi_settle(device, device->fence);
    }
    return wfi_check_vk(&device->log, vk, "running a command buffer");
}

static void write_timestamp(wf_device *device, VkCommandBuffer command_buffer, uint32_t query)
{
    device->fn.vkCmdWriteTimestamp(command_buffer,
                                   query == 0 ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT
                                              : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                   device->queries, query);
}

double wfi_seconds_between(wf_device *device, const uint64_t ticks[2], double host_seconds)
{
    const uint32_t bits = device->caps.timestamp_valid_bits;
    const uint64_t elapsed = wfi_ticks_between(ticks[0], ticks[1], bits);
    const double seconds = (double)elapsed * device->caps.timestamp_period_ns * 1e-9;
    const bool backwards = elapsed >> (bits - 1) != 0 && seconds > 2 * host_seconds;
    const bool errs = elapsed == 0 || backwards;
    if (errs && !atomic_exchange(&device->clock_told, true))
        wfi_log_write(&device->log, WF_LOG_WARNING,
                      "the device's timestamps %s: the host's clock is used where they do",
                      backwards ? "run backwards" : "stand still");
    device->clock_errs = errs;
    return errs ? host_seconds : seconds;
}

/* *seconds are those that the host waited. */
static wf_result read_timestamps(wf_device *device, double *seconds)
{
    uint64_t ticks[2] = {0, 0};
    VkResult vk = device->fn.vkGetQueryPoolResults(
        device->vk, device->queries, 0, 2, sizeof ticks, ticks, sizeof *ticks,
        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (vk < VK_SUCCESS)
        return wfi_check_vk(&device->log, vk, "vkGetQueryPoolResults");
    *seconds = wfi_seconds_between(device, ticks, *seconds);
    return WF_SUCCESS;
}

/* The caller holds the queue lock, here and below. */
static wf_result make_ready(wf_device *device)
{
    wf_result result = wfi_device_usable(device, "running on the queue");
    if (result == WF_SUCCESS && !device->queue)
        result = wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                          "wf_device_adopt was given no queue: wavefit cannot run anything itself");
    return result == WF_SUCCESS ? create_submission(device) : result;
}

static wf_result end(wf_device *device, VkCommandBuffer command_buffer, bool to_host)
{
    if (to_host)
        wfi_barrier_host(device, command_buffer);
    return wfi_check_vk(&device->log, device->fn.vkEndCommandBuffer(command_buffer),
                        "vkEndCommandBuffer");
}

static void free_commands(wf_device *device, VkCommandBuffer command_buffer)
{
    if (command_buffer && !device->keeps)
        device->fn.vkFreeCommandBuffers(device->vk, device->command_pool, 1, &command_buffer);
}

/* Where `seconds` is NULL, nothing is timed. `times`: as in wfi_run_patiently. */
static wf_result run_locked(wf_device *device, wfi_record_fn prepare, wfi_record_fn record,
                            void *user, double times, double *seconds)
{
    VkCommandBuffer command_buffer = VK_NULL_HANDLE;
    wf_result result = make_ready(device);
    const bool stamps = seconds && device->queries;
    if (result == WF_SUCCESS)
        result = begin(device, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, &command_buffer);
    if (result == WF_SUCCESS && prepare)
        result = prepare(user, command_buffer);
    if (result == WF_SUCCESS) {
        /* What earlier submissions and the host wrote is visible to this one. */
        wfi_barrier(device, command_buffer);
        if (stamps) {
            device->fn.vkCmdResetQueryPool(command_buffer, device->queries, 0, 2);
            write_timestamp(device, command_buffer, 0);
        }
        result = record(user, command_buffer);
    }
    if (result == WF_SUCCESS) {
        if (stamps)
            write_timestamp(device, command_buffer, 1);
        result = end(device, command_buffer, true);
    }
    if (result == WF_SUCCESS) {
        const double start = wfi_host_seconds();
        result = submit_and_wait(device, command_buffer, times);
        if (seconds)
            *seconds = wfi_host_seconds() - start;
    }
    if (result == WF_SUCCESS && stamps)
        result = read_timestamps(device, seconds);
    free_commands(device, command_buffer);
    return result;
}

wf_result wfi_commands_record(wf_device *device, wfi_record_fn record, void *user, bool to_host,
                              VkCommandBuffer *out)
{
    VkCommandBuffer command_buffer = VK_NULL_HANDLE;
    wfi_mutex_lock(&device->queue_lock);
    wf_result result = make_ready(device);
    if (result == WF_SUCCESS)
        result = begin(device, 0, &command_buffer);
    if (result == WF_SUCCESS) {
        wfi_barrier(device, command_buffer);
        result = record(user, command_buffer);
    }
    if (result == WF_SUCCESS)
        result = end(device, command_buffer, to_host);
    if (result == WF_SUCCESS)
        *out = command_buffer;
    else
        free_commands(device, command_buffer);
    wfi_mutex_unlock(&device->queue_lock);
    return result;
}

wf_result wfi_commands_run(wf_device *device, VkCommandBuffer command_buffer)
{
    wfi_mutex_lock(&device->queue_lock);
    wf_result result = make_ready(device);
    if (result == WF_SUCCESS)
        result = submit_and_wait(device, command_buffer, 1);
    wfi_mutex_unlock(&device->queue_lock);
    return result;
}

void wfi_commands_free(wf_device *device, VkCommandBuffer command_buffer)
{
    wfi_mutex_lock(&device->queue_lock);
    free_commands(device, command_buffer);
    wfi_mutex_unlock(&device->queue_lock);
}

wf_result wfi_run_patiently(wf_device *device, wfi_record_fn record, void *user, double times)
{
    wfi_mutex_lock(&device->queue_lock);
    wf_result result = run_locked(device, NULL, record, user, times, NULL);
    wfi_mutex_unlock(&device->queue_lock);
    return result;
}

wf_result wfi_run(wf_device *device, wfi_record_fn record, void *user)
{
    return wfi_run_patiently(device, record, user, 1);
}

wf_result wfi_run_timed(wf_device *device, wfi_record_fn prepare, wfi_record_fn record, void *user,
                        double *seconds, bool *gpu_clock)
{
    wfi_mutex_lock(&device->queue_lock);
    wf_result result = run_locked(device, prepare, record, user, 1, seconds);
    wfi_mutex_unlock(&device->queue_lock);
    *gpu_clock = device->queries != VK_NULL_HANDLE && !device->clock_errs;
    return result;
}

static void barrier(wf_device *device, VkCommandBuffer command_buffer, VkPipelineStageFlags stages,
                    VkAccessFlags writes, VkAccessFlags accesses)
{
    const VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = writes,
        .dstAccessMask = accesses,
    };
    device->fn.vkCmdPipelineBarrier(command_buffer, stages, stages, 0, 1, &memory, 0, NULL, 0,
                                    NULL);
}

void wfi_barrier(wf_device *device, VkCommandBuffer command_buffer)
{
    const VkAccessFlags writes = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier(device, command_buffer,
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, writes,
            writes | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT);
}

void wfi_barrier_compute(wf_device *device, VkCommandBuffer command_buffer)
{
    barrier(device, command_buffer, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
            VK_ACCESS_SHADER_WRITE_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

void wfi_barrier_indirect(wf_device *device, VkCommandBuffer command_buffer, bool conditional)
{
    const VkPipelineStageFlags readers =
        VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT |
        (conditional ? VK_PIPELINE_STAGE_CONDITIONAL_RENDERING_BIT_EXT : 0);
    const VkAccessFlags reads = VK_ACCESS_INDIRECT_COMMAND_READ_BIT |
                                (conditional ? VK_ACCESS_CONDITIONAL_RENDERING_READ_BIT_EXT : 0);
    barrier(device, command_buffer, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | readers,
            VK_ACCESS_SHADER_WRITE_BIT,
            VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | reads);
}

void wfi_condition_begin(wf_device *device, VkCommandBuffer command_buffer, const wf_buffer *buffer,
                         uint64_t offset)
{
    const VkConditionalRenderingBeginInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_CONDITIONAL_RENDERING_BEGIN_INFO_EXT,
        .buffer = buffer->vk,
        .offset = offset,
    };
    device->fn.vkCmdBeginConditionalRenderingEXT(command_buffer, &info);
}

void wfi_condition_end(wf_device *device, VkCommandBuffer command_buffer)
{
    device->fn.vkCmdEndConditionalRenderingEXT(command_buffer);
}

void wfi_record_copy(wf_device *device, VkCommandBuffer command_buffer, const wf_buffer *from,
                     uint64_t from_offset, const wf_buffer *to, uint64_t to_offset, uint64_t bytes)
{
    const VkBufferCopy region = {from_offset, to_offset, bytes};
    device->fn.vkCmdCopyBuffer(command_buffer, from->vk, to->vk, 1, &region);
}
