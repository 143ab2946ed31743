/* Storage images of the caller's: what they ask of the device, and, for families whose kernels take
 * buffers, bindings that are images with matrices in the workspace in their place. */
#ifndef WFI_PLAN_IMAGES_H
#define WFI_PLAN_IMAGES_H

#include "plan/plan.h"

/* Fails where the device has no storage images of the format. */
wf_result wfi_require_image(const wf_device *device, wf_image format, const char *function);

/* The binding becomes an image; the steps so far use the workspace from byte `at` on instead. */
void wfi_plan_image_binding(wf_plan *plan, uint32_t binding, uint64_t at);
/* Moves the last `count` steps before the others, which then wait for them. */
void wfi_plan_begin_with(wf_plan *plan, uint32_t count);

#endif
