#include "core/chunk.h"

#include "core/block.h"
#include "core/budget.h"
#include "core/heap.h"
#include "core/names.h"

#define GRAIN 256u /* so that buffers share no cache line */
#define MOST_RANGES (WFI_CHUNK_BYTES / GRAIN / 2 + 1)

typedef struct range {
    uint64_t offset, bytes;
} range;

/* All members are under the device's memory_lock. */
struct wfi_chunk {
    wfi_chunk *next;
    wfi_block block;
    uint32_t users, free_count;
    range free[MOST_RANGES]; /* in order of their offsets, none touches the next */
};

static uint64_t round_up(uint64_t value, uint64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

static void remove_range(wfi_chunk *chunk, uint32_t index)
{
    for (uint32_t i = index + 1; i < chunk->free_count; i++)
        chunk->free[i - 1] = chunk->free[i];
    chunk->free_count--;
}

static void insert_range(wfi_chunk *chunk, uint32_t index, range r)
{
    for (uint32_t i = chunk->free_count; i > index; i--)
        chunk->free[i] = chunk->free[i - 1];
    chunk->free[index] = r;
    chunk->free_count++;
}

/* Takes `bytes` from the first free range that has them; what alignment skips stays free. */
static bool take_range(wfi_chunk *chunk, uint64_t bytes, uint64_t alignment, uint64_t *offset)
{
    for (uint32_t i = 0; i < chunk->free_count; i++) {
        const range r = chunk->free[i];
        const uint64_t start = round_up(r.offset, alignment), end = r.offset + r.bytes;
        if (start > end || bytes > end - start)
            continue;
        remove_range(chunk, i);
        if (start + bytes < end)
            insert_range(chunk, i, (range){start + bytes, end - start - bytes});
        if (start > r.offset)
            insert_range(chunk, i, (range){r.offset, start - r.offset});
        *offset = start;
        return true;
    }
    return false;
}

static void free_range(wfi_chunk *chunk, range r)
{
    uint32_t i = 0;
    while (i < chunk->free_count && chunk->free[i].offset < r.offset)
        i++;
    if (i < chunk->free_count && r.offset + r.bytes == chunk->free[i].offset) {
        r.bytes += chunk->free[i].bytes;
        remove_range(chunk, i);
    }
    if (i > 0 && chunk->free[i - 1].offset + chunk->free[i - 1].bytes == r.offset)
        chunk->free[i - 1].bytes += r.bytes;
    else
        insert_range(chunk, i, r);
}

/* Memory for a chunk. What is kept for buffers to come goes first where the budget ends. */
static bool have_block(wf_device *device, uint32_t type, bool mapped, wfi_block *out)
{
    const uint32_t heap = device->memory.memoryTypes[type].heapIndex;
    const uint64_t left = wfi_budget_left(device, heap);
    const wfi_block wanted = {.bytes = WFI_CHUNK_BYTES, .type = type};
    if (wfi_block_take(device, &wanted, mapped, out))
        return true;
    if (WFI_CHUNK_BYTES > left)
        return false;
    if (WFI_CHUNK_BYTES + wfi_blocks_kept(device, heap) > left)
        wfi_blocks_free(device);
    return wfi_block_allocate(device, &wanted, mapped, out) >= VK_SUCCESS;
}

static bool add_chunk(wf_device *device, uint32_t type, bool mapped)
{
    wfi_chunk *chunk = wfi_calloc(1, sizeof *chunk);
    if (!chunk)
        return false;
    if (!have_block(device, type, mapped, &chunk->block)) {
        wfi_free(chunk);
        return false;
    }
    wfi_name(device, VK_OBJECT_TYPE_DEVICE_MEMORY, WFI_HANDLE(chunk->block.memory),
             "memory of small buffers");
    chunk->free[chunk->free_count++] = (range){0, WFI_CHUNK_BYTES};
    chunk->next = device->chunks;
    device->chunks = chunk;
    return true;
}

static wfi_chunk *find(wf_device *device, uint64_t bytes, uint64_t alignment, bool mapped,
                       wf_memory_block *block)
{
    for (wfi_chunk *chunk = device->chunks; chunk; chunk = chunk->next) {
        if (chunk->block.type != block->type || (chunk->block.at != NULL) != mapped ||
            !take_range(chunk, bytes, alignment, &block->offset))
            continue;
        chunk->users++;
        block->memory = chunk->block.memory;
        block->mapped = mapped ? (unsigned char *)chunk->block.at + block->offset : NULL;
        return chunk;
    }
    return NULL;
}

wfi_chunk *wfi_chunk_take(wf_device *device, const VkMemoryRequirements *requirements, bool mapped,
                          wf_memory_block *block)
{
    const uint64_t bytes = round_up(requirements->size, GRAIN),
                   alignment = round_up(requirements->alignment, GRAIN);
    if (bytes > WFI_CHUNK_MOST || alignment > WFI_CHUNK_MOST)
        return NULL;
    wfi_mutex_lock(&device->memory_lock);
    wfi_chunk *chunk = find(device, bytes, alignment, mapped, block);
    if (!chunk && add_chunk(device, block->type, mapped))
        chunk = find(device, bytes, alignment, mapped, block);
    wfi_mutex_unlock(&device->memory_lock);
    return chunk;
}

void wfi_chunk_leave(wf_device *device, wfi_chunk *chunk, uint64_t offset, uint64_t bytes)
{
    wfi_chunk **at = &device->chunks;
    wfi_mutex_lock(&device->memory_lock);
    free_range(chunk, (range){offset, round_up(bytes, GRAIN)});
    if (--chunk->users == 0) {
        while (*at != chunk)
            at = &(*at)->next;
        *at = chunk->next;
        wfi_block_leave(device, &chunk->block);
        wfi_free(chunk);
    }
    wfi_mutex_unlock(&device->memory_lock);
}
