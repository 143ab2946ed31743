#include "core/heap.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "core/platform.h"

#define FIRST_ROOM 64u /* items of an array that grows */

/* As aligned as anything in C; Microsoft's compiler has no max_align_t. */
typedef union widest {
    long double number;
    long long integer;
    void *pointer;
} widest;

/* Before each block: who gave it. */
typedef struct header {
    alignas(widest) size_t bytes; /* of the block */
    void *user;
    PFN_vkAllocationFunction allocate;
    PFN_vkFreeFunction free; /* NULL: the C library's */
} header;

static WFI_THREAD_LOCAL wfi_heap current;

wfi_heap wfi_heap_enter(wfi_heap allocator)
{
    const wfi_heap outer = current;
    current = allocator;
    return outer;
}

wfi_heap wfi_heap_enter_device(const wf_device *device)
{
    return wfi_heap_enter(device ? device->allocator : current);
}

wf_result wfi_heap_leave(wfi_heap outer, wf_result result)
{
    current = outer;
    return result;
}

static header *of_application(const header *from, size_t bytes)
{
    header *h = from->allocate(from->user, sizeof *h + bytes, alignof(header),
                               VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
    if (h)
        *h = (header){bytes, from->user, from->allocate, from->free};
    return h;
}

static void *allocate(size_t bytes, bool zeroed)
{
    header *h;
    if (bytes > SIZE_MAX - sizeof *h)
        return NULL;
    if (current) {
        const header from = {0, current->pUserData, current->pfnAllocation, current->pfnFree};
        h = of_application(&from, bytes);
        if (h && zeroed)
            memset(h + 1, 0, bytes);
    } else {
        /* The system's fresh pages are zero already, which calloc knows. */
        h = zeroed ? calloc(1, sizeof *h + bytes) : malloc(sizeof *h + bytes);
        if (h)
            *h = (header){.bytes = bytes};
    }
    return h ? h + 1 : NULL;
}

void *wfi_malloc(size_t bytes)
{
    return allocate(bytes, false);
}

void *wfi_calloc(size_t count, size_t bytes)
{
    return bytes && count > SIZE_MAX / bytes ? NULL : allocate(count * bytes, true);
}

void *wfi_realloc(void *block, size_t bytes)
{
    if (!block)
        return wfi_malloc(bytes);
    header *old = (header *)block - 1;
    if (bytes > SIZE_MAX - sizeof *old)
        return NULL;
    if (!old->free) {
        header *h = realloc(old, sizeof *h + bytes);
        if (h)
            h->bytes = bytes;
        return h ? h + 1 : NULL;
    }
    header *h = of_application(old, bytes);
    if (!h)
        return NULL;
    memcpy(h + 1, block, bytes < old->bytes ? bytes : old->bytes);
    wfi_free(block);
    return h + 1;
}

void wfi_free(void *block)
{
    header *h = block ? (header *)block - 1 : NULL;
    if (!h)
        return;
    if (h->free)
        h->free(h->user, h);
    else
        free(h);
}

void *wfi_grown(void *items, uint32_t count, uint32_t *room, size_t item_bytes)
{
    if (count < *room)
        return items;
    const uint32_t more = *room ? *room * 2 : FIRST_ROOM;
    void *larger = wfi_realloc(items, more * item_bytes);
    if (larger)
        *room = more;
    return larger;
}
