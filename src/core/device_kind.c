#include "core/device_kind.h"

/* A processor's clock is not the driver's to raise, and threads of its driver may run on when the
 * device is lost. */
static const wfi_device_kind gpu = {.raises_clock = true, .lost_means_idle = true},
                             cpu = {.raises_clock = false, .lost_means_idle = false};

static const wfi_device_kind *const kinds[] = {
    [VK_PHYSICAL_DEVICE_TYPE_OTHER] = &gpu,        [VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU] = &gpu,
    [VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU] = &gpu, [VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU] = &gpu,
    [VK_PHYSICAL_DEVICE_TYPE_CPU] = &cpu,
};

const wfi_device_kind *wfi_device_kind_of(const wf_caps *caps)
{
    const uint32_t type = caps->device_type;
    return type < sizeof kinds / sizeof *kinds ? kinds[type] : &gpu;
}
