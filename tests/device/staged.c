#include "staged.h"

#include "core/staging.h"
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

int test_staged_setup(void **state)
{
    if (test_device_setup(state) != 0)
        return -1;
    wf_device *device = *state;
    wfi_staging *staging;
    device->caps.unified_memory = false;
    if (wfi_staging_of(device, &staging) != WF_SUCCESS)
        return -1;
    device->staging->threads = 4;
    device->staging->workers.most = 3;
    return 0;
}

wf_buffer *test_buffer(wf_device *device, uint64_t bytes)
{
    wf_buffer *buffer = NULL;
    assert_int_equal(wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, &buffer), WF_SUCCESS);
    return buffer;
}
