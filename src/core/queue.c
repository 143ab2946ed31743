#include "core/queue.h"

#include "core/caps.h"
#include "core/clock.h"
#include "core/device_kind.h"

#define SETTLE_TRIES 100
#define SETTLE_PAUSE_SECONDS 0.01 /* a second in all */

#define BETWEEN_NANOSECONDS 50000 /* how often an event is asked for that takes long */

static VkResult wait_idle(wf_device *device)
{
    if (device->lock_queue)
        device->lock_queue(device->queue_user);
    VkResult vk = device->fn.vkQueueWaitIdle(device->queue);
    if (device->unlock_queue)
        device->unlock_queue(device->queue_user);
    for (int i = 0; i < WFI_SIDE_QUEUES && vk >= VK_SUCCESS; i++)
        if (device->sides[i].vk != device->queue)
            vk = device->fn.vkQueueWaitIdle(device->sides[i].vk);
    return vk;
}

/* The fence covers our own work alone and needs no lock of the application's; where waiting for it
 * fails, the queue is waited for. By Vulkan's rules a device that both report lost has ended its
 * work, but not every driver keeps to that. */
void wfi_settle(wf_device *device, VkFence fence)
{
    for (int i = 0; i < SETTLE_TRIES && !device->keeps; i++) {
        if (fence &&
            device->fn.vkWaitForFences(device->vk, 1, &fence, VK_TRUE, UINT64_MAX) == VK_SUCCESS)
            return;
        const VkResult vk = wait_idle(device);
        const bool idle = wfi_device_kind_of(&device->caps)->lost_means_idle;
        if (vk == VK_SUCCESS || (vk == VK_ERROR_DEVICE_LOST && idle))
            return;
        wfi_sleep(SETTLE_PAUSE_SECONDS);
    }
    if (!device->keeps)
        wfi_log_write(
            &device->log, WF_LOG_WARNING,
            "the driver does not say whether its work has ended: what it may use is kept");
    device->keeps = true;
}

void wf_device_poll(wf_device *device, double seconds)
{
    if (device && wfi_device_kind_of(&device->caps)->poll_seconds > 0)
        device->poll_seconds = seconds > 0 ? seconds : 0;
}

static VkResult wait(wf_device *device, VkFence fence, double poll_seconds, uint64_t nanoseconds)
{
    const double start = poll_seconds > 0 ? wfi_host_seconds() : 0;
    while (poll_seconds > 0) {
        const VkResult vk = device->fn.vkGetFenceStatus(device->vk, fence);
        if (vk != VK_NOT_READY)
            return vk;
        const double waited = wfi_host_seconds() - start;
        if (waited * 1e9 > (double)nanoseconds)
            return VK_TIMEOUT;
        if (waited > poll_seconds)
            break;
    }
    return device->fn.vkWaitForFences(device->vk, 1, &fence, VK_TRUE, nanoseconds);
}

VkResult wfi_wait_for(wf_device *device, VkFence fence, uint64_t nanoseconds)
{
    return wait(device, fence, device->poll_seconds, nanoseconds);
}

VkResult wfi_wait(wf_device *device, VkFence fence)
{
    return wait(device, fence, device->poll_seconds, UINT64_MAX);
}

VkResult wfi_wait_patiently(wf_device *device, VkFence fence, double times)
{
    return wait(device, fence, times * device->poll_seconds, UINT64_MAX);
}

/* Nothing sleeps until an event is set: it is asked for between short waits for the fence. */
VkResult wfi_wait_event(wf_device *device, VkEvent event, VkFence fence, uint64_t nanoseconds)
{
    const double start = wfi_host_seconds();
    VkResult vk;
    while ((vk = device->fn.vkGetEventStatus(device->vk, event)) == VK_EVENT_RESET) {
        const double waited = wfi_host_seconds() - start;
        if (waited * 1e9 > (double)nanoseconds)
            return VK_TIMEOUT;
        if (waited <= device->poll_seconds)
            continue;
        vk = device->fn.vkWaitForFences(device->vk, 1, &fence, VK_TRUE, BETWEEN_NANOSECONDS);
        if (vk != VK_TIMEOUT)
            return vk;
    }
    return vk == VK_EVENT_SET ? VK_SUCCESS : vk;
}

VkResult wfi_submit_to(wf_device *device, VkQueue queue, const VkSubmitInfo *submit, VkFence fence)
{
    if (device->lock_queue)
        device->lock_queue(device->queue_user);
    device->submitted = true;
    const VkResult vk = device->fn.vkQueueSubmit(queue, 1, submit, fence);
    if (device->unlock_queue)
        device->unlock_queue(device->queue_user);
    if (vk == VK_ERROR_DEVICE_LOST) /* of all failures, after this one some of it may have begun */
        wfi_settle(device, VK_NULL_HANDLE);
    return vk;
}

VkResult wfi_submit(wf_device *device, const VkSubmitInfo *submit, VkFence fence)
{
    return wfi_submit_to(device, device->queue, submit, fence);
}
