#include "core/memory.h"

#include <stdlib.h>

#include "core/budget.h"

#define MOST_RANGES (WFI_BLOCK_BYTES / GRAIN / 2 + 1)
#define GRAIN 256u /* of what shares a block: neighbours share no cache line */

typedef struct range {
    uint64_t offset, bytes;
} range;

/* An allocation that several share, mapped or not as they are. */
struct wfi_block {
    wfi_block *next;
    uint32_t type;
    bool map;
    VkDeviceMemory vk;
    unsigned char *mapped;
    uint32_t users, free_count;
    range free[MOST_RANGES]; /* in order of their offsets, none touches the next */
};

/* ---------------------------------------------------------------------------------------- types */

/* The memory type among `allowed` with all of `wanted` and as much of `preferred` as can be had;
 * UINT32_MAX when none has `wanted`. */
static uint32_t find_type(const VkPhysicalDeviceMemoryProperties *memory, uint32_t allowed,
                          VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags preferred)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
        const VkMemoryPropertyFlags flags = memory->memoryTypes[i].propertyFlags;
        if (!(allowed & (UINT32_C(1) << i)) || (flags & wanted) != wanted)
            continue;
        if (best == UINT32_MAX || (flags & preferred) == preferred) {
            best = i;
            if ((flags & preferred) == preferred)
                break;
        }
    }
    return best;
}

uint32_t wfi_memory_type(const wf_device *device, uint32_t allowed, wf_memory kind)
{
    const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
                                coherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    const VkPhysicalDeviceMemoryProperties *memory = &device->memory;
    if (kind == WF_MEMORY_UPLOAD)
        return find_type(memory, allowed, visible | coherent, 0);
    if (kind == WFI_MEMORY_MAPPED)
        return find_type(memory, allowed, visible | coherent, local);
    if (kind == WF_MEMORY_READBACK)
        return find_type(memory, allowed, visible | coherent, cached);
    const VkMemoryPropertyFlags preferred =
        device->caps.unified_memory ? visible | coherent | cached : 0;
    uint32_t type = find_type(memory, allowed, local, preferred);
    return type != UINT32_MAX ? type : find_type(memory, allowed, 0, 0);
}

/* ---------------------------------------------------------------------------------- allocations */

static VkResult allocate(wf_device *device, uint64_t bytes, uint32_t type, bool map,
                         VkDeviceMemory *vk_memory, unsigned char **mapped)
{
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = bytes,
        .memoryTypeIndex = type,
    };
    void *at = NULL;
    VkResult vk = device->fn.vkAllocateMemory(device->vk, &info, device->allocator, vk_memory);
    if (vk >= VK_SUCCESS && map) {
        vk = device->fn.vkMapMemory(device->vk, *vk_memory, 0, VK_WHOLE_SIZE, 0, &at);
        if (vk < VK_SUCCESS) {
            device->fn.vkFreeMemory(device->vk, *vk_memory, device->allocator);
            *vk_memory = VK_NULL_HANDLE;
        }
    }
    *mapped = at;
    return vk;
}

/* -------------------------------------------------------------------------------------- blocks */

static uint64_t round_up(uint64_t value, uint64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

static void remove_range(wfi_block *block, uint32_t index)
{
    for (uint32_t i = index + 1; i < block->free_count; i++)
        block->free[i - 1] = block->free[i];
    block->free_count--;
}

static void insert_range(wfi_block *block, uint32_t index, range r)
{
    for (uint32_t i = block->free_count; i > index; i--)
        block->free[i] = block->free[i - 1];
    block->free[index] = r;
    block->free_count++;
}

/* Takes `bytes` from the first free range that has them; what alignment skips stays free. */
static bool take_range(wfi_block *block, uint64_t bytes, uint64_t alignment, uint64_t *offset)
{
    for (uint32_t i = 0; i < block->free_count; i++) {
        const range r = block->free[i];
        const uint64_t start = round_up(r.offset, alignment), end = r.offset + r.bytes;
        if (start > end || bytes > end - start)
            continue;
        remove_range(block, i);
        if (start + bytes < end)
            insert_range(block, i, (range){start + bytes, end - start - bytes});
        if (start > r.offset)
            insert_range(block, i, (range){r.offset, start - r.offset});
        *offset = start;
        return true;
    }
    return false;
}

static void free_range(wfi_block *block, range r)
{
    uint32_t i = 0;
    while (i < block->free_count && block->free[i].offset < r.offset)
        i++;
    if (i < block->free_count && r.offset + r.bytes == block->free[i].offset) {
        r.bytes += block->free[i].bytes;
        remove_range(block, i);
    }
    if (i > 0 && block->free[i - 1].offset + block->free[i - 1].bytes == r.offset)
        block->free[i - 1].bytes += r.bytes;
    else
        insert_range(block, i, r);
}

static VkResult add_block(wf_device *device, uint32_t type, bool map)
{
    wfi_block *block = calloc(1, sizeof *block);
    if (!block)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    const VkResult vk = allocate(device, WFI_BLOCK_BYTES, type, map, &block->vk, &block->mapped);
    if (vk < VK_SUCCESS) {
        free(block);
        return vk;
    }
    block->type = type;
    block->map = map;
    block->free[block->free_count++] = (range){0, WFI_BLOCK_BYTES};
    block->next = device->blocks;
    device->blocks = block;
    return vk;
}

/* The caller holds the lock. */
static bool take_from_block(wf_device *device, uint64_t bytes, uint64_t alignment, uint32_t type,
                            bool map, wfi_memory *out)
{
    for (wfi_block *block = device->blocks; block; block = block->next) {
        uint64_t offset;
        if (block->type != type || block->map != map ||
            !take_range(block, bytes, alignment, &offset))
            continue;
        block->users++;
        *out = (wfi_memory){.vk = block->vk,
                            .offset = offset,
                            .bytes = bytes,
                            .mapped = block->mapped ? block->mapped + offset : NULL,
                            .block = block};
        return true;
    }
    return false;
}

static void leave_block(wf_device *device, const wfi_memory *memory)
{
    wfi_block *block = memory->block, **at = &device->blocks;
    pthread_mutex_lock(&device->memory_lock);
    free_range(block, (range){memory->offset, memory->bytes});
    if (--block->users == 0) {
        while (*at != block)
            at = &(*at)->next;
        *at = block->next;
        if (!device->keeps)
            device->fn.vkFreeMemory(device->vk, block->vk, device->allocator);
        free(block);
    }
    pthread_mutex_unlock(&device->memory_lock);
}

/* Past its budget a driver may page, or the system may end the program: neither is wanted. */
static wf_result check_budget(const wf_device *device, uint64_t bytes, uint64_t left)
{
    if (bytes <= left)
        return WF_SUCCESS;
    return wfi_fail(&device->log, WF_ERROR_OUT_OF_DEVICE_MEMORY,
                    "a buffer of %llu bytes is over the %llu that the memory budget leaves",
                    (unsigned long long)bytes, (unsigned long long)left);
}

wf_result wfi_memory_take(wf_device *device, const VkMemoryRequirements *needs, uint32_t type,
                          bool map, wfi_memory *out)
{
    const uint64_t alignment = round_up(needs->alignment, GRAIN),
                   bytes = round_up(needs->size, GRAIN);
    const bool small = bytes <= WFI_BLOCK_MOST && alignment <= WFI_BLOCK_MOST;
    const uint32_t heap = device->memory.memoryTypes[type].heapIndex;
    bool found = false;
    *out = (wfi_memory){0};
    pthread_mutex_lock(&device->memory_lock);
    if (small)
        found = take_from_block(device, bytes, alignment, type, map, out);
    const uint64_t left = found ? UINT64_MAX : wfi_budget_left(device, heap);
    if (small && !found && WFI_BLOCK_BYTES <= left && add_block(device, type, map) >= VK_SUCCESS)
        found = take_from_block(device, bytes, alignment, type, map, out);
    pthread_mutex_unlock(&device->memory_lock);
    if (found)
        return WF_SUCCESS;
    wf_result result = check_budget(device, needs->size, left);
    if (result != WF_SUCCESS)
        return result;
    const VkResult vk = allocate(device, needs->size, type, map, &out->vk, &out->mapped);
    out->bytes = needs->size;
    if (vk < VK_SUCCESS)
        wfi_log_write(&device->log, WF_LOG_INFO, "a buffer of %llu bytes was wanted",
                      (unsigned long long)needs->size);
    return wfi_check_vk(&device->log, vk, "allocating device memory");
}

void wfi_memory_give_back(wf_device *device, wfi_memory *memory)
{
    if (memory->block)
        leave_block(device, memory);
    else if (memory->vk && !device->keeps)
        device->fn.vkFreeMemory(device->vk, memory->vk, device->allocator);
    *memory = (wfi_memory){0};
}
