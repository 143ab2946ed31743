#include "core/staging.h"

#include <stdlib.h>

#include "core/heap.h"
#include "core/names.h"

#define LEAST_RING (UINT64_C(256) << 10)

static void close_staging(wf_device *device)
{
    wfi_staging *staging = device->staging;
    if (staging->mover_end)
        staging->mover_end(&staging->mover);
    wfi_workers_close(&staging->workers);
    wf_buffer_destroy(&staging->ring);
    for (int i = 0; i < WFI_STAGING_SLOTS && !device->keeps; i++)
        if (staging->slots[i].fence)
            device->fn.vkDestroyFence(device->vk, staging->slots[i].fence, device->allocator);
    if (staging->pool && !device->keeps)
        device->fn.vkDestroyCommandPool(device->vk, staging->pool, device->allocator);
    wfi_condition_destroy(&staging->mover.done);
    wfi_condition_destroy(&staging->mover.wake);
    wfi_mutex_destroy(&staging->mover.lock);
    wfi_mutex_destroy(&staging->lock);
    wfi_free(staging);
    device->staging = NULL;
}

static bool make_mover_locks(wfi_mover *mover)
{
    if (!wfi_mutex_init(&mover->lock))
        return false;
    if (wfi_condition_init(&mover->wake)) {
        if (wfi_condition_init(&mover->done))
            return true;
        wfi_condition_destroy(&mover->wake);
    }
    wfi_mutex_destroy(&mover->lock);
    return false;
}

static wfi_staging *make_staging(void)
{
    wfi_staging *staging = wfi_calloc(1, sizeof *staging);
    if (!staging)
        return NULL;
    staging->threads = wfi_copy_threads();
    if (wfi_mutex_init(&staging->lock)) {
        if (wfi_workers_open(&staging->workers, staging->threads - 1)) {
            if (make_mover_locks(&staging->mover))
                return staging;
            wfi_workers_close(&staging->workers);
        }
        wfi_mutex_destroy(&staging->lock);
    }
    wfi_free(staging);
    return NULL;
}

wf_result wfi_staging_of(wf_device *device, wfi_staging **out)
{
    wfi_mutex_lock(&device->staging_lock);
    if (!device->staging) {
        const wfi_heap outer = wfi_heap_enter_device(device);
        device->staging = make_staging();
        device->staging_end = close_staging;
        wfi_heap_leave(outer, WF_SUCCESS);
    }
    *out = device->staging;
    wfi_mutex_unlock(&device->staging_lock);
    return *out ? WF_SUCCESS : wfi_no_memory(&device->log);
}

static wf_result make_slots(wf_device *device, wfi_staging *staging)
{
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags =
            VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT | VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
        .queueFamilyIndex = device->queue_family,
    };
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkResult vk = VK_SUCCESS;
    if (!staging->pool)
        vk = WFI_MADE(
            device->fn.vkCreateCommandPool(device->vk, &pool, device->allocator, &staging->pool),
            &staging->pool);
    for (int i = 0; i < WFI_STAGING_SLOTS && vk >= VK_SUCCESS; i++) {
        wfi_staging_slot *slot = &staging->slots[i];
        const VkCommandBufferAllocateInfo allocate = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
            .commandPool = staging->pool,
            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
            .commandBufferCount = 1,
        };
        if (!slot->command_buffer)
            vk = device->fn.vkAllocateCommandBuffers(device->vk, &allocate, &slot->command_buffer);
        if (vk >= VK_SUCCESS && !slot->fence)
            vk = WFI_MADE(
                device->fn.vkCreateFence(device->vk, &fence, device->allocator, &slot->fence),
                &slot->fence);
        if (vk < VK_SUCCESS)
            break;
        wfi_name(device, VK_OBJECT_TYPE_COMMAND_BUFFER, (uint64_t)(uintptr_t)slot->command_buffer,
                 "transfers: commands %d", i);
        wfi_name(device, VK_OBJECT_TYPE_FENCE, WFI_HANDLE(slot->fence), "transfers: fence %d", i);
    }
    if (vk >= VK_SUCCESS)
        wfi_name(device, VK_OBJECT_TYPE_COMMAND_POOL, WFI_HANDLE(staging->pool),
                 "transfers: command pool");
    return wfi_check_vk(&device->log, vk, "making command buffers for transfers");
}

/* The largest ring up to `bytes` that takes no more than a quarter of the memory that is left. */
static uint64_t ring_bytes(const wf_device *device, uint64_t bytes)
{
    const uint64_t most = wfi_memory_left(device, WF_MEMORY_READBACK) / 4;
    uint64_t size = LEAST_RING;
    while (size < bytes && 2 * size <= most)
        size *= 2;
    return size;
}

/* The ring grows with what is moved, since pinned memory takes the system longer to give than a
 * small transfer lasts. */
static wf_result make_ring(wf_device *device, wfi_staging *staging, uint64_t bytes)
{
    if (staging->ring && staging->ring->bytes >= bytes)
        return WF_SUCCESS;
    const uint64_t size = ring_bytes(device, bytes);
    if (staging->ring && staging->ring->bytes >= size)
        return WF_SUCCESS;
    wf_buffer_destroy(&staging->ring);
    return wf_buffer_create(device, size, WF_MEMORY_READBACK, &staging->ring);
}

wf_result wfi_staging_prepare(wf_device *device, uint64_t bytes)
{
    if (!device->queue)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "wf_device_adopt was given no queue: wavefit cannot run anything itself");
    wf_result result = make_slots(device, device->staging);
    return result == WF_SUCCESS ? make_ring(device, device->staging, bytes) : result;
}
