/* Pipelines of a device that its plans have in common: what several need is compiled once. Of those
 * that no plan needs any more the latest WFI_POOL_IDLE stay, so that a solver that makes its plans
 * again at every call compiles once, too. Safe from several threads. */
#ifndef WFI_CORE_PIPELINE_POOL_H
#define WFI_CORE_PIPELINE_POOL_H

#include "core/pipeline.h"

#define WFI_POOL_IDLE 64u

typedef struct wfi_pooled wfi_pooled;

/* Takes the pipeline of the description: compiles it, or waits for a thread that does. */
wf_result wfi_pool_take(wf_device *device, const wfi_pipeline_desc *desc, wfi_pooled **out);
/* The same where it is compiled already; else NULL. */
wfi_pooled *wfi_pool_take_compiled(wf_device *device, const wfi_pipeline_desc *desc);
/* Valid until it is given back. */
const wfi_pipeline *wfi_pooled_pipeline(const wfi_pooled *pooled);
/* Accepts NULL. */
void wfi_pool_give_back(wf_device *device, wfi_pooled **pooled);
/* Destroys those that nobody needs. */
void wfi_pool_clear(wf_device *device);

#endif
