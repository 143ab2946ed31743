/* wf_device_create and wf_device_adopt: a device, and what its self-test takes away. */
#include "core/device.h"
#include "core/params.h"
#include "model/self_test.h"

/* From now on blocking calls on the device ask the application whether to go on. */
static void set_cancelled(wf_device *device, const wf_device_params *params)
{
    wf_device_params read;
    if (wfi_params_read(&device->log, "wf_device_params", params, &read, sizeof read) != WF_SUCCESS)
        return;
    device->cancelled = read.cancelled;
    device->cancelled_user = read.cancelled_user;
}

wf_result wf_device_create(const wf_device_params *params, wf_device **out)
{
    wf_result result = wfi_device_open(params, out);
    if (result != WF_SUCCESS)
        return result;
    if (!wfi_self_test_recall(*out))
        wfi_self_test_run(*out);
    /* Cancelling is set up after the self-test, whose outcome is kept and must not be partial. */
    set_cancelled(*out, params);
    return WF_SUCCESS;
}

wf_result wf_device_adopt(const wf_vulkan *vulkan, const wf_device_params *params, wf_device **out)
{
    wf_result result = wfi_device_open_adopted(vulkan, params, out);
    if (result != WF_SUCCESS)
        return result;
    wfi_self_test_recall(*out); /* nothing is ever submitted here to find out */
    set_cancelled(*out, params);
    return WF_SUCCESS;
}
