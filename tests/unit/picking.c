#include "picking.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernels/families.h"

wf_caps test_card_of(uint32_t vendor)
{
    return (wf_caps){.size = sizeof(wf_caps),
                     .device_type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
                     .vendor_id = vendor,
                     .compute_units = 132,
                     .max_invocations = 1024,
                     .max_group_size = {1024, 1024, 64},
                     .max_groups = {65535, 65535, 65535},
                     .max_shared_bytes = 49152,
                     .max_push_bytes = 128,
                     .max_storage_buffers = 8,
                     .max_storage_range = UINT64_C(1) << 30,
                     .storage_alignment = 16,
                     .subgroup_size = 32,
                     .subgroup_min = 32,
                     .subgroup_max = 32,
                     .f16_storage = true,
                     .f64 = true};
}

wfi_point test_pick(const wf_caps *caps, wf_type type, wfi_matmul_problem product)
{
    static wfi_problem problem;
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    wfi_point best = {.caps = caps, .variant = family->variants[0]};
    double least = -1;
    problem = (wfi_problem){.family = WF_FAMILY_MATMUL, .type = type, .matmul = product};
    for (uint32_t v = 0; v < family->variant_count; v++) {
        wfi_point point = {.caps = caps, .problem = &problem, .variant = family->variants[v]};
        wfi_point_defaults(&point);
        const double time = point.variant->modules[type] ? point.variant->fit(&point) : -1;
        if (time < 0 || !wfi_point_legal(&point, NULL) || (least >= 0 && time >= least))
            continue;
        least = time;
        best = point;
    }
    assert_true(least >= 0);
    return best;
}
