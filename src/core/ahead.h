/* Pipelines that threads compile while the caller does what comes before them. Who takes one from
 * the pool meanwhile waits for its thread. */
#ifndef WFI_CORE_AHEAD_H
#define WFI_CORE_AHEAD_H

#include "core/pipeline_pool.h"

typedef struct wfi_ahead wfi_ahead;

/* Begins to compile what is not compiled yet, a thread a pipeline; NULL where that is nothing,
 * where there is no thread or no memory, and on adopted devices, whose application says on which
 * threads they compile. A pipeline that cannot be compiled fails where it is taken. */
wfi_ahead *wfi_ahead_begin(wf_device *device, const wfi_pipeline_desc *descs, uint32_t count);
/* Waits for the threads; call it once what was compiled is taken, or not needed any more. Accepts
 * NULL. */
void wfi_ahead_end(wfi_ahead *ahead);

#endif
