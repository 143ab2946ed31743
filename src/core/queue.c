#include "core/queue.h"

#include <time.h>

#include "core/caps.h"

#define SETTLE_TRIES 100
#define SETTLE_PAUSE_NS 10000000L /* a second in all */

static VkResult wait_idle(wf_device *device)
{
    if (device->lock_queue)
        device->lock_queue(device->queue_user);
    const VkResult vk = device->fn.vkQueueWaitIdle(device->queue);
    if (device->unlock_queue)
        device->unlock_queue(device->queue_user);
    return vk;
}

/* The fence alone tells of our own work, and needs no lock of the application's. Where it tells
 * nothing the queue is asked. A device that both call lost has ended its work by Vulkan's rules, but
 * a CPU driver's threads may not know of them. */
void wfi_settle(wf_device *device, VkFence fence)
{
    for (int i = 0; i < SETTLE_TRIES && !device->keeps; i++) {
        if (fence &&
            device->fn.vkWaitForFences(device->vk, 1, &fence, VK_TRUE, UINT64_MAX) == VK_SUCCESS)
            return;
        const VkResult vk = wait_idle(device);
        if (vk == VK_SUCCESS || (vk == VK_ERROR_DEVICE_LOST && !wfi_is_cpu(&device->caps)))
            return;
        nanosleep(&(struct timespec){.tv_nsec = SETTLE_PAUSE_NS}, NULL);
    }
    if (!device->keeps)
        wfi_log_write(
            &device->log, WF_LOG_WARNING,
            "the driver does not say whether its work has ended: what it may use is kept");
    device->keeps = true;
}

VkResult wfi_submit(wf_device *device, const VkSubmitInfo *submit, VkFence fence)
{
    if (device->lock_queue)
        device->lock_queue(device->queue_user);
    const VkResult vk = device->fn.vkQueueSubmit(device->queue, 1, submit, fence);
    if (device->unlock_queue)
        device->unlock_queue(device->queue_user);
    if (vk == VK_ERROR_DEVICE_LOST) /* the one failure after which some of it may have begun */
        wfi_settle(device, VK_NULL_HANDLE);
    return vk;
}
