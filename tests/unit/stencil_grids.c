#include "stencil_grids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gpus.h"
#include "stencil/stencil_ids.h"

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

void stencil_assert_picks(wf_device *device, const stencil_measured *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const stencil_measured *m = &cases[i];
        wfi_problem problem = stencil_star(m->type, m->nx, m->ny, m->nz, 1);
        problem.stencil.shape = m->shape;
        problem.stencil.border = m->border;
        problem.stencil.radius = m->radius;
        const wfi_point point = gpu_pick(device, &problem);
        const uint32_t x = wfi_point_value(&point, STENCIL_ID_LOCAL_X, 1),
                       y = wfi_point_value(&point, STENCIL_ID_LOCAL_Y, 1),
                       march = wfi_point_value(&point, STENCIL_ID_MARCH, 1);
        if (strcmp(point.variant->name, m->variant) != 0 || x != m->x || y != m->y ||
            march != m->march)
            fail_msg("case %u: %s %ux%u, march %u", (unsigned)i, point.variant->name, x, y, march);
    }
    gpu_forget(device);
}
