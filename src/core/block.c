#include "core/block.h"

#include "core/device_kind.h"

/* Of a card's own memory one part in so many is kept, and of the host's so many bytes. */
#define PART_OF_CARD 32
#define MOST_OF_HOST (UINT64_C(64) << 20)
#define PAGE (UINT64_C(2) << 20) /* of a GPU */

static bool has_cards_memory(const wf_device *device)
{
    return wfi_device_kind_of(&device->caps)->card && !device->memory_source.allocate;
}

/* On NVIDIA's driver loads all over 12 MB and more take half the time in dedicated allocations
 * (bench/notes/spmv.md#dedicated); no other driver was timed. */
bool wfi_blocks_are_dedicated(const wf_device *device)
{
    return has_cards_memory(device);
}

void wfi_blocks_keep(wf_device *device)
{
    const VkPhysicalDeviceMemoryProperties *memory = &device->memory;
    if (!has_cards_memory(device))
        return;
    for (uint32_t i = 0; i < memory->memoryHeapCount; i++)
        device->kept_most[i] = memory->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT
                                   ? memory->memoryHeaps[i].size / PART_OF_CARD
                                   : MOST_OF_HOST;
}

static uint32_t heap_of(const wf_device *device, const wfi_block *block)
{
    return device->memory.memoryTypes[block->type].heapIndex;
}

/* The caller holds the lock. */
static wfi_block unkeep(wf_device *device, uint32_t index)
{
    const wfi_block block = device->kept[index];
    for (uint32_t i = index + 1; i < device->kept_count; i++)
        device->kept[i - 1] = device->kept[i];
    device->kept_count--;
    atomic_fetch_sub(&device->kept_bytes[heap_of(device, &block)], block.bytes);
    return block;
}

static uint64_t whole_pages(uint64_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

uint64_t wfi_block_extent(const wf_device *device, uint64_t bytes)
{
    const uint64_t extent = whole_pages(bytes);
    return device->dedicates && bytes >= PAGE && extent <= device->caps.max_buffer ? extent : 0;
}

/* Bytes of an allocation: whole pages where it may be kept, so that sizes recur, but those of its
 * buffer where it is dedicated to one. */
static uint64_t rounded(const wf_device *device, const wfi_block *wanted)
{
    const uint64_t bytes = wanted->bytes,
                   most = device->kept_most[device->memory.memoryTypes[wanted->type].heapIndex];
    return !wanted->extent && bytes >= PAGE && bytes <= most ? whole_pages(bytes) : bytes;
}

static bool serves(const wf_device *device, const wfi_block *kept, const wfi_block *wanted)
{
    if (kept->type != wanted->type || !kept->extent != !wanted->extent)
        return false;
    if (wanted->extent)
        return kept->extent >= wanted->extent &&
               kept->extent <= wanted->extent + wanted->extent / 8;
    return kept->bytes >= wanted->bytes &&
           kept->bytes <= rounded(device, wanted) + wanted->bytes / 8;
}

bool wfi_block_take(wf_device *device, const wfi_block *wanted, bool mapped, wfi_block *out)
{
    uint32_t best = WFI_KEPT_BLOCKS;
    wfi_mutex_lock(&device->kept_lock);
    for (uint32_t i = 0; i < device->kept_count; i++) {
        const wfi_block *b = &device->kept[i];
        if ((b->at != NULL) == mapped && serves(device, b, wanted) &&
            (best == WFI_KEPT_BLOCKS || b->bytes < device->kept[best].bytes))
            best = i;
    }
    if (best < WFI_KEPT_BLOCKS)
        *out = unkeep(device, best);
    wfi_mutex_unlock(&device->kept_lock);
    return best < WFI_KEPT_BLOCKS;
}

/* lavapipe (Mesa 25.0.7) reports a success where the process may have no more address space, and
 * gives the address by which mmap fails. */
VkResult wfi_block_map(wf_device *device, VkDeviceMemory memory, void **at)
{
    VkResult vk = WFI_MADE(device->fn.vkMapMemory(device->vk, memory, 0, VK_WHOLE_SIZE, 0, at), at);
    if (vk == VK_SUCCESS && (uintptr_t)*at == UINTPTR_MAX) {
        *at = NULL;
        vk = VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    return vk;
}

static VkResult allocate(wf_device *device, bool mapped, wfi_block *block)
{
    const VkMemoryDedicatedAllocateInfo own = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
        .buffer = block->buffer,
    };
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = block->extent ? &own : NULL,
        .allocationSize = block->bytes,
        .memoryTypeIndex = block->type,
    };
    VkResult vk =
        WFI_MADE(device->fn.vkAllocateMemory(device->vk, &info, device->allocator, &block->memory),
                 &block->memory);
    if (vk < VK_SUCCESS || !mapped)
        return vk;
    vk = wfi_block_map(device, block->memory, &block->at);
    if (vk < VK_SUCCESS) {
        device->fn.vkFreeMemory(device->vk, block->memory, device->allocator);
        block->memory = VK_NULL_HANDLE;
    }
    return vk;
}

VkResult wfi_block_allocate(wf_device *device, const wfi_block *wanted, bool mapped, wfi_block *out)
{
    *out = *wanted;
    out->bytes = rounded(device, wanted);
    VkResult vk = allocate(device, mapped, out);
    if (vk < VK_SUCCESS && wfi_blocks_free(device) > 0)
        vk = allocate(device, mapped, out);
    return vk;
}

static void free_block(wf_device *device, const wfi_block *block)
{
    if (block->buffer && !device->keeps)
        device->fn.vkDestroyBuffer(device->vk, block->buffer, device->allocator);
    if (block->memory && !device->keeps)
        device->fn.vkFreeMemory(device->vk, block->memory, device->allocator);
}

void wfi_block_leave(wf_device *device, const wfi_block *block)
{
    const uint32_t heap = heap_of(device, block);
    /* What the device may still use is not for others. */
    if (!block->memory || device->keeps || block->bytes > device->kept_most[heap]) {
        free_block(device, block);
        return;
    }
    wfi_mutex_lock(&device->kept_lock);
    while (device->kept_count == WFI_KEPT_BLOCKS ||
           atomic_load(&device->kept_bytes[heap]) + block->bytes > device->kept_most[heap]) {
        uint32_t oldest = 0; /* of this heap, where that is what is full */
        while (device->kept_count < WFI_KEPT_BLOCKS &&
               heap_of(device, &device->kept[oldest]) != heap)
            oldest++;
        const wfi_block old = unkeep(device, oldest);
        free_block(device, &old);
    }
    device->kept[device->kept_count++] = *block;
    atomic_fetch_add(&device->kept_bytes[heap], block->bytes);
    wfi_mutex_unlock(&device->kept_lock);
}

uint32_t wfi_blocks_free(wf_device *device)
{
    wfi_mutex_lock(&device->kept_lock);
    const uint32_t count = device->kept_count;
    while (device->kept_count > 0) {
        const wfi_block block = unkeep(device, device->kept_count - 1);
        free_block(device, &block);
    }
    wfi_mutex_unlock(&device->kept_lock);
    return count;
}

uint64_t wfi_blocks_kept(const wf_device *device, uint32_t heap)
{
    return atomic_load(&device->kept_bytes[heap]);
}
