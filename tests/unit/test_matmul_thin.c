/* What the model picks for few rows or columns of C on an NVIDIA device, where it was measured, and on
 * another, where it was not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/families.h"
#include "kernels/matmul_rows.h"

static wf_caps device_of(uint32_t vendor)
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

/* The variant of least expected time, whose point must be legal. */
static const char *picked(const wf_caps *caps, wf_type type, wfi_matmul_problem product,
                          wfi_point *out)
{
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    static wfi_problem problem;
    double best = -1;
    problem = (wfi_problem){.family = WF_FAMILY_MATMUL, .type = type, .matmul = product};
    for (uint32_t v = 0; v < family->variant_count; v++) {
        wfi_point point = {.caps = caps, .problem = &problem, .variant = &family->variants[v]};
        wfi_point_defaults(&point);
        const double time = point.variant->fit(&point);
        char reason[256];
        if (time < 0 || !point.variant->modules[type] || !wfi_point_legal(&point, reason) ||
            (best >= 0 && time >= best))
            continue;
        best = time;
        *out = point;
    }
    assert_true(best >= 0);
    return out->variant->name;
}

static void thin_products_go_past_a_panel(void **state)
{
    (void)state;
    const wf_caps nvidia = device_of(0x10de);
    wfi_point point;
    for (uint32_t few = 2; few <= 16; few++)
        assert_string_equal(picked(&nvidia, WF_TYPE_F32, wfi_matmul_plain(4096, few, 4096), &point),
                            "panel");
    for (uint32_t few = 4; few <= 16; few++)
        assert_string_equal(picked(&nvidia, WF_TYPE_F32, wfi_matmul_plain(few, 4096, 4096), &point),
                            "panel");
    for (uint32_t few = 4; few <= 8; few++)
        assert_string_equal(picked(&nvidia, WF_TYPE_F64, wfi_matmul_plain(few, 4096, 4096), &point),
                            "panel");
    assert_string_equal(picked(&nvidia, WF_TYPE_F64, wfi_matmul_plain(4096, 8, 4096), &point),
                        "panel");
    assert_string_equal(picked(&nvidia, WF_TYPE_F16, wfi_matmul_plain(4096, 3, 4096), &point),
                        "panel");
}

static void matvec_keeps_single_vectors(void **state)
{
    (void)state;
    const wf_caps nvidia = device_of(0x10de), other = device_of(0x1002);
    wfi_point point;
    assert_string_equal(picked(&nvidia, WF_TYPE_F32, wfi_matmul_plain(1, 4096, 4096), &point),
                        "matvec");
    assert_string_equal(picked(&nvidia, WF_TYPE_F32, wfi_matmul_plain(4096, 1, 4096), &point),
                        "matvec");
    assert_string_equal(picked(&nvidia, WF_TYPE_F32, wfi_matmul_plain(2, 4096, 4096), &point),
                        "matvec");
    assert_string_equal(picked(&other, WF_TYPE_F32, wfi_matmul_plain(4096, 4, 4096), &point),
                        "matvec");
}

/* Where there are few outputs, shorter parts of the sum occupy the device. */
static void short_sums_are_split(void **state)
{
    (void)state;
    const wf_caps nvidia = device_of(0x10de);
    wfi_point point;
    assert_string_equal(picked(&nvidia, WF_TYPE_F32, wfi_matmul_plain(2048, 8, 2048), &point),
                        "panel");
    assert_int_equal(point.values[WFI_PANEL_SPLITS], 8);
    assert_int_equal(point.values[WFI_PANEL_KEPT], 256);
    picked(&nvidia, WF_TYPE_F32, wfi_matmul_plain(4096, 16, 4096), &point);
    assert_int_equal(point.values[WFI_PANEL_SPLITS], 8);
    assert_int_equal(point.values[WFI_PANEL_KEPT], 512);
    assert_string_equal(picked(&nvidia, WF_TYPE_F32, wfi_matmul_plain(1024, 16, 1024), &point),
                        "vector");
    assert_string_equal(picked(&nvidia, WF_TYPE_F32, wfi_matmul_plain(1024, 3, 1024), &point),
                        "matvec");
    assert_string_equal(picked(&nvidia, WF_TYPE_F32, wfi_matmul_plain(512, 8, 512), &point),
                        "vector");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thin_products_go_past_a_panel),
        cmocka_unit_test(matvec_keeps_single_vectors),
        cmocka_unit_test(short_sums_are_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
