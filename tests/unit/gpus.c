#include "gpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/vendors.h"

#define KIB 1024u

wf_caps gpu_caps(const gpu_pattern *d)
{
    wf_caps caps = {.size = sizeof caps,
                    .vendor_id = d->vendor_id,
                    .device_type = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
                    .max_invocations = d->invocations,
                    .max_group_size = {d->invocations, d->invocations, d->groups_z},
                    .max_groups = {65535, 65535, 65535},
                    .max_shared_bytes = d->shared_kib * KIB,
                    .max_push_bytes = 128,
                    .max_storage_buffers = d->buffers,
                    .max_storage_range = UINT64_C(1) << 27,
                    .max_allocation = UINT64_C(1) << 30,
                    .max_buffer = UINT64_C(1) << 30,
                    .storage_alignment = 64,
                    .subgroup_size = d->subgroup,
                    .subgroup_min = d->subgroup_min,
                    .subgroup_max = d->subgroup_max,
                    .subgroup_operations = d->operations,
                    .max_group_subgroups = d->invocations / d->subgroup_min,
                    .subgroup_size_control = d->pins,
                    .full_subgroups = d->pins,
                    .f16_arithmetic = d->f16_arithmetic,
                    .f16_storage = d->f16_storage,
                    .f64 = d->f64,
                    .unified_memory = true};
    snprintf(caps.name, sizeof caps.name, "%s", d->name);
    return caps;
}

static wf_caps card(gpu_pattern pattern)
{
    pattern.invocations = 1024;
    pattern.groups_z = 64;
    pattern.shared_kib = 48;
    pattern.subgroup = pattern.subgroup_min = pattern.subgroup_max = 32;
    pattern.f64 = true;
    wf_caps caps = gpu_caps(&pattern);
    caps.device_type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    caps.unified_memory = false;
    return caps;
}

wf_caps gpu_card(uint32_t vendor)
{
    wf_caps caps =
        card((gpu_pattern){.name = "", .vendor_id = vendor, .f16_storage = true, .buffers = 8});
    caps.compute_units = 132;
    caps.max_storage_range = UINT64_C(1) << 30;
    return caps;
}

wf_caps gpu_matrix_units(uint32_t vendor)
{
    wf_caps caps = gpu_card(vendor);
    caps.max_storage_range = UINT64_C(1) << 32;
    caps.subgroup_size_control = caps.full_subgroups = true;
    caps.f16_arithmetic = caps.int8_arithmetic = caps.int8_storage = true;
    caps.cooperative_matrix = true;
    const uint32_t f16 = VK_COMPONENT_TYPE_FLOAT16_KHR, f32 = VK_COMPONENT_TYPE_FLOAT32_KHR,
                   i8 = VK_COMPONENT_TYPE_SINT8_KHR, i32 = VK_COMPONENT_TYPE_SINT32_KHR;
    caps.cooperative_shapes[caps.cooperative_shape_count++] =
        (wf_cooperative_shape){16, 16, 16, f16, f16, f32, f32, VK_SCOPE_SUBGROUP_KHR, false};
    caps.cooperative_shapes[caps.cooperative_shape_count++] =
        (wf_cooperative_shape){16, 16, 32, i8, i8, i32, i32, VK_SCOPE_SUBGROUP_KHR, false};
    return caps;
}

wf_device *gpu_device(const wf_caps *caps)
{
    wf_device *device = calloc(1, sizeof *device);
    assert_non_null(device);
    assert_true(wfi_mutex_init(&device->tuning_lock));
    device->caps = *caps;
    return device;
}

wf_device *gpu_large(void)
{
    wf_caps caps = card((gpu_pattern){
        .name = "large", .operations = GPU_ALL_OPERATIONS, .pins = true, .buffers = 16});
    caps.max_storage_range = UINT32_MAX;
    return gpu_device(&caps);
}

wf_device *gpu_nvidia(void)
{
    wf_device *device = gpu_large();
    device->caps.vendor_id = WFI_NVIDIA;
    device->caps.driver_id = VK_DRIVER_ID_NVIDIA_PROPRIETARY;
    device->caps.compute_units = 132;
    return device;
}

void gpu_forget(wf_device *device)
{
    if (device->tuning_end)
        device->tuning_end(device->tuning);
    wfi_mutex_destroy(&device->tuning_lock);
    free(device);
}

wfi_point gpu_pick(wf_device *device, const wfi_problem *problem)
{
    const wf_tuning model = {
        .size = sizeof model, .no_tuning = true, .skip_levels = WF_TUNING_RATES};
    wfi_choice choice;
    assert_int_equal(wfi_choose(device, problem, &model, &choice), WF_SUCCESS);
    return choice.point;
}

wfi_point gpu_pick_product(const wf_caps *caps, wf_type type, wfi_matmul_problem product)
{
    static wfi_problem problem;
    wf_device *device = gpu_device(caps);
    problem = (wfi_problem){.family = WF_FAMILY_MATMUL, .type = type, .matmul = product};
    wfi_point point = gpu_pick(device, &problem);
    point.caps = caps;
    gpu_forget(device);
    return point;
}
