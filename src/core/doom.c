#include "core/doom.h"

#include "core/block.h"
#include "core/device.h"

static VkResult value_of(const wf_device *device, VkSemaphore timeline, uint64_t *value)
{
    return device->fn.vkGetSemaphoreCounterValue
               ? device->fn.vkGetSemaphoreCounterValue(device->vk, timeline, value)
               : device->fn.vkGetSemaphoreCounterValueKHR(device->vk, timeline, value);
}

/* Takes objects whose semaphore has its value off the list, and destroys them without holding the
 * lock, which their destruction takes. */
static uint32_t collect(wf_device *device, bool all)
{
    wfi_doom *ready = NULL;
    uint32_t left = 0;
    wfi_mutex_lock(&device->objects_lock);
    for (wfi_doom **at = &device->doomed; *at;) {
        wfi_doom *doom = *at;
        uint64_t value = 0;
        if (!all &&
            (value_of(device, doom->timeline, &value) != VK_SUCCESS || value < doom->value)) {
            at = &doom->next;
            left++;
            continue;
        }
        *at = doom->next;
        doom->next = ready;
        ready = doom;
    }
    wfi_mutex_unlock(&device->objects_lock);
    while (ready) {
        wfi_doom *doom = ready;
        ready = doom->next;
        doom->destroy(doom->owner);
    }
    return left;
}

static wf_result closed(const wf_device *device, const char *function)
{
    return wfi_fail(&device->log, WF_ERROR_DEVICE_CLOSED,
                    "%s: the device of this object was destroyed", function);
}

wf_result wfi_doom_after(wf_device *device, const char *function, wfi_doom *doom,
                         VkSemaphore timeline, uint64_t value, void (*destroy)(void *owner),
                         void *owner)
{
    if (!device->vk)
        return closed(device, function);
    if (!timeline)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT, "%s: no semaphore", function);
    if (!device->fn.vkGetSemaphoreCounterValue && !device->fn.vkGetSemaphoreCounterValueKHR)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "%s: the device has no timeline semaphores (Vulkan 1.2 or "
                        "VK_KHR_timeline_semaphore)",
                        function);
    *doom = (wfi_doom){.timeline = timeline, .value = value, .destroy = destroy, .owner = owner};
    wfi_mutex_lock(&device->objects_lock);
    doom->next = device->doomed;
    device->doomed = doom;
    wfi_mutex_unlock(&device->objects_lock);
    collect(device, false);
    return WF_SUCCESS;
}

void wfi_doom_all(wf_device *device)
{
    collect(device, true);
}

wf_result wf_device_collect(wf_device *device, uint32_t *left)
{
    if (!device)
        return WF_ERROR_INVALID_ARGUMENT;
    if (!device->vk)
        return closed(device, "wf_device_collect");
    const uint32_t waiting = collect(device, false);
    wfi_blocks_free(device);
    if (left)
        *left = waiting;
    return WF_SUCCESS;
}
