/* The device's queues: submissions under the application's lock, and waiting for them to end. */
#ifndef WFI_CORE_QUEUE_H
#define WFI_CORE_QUEUE_H

#include "core/device.h"

/* Submits with the application's lock held around it; the caller holds the device's own. */
VkResult wfi_submit(wf_device *device, const VkSubmitInfo *submit, VkFence fence);
/* The same to any of its queues, of commands from a pool of that queue's family. */
VkResult wfi_submit_to(wf_device *device, VkQueue queue, const VkSubmitInfo *submit, VkFence fence);

/* Waits for a submission's fence: asks for wf_device.poll_seconds, which takes a processor and
 * answers at once, and then sleeps, from which the system wakes it tens of microseconds late. */
VkResult wfi_wait(wf_device *device, VkFence fence);
/* The same, but it sleeps no longer than that and then returns VK_TIMEOUT. */
VkResult wfi_wait_for(wf_device *device, VkFence fence, uint64_t nanoseconds);

/* Waits for what sets the event, whose submission has the fence, in the same way; a fence that is
 * signalled will do. */
VkResult wfi_wait_event(wf_device *device, VkEvent event, VkFence fence, uint64_t nanoseconds);

/* The same as wfi_wait, but it asks so many times as long before it sleeps. */
VkResult wfi_wait_patiently(wf_device *device, VkFence fence, double times);

/* Call it after a wait or a submission that failed: it returns once the device no longer uses what
 * was submitted, so that this can be freed. `fence` (VK_NULL_HANDLE: none) is that of a submission
 * that was made. Where the driver does not answer, nothing is freed any more (wf_device.keeps). The
 * caller holds the device's queue lock. */
void wfi_settle(wf_device *device, VkFence fence);

#endif
