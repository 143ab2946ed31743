/* What a device keeps for transfers: memory that the host writes and the device's copies read, or
 * the other way, command buffers for them, and threads that copy beside the caller's. */
#ifndef WFI_CORE_STAGING_H
#define WFI_CORE_STAGING_H

#include <stdatomic.h>

#include "core/buffer.h"
#include "core/workers.h"

#define WFI_STAGING_SLOTS 8

/* A copy by the device. */
typedef struct wfi_staging_copy {
    VkBuffer from, to;
    uint64_t numbers[2]; /* of the two buffers (wf_buffer.number); 0: one of them has none */
    VkBufferCopy region;
    bool first, to_host; /* nothing of its transfer was submitted before it; the host reads it */
} wfi_staging_copy;

typedef struct wfi_staging_slot {
    VkCommandBuffer command_buffer;
    VkFence fence;
    wfi_staging_copy recorded; /* what the command buffer does, if its buffers have numbers */
} wfi_staging_slot;

/* The thread that makes transfers which nobody waits for yet (mover.c). */
typedef struct wfi_mover {
    wfi_mutex lock;
    wfi_condition wake, done;
    wfi_thread thread;
    bool started, ends;
    wf_transfer *first; /* under way; the others follow it */
} wfi_mover;

typedef struct wfi_staging {
    wfi_mutex lock; /* what follows: transfers of a device take turns */
    wfi_workers workers;
    uint32_t threads; /* that copy, the caller's among them */
    VkCommandPool pool;
    wfi_staging_slot slots[WFI_STAGING_SLOTS];
    wf_buffer *ring; /* NULL: none is made yet */
    wf_host_memory *imported;
    atomic_uint imports; /* how many these are, also for threads that do not have the lock */
    wfi_mover mover;
    void (*mover_end)(wfi_mover *mover); /* NULL: it never began */
} wfi_staging;

/* The device's staging, made now if it is not there yet: locks alone, since memory, command buffers
 * and threads are made by the transfers that need them. It ends with the device. */
wf_result wfi_staging_of(wf_device *device, wfi_staging **out);

/* Sees to it that there are command buffers, and a ring of `bytes` bytes or, where as much cannot
 * be had, of less. The caller holds the lock. WF_ERROR_UNSUPPORTED: a device without a queue. */
wf_result wfi_staging_prepare(wf_device *device, uint64_t bytes);

#endif
