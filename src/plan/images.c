#include "plan/images.h"

#include <string.h>

#include "core/caps.h"
#include "core/device.h"
#include "plan/object.h"

wf_result wfi_require_image(const wf_device *device, wf_image format, const char *function)
{
    if (format != WF_IMAGE_R16F || device->caps.extended_images)
        return WF_SUCCESS;
    char text[256];
    wfi_caps_say_missing(&device->caps, WF_WITHHELD_EXTENDED_IMAGES, text);
    return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED, "%s: %s", function, text);
}

void wfi_plan_image_binding(wf_plan *plan, uint32_t binding, uint64_t at)
{
    plan->bindings[binding].bytes = WFI_IMAGE;
    for (uint32_t i = 0; i < plan->step_count; i++)
        for (uint32_t s = 0; s < plan->steps[i].slot_count; s++) {
            wfi_slot *slot = &plan->steps[i].slots[s];
            if (slot->kind == WFI_SLOT_BINDING && slot->index == binding)
                *slot = (wfi_slot){WFI_SLOT_WORKSPACE, 0, at + slot->offset, slot->bytes};
        }
}

void wfi_plan_begin_with(wf_plan *plan, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const wfi_step last = plan->steps[plan->step_count - 1];
        memmove(plan->steps + 1, plan->steps, (plan->step_count - 1) * sizeof last);
        plan->steps[0] = last;
    }
    if (count < plan->step_count)
        plan->steps[count].barrier = true;
}
