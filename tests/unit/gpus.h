/* GPUs that are not here, by limits that drivers report, for tests of what models pick. */
#ifndef WFI_TESTS_GPUS_H
#define WFI_TESTS_GPUS_H

#include "choose/choose.h"
#include "core/device.h"
#include "kernels/matmul/matmul.h"

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

/* As an H100 without matrix units and operations of subgroups, but for the vendor. */
wf_caps gpu_card(uint32_t vendor);
/* As an H100, with matrix units, but for the vendor. */
wf_caps gpu_matrix_units(uint32_t vendor);

/* A device that was never opened; gpu_forget() ends it and what choosing made of it. */
wf_device *gpu_device(const wf_caps *caps);
/* Likewise, with the limits of an H200, operations of subgroups, and no vendor. */
wf_device *gpu_large(void);
/* The same of NVIDIA's, with the units of an H200 and the proprietary driver. */
wf_device *gpu_nvidia(void);
void gpu_forget(wf_device *device);

/* What the device takes for the problem, by the model alone. */
wfi_point gpu_pick(wf_device *device, const wfi_problem *problem);
/* Likewise for a product, on a device with these limits. What it points at is valid until the next
 * call. */
wfi_point gpu_pick_product(const wf_caps *caps, wf_type type, wfi_matmul_problem product);

#endif
