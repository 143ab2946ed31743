/* wf_device_create and wf_device_adopt: a device, and what its self-test takes away. */
#include "core/device.h"
#include "core/heap.h"
#include "model/self_test.h"

wf_result wf_device_create(const wf_device_params *params, wf_device **out)
{
    wf_result result = wfi_device_open(params, out);
    if (result != WF_SUCCESS)
        return result;
    const wfi_heap outer = wfi_heap_enter_device(*out);
    if (!wfi_self_test_recall(*out))
        wfi_self_test_run(*out);
    wfi_heap_leave(outer, WF_SUCCESS);
    /* The application is asked from now on, after the self-test, whose outcome is kept and
     * must not be partial. */
    (*out)->asks = true;
    return WF_SUCCESS;
}

wf_result wf_device_adopt(const wf_vulkan *vulkan, const wf_device_params *params, wf_device **out)
{
    wf_result result = wfi_device_open_adopted(vulkan, params, out);
    if (result != WF_SUCCESS)
        return result;
    const wfi_heap outer = wfi_heap_enter_device(*out);
    wfi_self_test_recall(*out); /* nothing is ever submitted here to find out */
    wfi_heap_leave(outer, WF_SUCCESS);
    (*out)->asks = true;
    return WF_SUCCESS;
}
