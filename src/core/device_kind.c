#include "core/device_kind.h"

#include "core/arithmetic.h"

/* How long a wait polls: most short kernels and small transfers end within it. */
#define POLL_SECONDS 200e-6

/* Work does not raise the clock of a CPU device, threads of its driver may go on when the device is
 * lost, and polling would take processor time from these threads. */
static const wfi_device_kind gpu = {.raises_clock = true,
                                    .lost_means_idle = true,
                                    .poll_seconds = POLL_SECONDS},
                             card = {.raises_clock = true,
                                     .lost_means_idle = true,
                                     .poll_seconds = POLL_SECONDS,
                                     .card = true},
                             cpu = {.raises_clock = false,
                                    .lost_means_idle = false,
                                    .in_process = true};

static const wfi_device_kind *const kinds[] = {
    [VK_PHYSICAL_DEVICE_TYPE_OTHER] = &gpu,         [VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU] = &gpu,
    [VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU] = &card, [VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU] = &gpu,
    [VK_PHYSICAL_DEVICE_TYPE_CPU] = &cpu,
};

const wfi_device_kind *wfi_device_kind_of(const wf_caps *caps)
{
    const uint32_t type = caps->device_type;
    return type < WFI_COUNT(kinds) ? kinds[type] : &gpu;
}
