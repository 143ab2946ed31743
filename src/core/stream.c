#include "core/stream.h"

#include "core/clock.h"
#include "core/command.h"
#include "core/names.h"
#include "core/queue.h"

static wfi_side_queue queue_of(const wf_device *device, wfi_stream_queue queue)
{
    return queue == WFI_STREAM_KERNELS  ? device->sides[WFI_SIDE_KERNELS]
           : queue == WFI_STREAM_COPIES ? device->sides[WFI_SIDE_COPIES]
                                        : (wfi_side_queue){device->queue, device->queue_family};
}

static wf_result make_slots(wfi_stream *s)
{
    wf_device *device = s->device;
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = s->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    VkResult vk = VK_SUCCESS;
    for (int i = 0; i < WFI_STREAM_SLOTS && vk >= VK_SUCCESS; i++) {
        vk =
            device->fn.vkAllocateCommandBuffers(device->vk, &allocate, &s->slots[i].command_buffer);
        if (vk < VK_SUCCESS)
            break;
        wfi_name(device, VK_OBJECT_TYPE_COMMAND_BUFFER,
                 (uint64_t)(uintptr_t)s->slots[i].command_buffer, "stream: commands %d", i);
        vk = WFI_MADE(
            device->fn.vkCreateFence(device->vk, &fence, device->allocator, &s->slots[i].fence),
            &s->slots[i].fence);
        wfi_name(device, VK_OBJECT_TYPE_FENCE, WFI_HANDLE(s->slots[i].fence), "stream: fence %d",
                 i);
    }
    return wfi_check_vk(&device->log, vk, "making command buffers");
}

wf_result wfi_stream_open(wf_device *device, wfi_stream_queue queue, wfi_stream *out)
{
    const bool copies = queue == WFI_STREAM_COPIES;
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = queue_of(device, queue).family,
    };
    const VkQueryPoolCreateInfo queries = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = 2 * WFI_STREAM_SLOTS,
    };
    *out = (wfi_stream){.device = device, .queue = queue};
    wf_result result = wfi_device_usable(device, "running on the queue");
    if (result != WF_SUCCESS)
        return result;
    if (!device->queue)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "wf_device_adopt was given no queue: wavefit cannot run anything itself");
    VkResult vk =
        WFI_MADE(device->fn.vkCreateCommandPool(device->vk, &pool, device->allocator, &out->pool),
                 &out->pool);
    if (vk >= VK_SUCCESS && device->caps.timestamp_valid_bits && !copies)
        vk = WFI_MADE(
            device->fn.vkCreateQueryPool(device->vk, &queries, device->allocator, &out->queries),
            &out->queries);
    wfi_name(device, VK_OBJECT_TYPE_COMMAND_POOL, WFI_HANDLE(out->pool), "stream: command pool");
    wfi_name(device, VK_OBJECT_TYPE_QUERY_POOL, WFI_HANDLE(out->queries), "stream: timestamps");
    result = wfi_check_vk(&device->log, vk, "creating a command pool");
    return result == WF_SUCCESS ? make_slots(out) : result;
}

void wfi_stream_close(wfi_stream *s)
{
    wf_device *device = s->device;
    double seconds = 0;
    if (!device)
        return;
    while (!wfi_stream_idle(s))
        wfi_stream_wait(s, &seconds);
    if (device->keeps) {
        *s = (wfi_stream){0};
        return;
    }
    for (int i = 0; i < WFI_STREAM_SLOTS; i++)
        if (s->slots[i].fence)
            device->fn.vkDestroyFence(device->vk, s->slots[i].fence, device->allocator);
    if (s->queries)
        device->fn.vkDestroyQueryPool(device->vk, s->queries, device->allocator);
    if (s->pool)
        device->fn.vkDestroyCommandPool(device->vk, s->pool, device->allocator);
    *s = (wfi_stream){0};
}

bool wfi_stream_full(const wfi_stream *s)
{
    return s->submitted - s->waited == WFI_STREAM_SLOTS;
}

bool wfi_stream_idle(const wfi_stream *s)
{
    return s->submitted == s->waited;
}

static void stamp(const wfi_stream *s, VkCommandBuffer command_buffer, uint32_t slot, uint32_t end)
{
    if (s->queries)
        s->device->fn.vkCmdWriteTimestamp(command_buffer,
                                          end ? VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT
                                              : VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                                          s->queries, 2 * slot + end);
}

static wf_result record_slot(const wfi_stream *s, uint32_t slot, bool behind, wfi_record_fn record,
                             void *user)
{
    wf_device *device = s->device;
    VkCommandBuffer command_buffer = s->slots[slot].command_buffer;
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    wf_result result =
        wfi_check_vk(&device->log, device->fn.vkBeginCommandBuffer(command_buffer, &info),
                     "beginning a command buffer");
    if (result != WF_SUCCESS)
        return result;
    if (behind)
        wfi_barrier(device, command_buffer);
    if (s->queries)
        device->fn.vkCmdResetQueryPool(command_buffer, s->queries, 2 * slot, 2);
    stamp(s, command_buffer, slot, 0);
    result = record(user, command_buffer);
    if (result != WF_SUCCESS)
        return result;
    stamp(s, command_buffer, slot, 1);
    if (s->queue == WFI_STREAM_COPIES)
        wfi_barrier_copies_host(device, command_buffer);
    else
        wfi_barrier_host(device, command_buffer);
    return wfi_check_vk(&device->log, device->fn.vkEndCommandBuffer(command_buffer),
                        "vkEndCommandBuffer");
}

static wf_result submit(wfi_stream *s, bool behind, const wfi_stream_links *links,
                        wfi_record_fn record, void *user)
{
    static const VkPipelineStageFlags all[] = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                               VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
    const bool second = !links->wait[0]; /* the first one that there is */
    wf_device *device = s->device;
    const uint32_t slot = s->submitted % WFI_STREAM_SLOTS;
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .waitSemaphoreCount = (links->wait[0] ? 1 : 0) + (links->wait[1] ? 1 : 0),
        .pWaitSemaphores = links->wait + second,
        .pWaitDstStageMask = all,
        .commandBufferCount = 1,
        .pCommandBuffers = &s->slots[slot].command_buffer,
        .signalSemaphoreCount = links->signal ? 1 : 0,
        .pSignalSemaphores = &links->signal,
    };
    wf_result result = record_slot(s, slot, behind, record, user);
    if (result != WF_SUCCESS)
        return result;
    wfi_mutex_lock(&device->queue_lock);
    /* Reset before the submission, since a wait that failed may have left the fence signalled. */
    VkResult vk = device->fn.vkResetFences(device->vk, 1, &s->slots[slot].fence);
    s->slots[slot].submitted = wfi_host_seconds();
    if (vk >= VK_SUCCESS)
        vk = wfi_submit_to(device, queue_of(device, s->queue).vk, &submit, s->slots[slot].fence);
    wfi_mutex_unlock(&device->queue_lock);
    result = wfi_check_vk(&device->log, vk, "vkQueueSubmit");
    s->submitted += result == WF_SUCCESS;
    return result;
}

static const wfi_stream_links none;

wf_result wfi_stream_submit(wfi_stream *s, wfi_record_fn record, void *user)
{
    return submit(s, true, &none, record, user);
}

wf_result wfi_stream_submit_beside(wfi_stream *s, wfi_record_fn record, void *user)
{
    return submit(s, false, &none, record, user);
}

wf_result wfi_stream_submit_linked(wfi_stream *s, const wfi_stream_links *links,
                                   wfi_record_fn record, void *user)
{
    return submit(s, false, links, record, user);
}

wf_result wfi_stream_wait(wfi_stream *s, double *seconds)
{
    wf_device *device = s->device;
    const uint32_t at = s->waited % WFI_STREAM_SLOTS;
    wfi_stream_slot *slot = &s->slots[at];
    uint64_t ticks[2] = {0, 0};
    s->waited++;
    VkResult vk = wfi_wait(device, slot->fence);
    const double now = wfi_host_seconds();
    *seconds = now - (slot->submitted > s->idle_since ? slot->submitted : s->idle_since);
    s->idle_since = now;
    if (vk < VK_SUCCESS) {
        wfi_mutex_lock(&device->queue_lock);
        wfi_settle(device, slot->fence);
        wfi_mutex_unlock(&device->queue_lock);
    }
    if (vk >= VK_SUCCESS && s->queries) {
        vk = device->fn.vkGetQueryPoolResults(device->vk, s->queries, 2 * at, 2, sizeof ticks,
                                              ticks, sizeof *ticks,
                                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
        if (vk == VK_SUCCESS)
            *seconds = wfi_seconds_between(device, ticks, *seconds);
    }
    return wfi_check_vk(&device->log, vk, "waiting for a submission");
}
