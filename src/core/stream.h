/* Submissions that follow each other on one of the device's queues while the host records the next:
 * two are under way at a time, so that the device does not wait for the host. */
#ifndef WFI_CORE_STREAM_H
#define WFI_CORE_STREAM_H

#include "core/command.h"

#define WFI_STREAM_SLOTS 2

/* The device's own queue, or one that works beside it (wf_device.sides): for kernels, or for copies
 * alone, without timestamps. */
typedef enum wfi_stream_queue {
    WFI_STREAM_FIRST,
    WFI_STREAM_KERNELS,
    WFI_STREAM_COPIES
} wfi_stream_queue;

typedef struct wfi_stream_slot {
    VkCommandBuffer command_buffer;
    VkFence fence;
    double submitted; /* host clock */
} wfi_stream_slot;

typedef struct wfi_stream {
    wf_device *device;
    wfi_stream_queue queue;
    VkCommandPool pool;
    VkQueryPool queries; /* two a slot; none where the queue has no timestamps */
    wfi_stream_slot slots[WFI_STREAM_SLOTS];
    uint32_t submitted, waited; /* submissions so far; slot n % WFI_STREAM_SLOTS */
    double idle_since;          /* host clock at the end of the last wait */
} wfi_stream;

/* Semaphores of a submission; VK_NULL_HANDLE: none. It begins when all of `wait` are signalled,
 * which they thereby are no more, and signals the other when it has ended. */
typedef struct wfi_stream_links {
    VkSemaphore wait[2], signal;
} wfi_stream_links;

/* WF_ERROR_UNSUPPORTED: an adopted device without a queue. */
wf_result wfi_stream_open(wf_device *device, wfi_stream_queue queue, wfi_stream *out);
/* Waits for what is under way. Accepts a half-open or zeroed stream. */
void wfi_stream_close(wfi_stream *stream);

bool wfi_stream_full(const wfi_stream *stream);
bool wfi_stream_idle(const wfi_stream *stream);
/* Records and submits without waiting; the stream must not be full. What the commands write is
 * visible to the host after wfi_stream_wait and to later submissions. */
wf_result wfi_stream_submit(wfi_stream *stream, wfi_record_fn record, void *user);
/* The same for commands that need nothing of the submission before and may run beside it. */
wf_result wfi_stream_submit_beside(wfi_stream *stream, wfi_record_fn record, void *user);
/* The same behind and before submissions to other queues. */
wf_result wfi_stream_submit_linked(wfi_stream *stream, const wfi_stream_links *links,
                                   wfi_record_fn record, void *user);
/* Waits for the oldest submission and gives its time on the device. Without timestamps it is the
 * host's time since it was submitted or the one before it ended, whichever is later. The stream
 * must not be idle. */
wf_result wfi_stream_wait(wfi_stream *stream, double *seconds);

#endif
