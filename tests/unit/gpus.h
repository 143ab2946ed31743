/* GPUs that are not here, by limits that drivers report, for tests of what models pick. */
#ifndef WFI_TESTS_GPUS_H
#define WFI_TESTS_GPUS_H

#include "choose/choose.h"
#include "core/device.h"

#define GPU_ALL_OPERATIONS 0xffu

typedef struct gpu_pattern {
    const char *name;
    uint32_t vendor_id;
    uint32_t invocations, groups_z, shared_kib;
    uint32_t subgroup, subgroup_min, subgroup_max; /* min < max: varies */
    uint32_t operations;
    bool pins; /* subgroup size control */
    bool f16_arithmetic, f16_storage, f64;
    uint32_t buffers;
} gpu_pattern;

wf_caps gpu_caps(const gpu_pattern *pattern);

/* A GPU with the limits of an H200 and no vendor; gpu_forget() ends it. */
wf_device *gpu_large(void);
/* Ends what choosing made of a device that was never opened. */
void gpu_forget(wf_device *device);

/* What the device takes for the problem, by the model alone. */
wfi_point gpu_pick(wf_device *device, const wfi_problem *problem);

#endif
