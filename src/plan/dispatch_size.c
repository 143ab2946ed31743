#include "plan/dispatch_size.h"

wf_result wfi_dispatch_groups(const wf_device *device, uint64_t count, uint32_t groups[3])
{
    const uint64_t width = device->caps.max_groups[0];
    const uint64_t rows = (count + width - 1) / width;
    if (count == 0 || count > UINT64_C(1) << 31 || rows > device->caps.max_groups[1])
        return wfi_fail(&device->log, WF_ERROR_TOO_LARGE,
                        "%llu work-groups are more than one dispatch can have",
                        (unsigned long long)count);
    groups[0] = (uint32_t)((count + rows - 1) / rows);
    groups[1] = (uint32_t)rows;
    groups[2] = 1;
    return WF_SUCCESS;
}

wf_result wfi_dispatch_size(wf_plan *plan, uint64_t count, uint32_t groups[3])
{
    return wfi_dispatch_groups(wfi_plan_device(plan), count, groups);
}
