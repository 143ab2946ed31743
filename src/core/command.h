/* Recording and submitting on the device's own queue. */
#ifndef WFI_CORE_COMMAND_H
#define WFI_CORE_COMMAND_H

#include "core/device.h"

/* Records into `command_buffer`; a failure abandons the submission. */
typedef wf_result (*wfi_record_fn)(void *user, VkCommandBuffer command_buffer);

/* Records through the callback, submits and blocks until done. Holds the device's queue lock: the
 * callback must not submit. */
wf_result wfi_run(wf_device *device, wfi_record_fn record, void *user);

/* The same for what several blocking runs of one call follow, each soon: it asks for the end so
 * many times as long as others before it sleeps. */
wf_result wfi_run_patiently(wf_device *device, wfi_record_fn record, void *user, double times);

/* The same as wfi_run, and measures what `record` recorded: by timestamps (*gpu_clock true) or,
 * where the queue has none, by the host clock around submit and wait. `prepare` (NULL: nothing)
 * records what comes before, outside the measured time. */
wf_result wfi_run_timed(wf_device *device, wfi_record_fn prepare, wfi_record_fn record, void *user,
                        double *seconds, bool *gpu_clock);

/* The seconds between two timestamps. Where the device's clock stood or ran backwards, they are
 * `host_seconds`, which contain the interval, and the device's clock_errs is set. */
double wfi_seconds_between(wf_device *device, const uint64_t ticks[2], double host_seconds);

/* A command buffer for many submissions: recorded through the callback with the same barriers
 * around it as wfi_run has (that for the host only if `to_host`), and freed with the device if not
 * before. */
wf_result wfi_commands_record(wf_device *device, wfi_record_fn record, void *user, bool to_host,
                              VkCommandBuffer *out);
/* Submits it and blocks until it is done. What it refers to must all still be there. */
wf_result wfi_commands_run(wf_device *device, VkCommandBuffer command_buffer);
void wfi_commands_free(wf_device *device, VkCommandBuffer command_buffer);

/* Orders earlier compute and transfer writes before later compute and transfer accesses. */
void wfi_barrier(wf_device *device, VkCommandBuffer command_buffer);
/* The same among compute dispatches alone, which is cheaper. */
void wfi_barrier_compute(wf_device *device, VkCommandBuffer command_buffer);
/* The same, and indirect dispatches behind it may be sized by what was written, or blocks of
 * conditional rendering depend on it. */
void wfi_barrier_indirect(wf_device *device, VkCommandBuffer command_buffer, bool conditional);
/* Dispatches between these two are skipped where the word at the offset of the buffer is 0. For
 * devices with caps.conditional_rendering. */
void wfi_condition_begin(wf_device *device, VkCommandBuffer command_buffer, const wf_buffer *buffer,
                         uint64_t offset);
void wfi_condition_end(wf_device *device, VkCommandBuffer command_buffer);

/* Makes what was written available to the host's reads of mapped memory after the fence. */
void wfi_barrier_host(wf_device *device, VkCommandBuffer command_buffer);
/* The same behind copies alone, on a queue that may have nothing else. */
void wfi_barrier_copies_host(wf_device *device, VkCommandBuffer command_buffer);

/* Records a copy between two buffers; ranges are not checked. */
void wfi_record_copy(wf_device *device, VkCommandBuffer command_buffer, const wf_buffer *from,
                     uint64_t from_offset, const wf_buffer *to, uint64_t to_offset, uint64_t bytes);

#endif
