/* The library's host memory: the application's wf_device_params.allocator gives it, or the C
 * library where there is none. */
#ifndef WFI_CORE_HEAP_H
#define WFI_CORE_HEAP_H

#include <stddef.h>

#include <vulkan/vulkan_core.h>

#include "wavefit/wavefit.h"

/* The allocator of the calls that this thread is in; NULL: the C library. Public functions that
 * allocate enter that of their device and leave it at their end. */
typedef const VkAllocationCallbacks *wfi_heap;

/* Returns what was there before, for wfi_heap_leave. */
wfi_heap wfi_heap_enter(wfi_heap allocator);
wfi_heap wfi_heap_enter_device(const wf_device *device); /* NULL: nothing changes */
/* Goes back to `outer` and returns `result`. */
wf_result wfi_heap_leave(wfi_heap outer, wf_result result);

/* As the C library's, from where this thread's calls take memory. A block keeps to its allocator:
 * any thread may free it or make it larger, at any time. */
void *wfi_malloc(size_t bytes);
void *wfi_calloc(size_t count, size_t bytes);
void *wfi_realloc(void *block, size_t bytes);
void wfi_free(void *block);

/* The array of `count` items with room for one more, which *room counts; NULL without memory: the
 * array is as it was. */
void *wfi_grown(void *items, uint32_t count, uint32_t *room, size_t item_bytes);

#endif
