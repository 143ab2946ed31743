/* wf_caps_choose: what a problem would get on a device that is known by its capabilities alone. */
#include <stdio.h>
#include <string.h>

#include "api/families.h"
#include "choose/choose.h"
#include "core/device.h"
#include "core/heap.h"
#include "core/params.h"
#include "kernels/families.h"
#include "plan/hooks.h"

static void keep_reason(void *user, wf_log_level level, const char *text)
{
    if (level == WF_LOG_ERROR)
        snprintf(user, 256, "%s", text);
}

/* A device that has capabilities and rows that ship, and nothing of Vulkan. */
static wf_device *open_device(const wf_caps *caps, char reason[256])
{
    wf_device *device = wfi_calloc(1, sizeof *device);
    if (!device)
        return NULL;
    if (!wfi_mutex_init(&device->tuning_lock)) {
        wfi_free(device);
        return NULL;
    }
    device->caps = *caps;
    device->log = (wfi_log){keep_reason, reason};
    return device;
}

static void close_device(wf_device *device)
{
    if (!device)
        return;
    if (device->tuning_end)
        device->tuning_end(device->tuning);
    wfi_mutex_destroy(&device->tuning_lock);
    wfi_free(device);
}

static wf_result choose(wf_device *device, const wf_problem *given, const wf_tuning *tuning,
                        wf_plan_info *info)
{
    wf_problem read;
    wfi_problem problem;
    wfi_choice choice;
    wf_result result = wfi_params_read(&device->log, "wf_caps_choose", given, &read, sizeof read);
    if (result == WF_SUCCESS)
        result = wfi_family_require(&device->log, read.family, "wf_caps_choose");
    if (result != WF_SUCCESS)
        return result;
    const wfi_family *family = wfi_family_get(read.family);
    if (!family->hooks->describe)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_caps_choose: no problem of family %s can be described", family->name);
    problem = (wfi_problem){.family = read.family, .type = read.type};
    result = family->hooks->describe(&device->log, &read, &problem);
    if (result == WF_SUCCESS)
        result = wfi_choose(device, &problem, tuning, &choice);
    if (result != WF_SUCCESS)
        return result;
    wf_plan_info local = wfi_describe_choice(&choice);
    const wfi_variant *variant = choice.point.variant;
    variant->group_size(&choice.point, local.kernel.group_size);
    local.kernel.shared_bytes = variant->shared_bytes ? variant->shared_bytes(&choice.point) : 0;
    local.kernel.subgroup_size = variant->subgroup_size ? variant->subgroup_size(&choice.point) : 0;
    if (local.kernel.subgroup_size == 0)
        local.kernel.subgroup_size = device->caps.subgroup_size;
    return wfi_params_write(info, &local, sizeof local) ? WF_SUCCESS : WF_ERROR_INVALID_ARGUMENT;
}

wf_result wf_caps_choose(const wf_caps *caps, const wf_problem *problem, const wf_tuning *tuning,
                         wf_plan_info *info, char reason[256])
{
    if (!caps || !info || !reason)
        return WF_ERROR_INVALID_ARGUMENT;
    reason[0] = '\0';
    wf_device *device = open_device(caps, reason);
    const wf_result result =
        device ? choose(device, problem, tuning, info) : WF_ERROR_OUT_OF_HOST_MEMORY;
    close_device(device);
    return result;
}
