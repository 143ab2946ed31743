#include "stencil_grids.h"

#include "gpus.h"

const wf_type stencil_types[] = {WF_TYPE_F32, WF_TYPE_F64, WF_TYPE_F16};

wf_device *stencil_card(void)
{
    wf_device *device = gpu_large();
    device->caps.compute_units = 132;
    device->caps.f16_storage = true;
    device->caps.max_buffer = device->caps.max_allocation = UINT64_C(1) << 36;
    return device;
}

wfi_problem stencil_star(wf_type type, uint64_t nx, uint64_t ny, uint64_t nz, uint32_t steps)
{
    return (wfi_problem){.family = WF_FAMILY_STENCIL,
                         .type = type,
                         .stencil = {.nx = nx,
                                     .ny = ny,
                                     .nz = nz ? nz : 1,
                                     .row_stride = nx,
                                     .dimensions = nz ? 3 : 2,
                                     .radius = 1,
                                     .steps = steps}};
}
