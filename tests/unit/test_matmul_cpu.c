/* What the model picks for products on CPU devices: as measured on lavapipe and SwiftShader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/caps.h"
#include "core/volk.h"
#include "picking.h"

static wf_caps device_of(VkDriverId driver)
{
    const bool lavapipe = driver == VK_DRIVER_ID_MESA_LLVMPIPE;
    const uint32_t items = lavapipe ? 1024 : 256;
    return (wf_caps){.size = sizeof(wf_caps),
                     .device_type = VK_PHYSICAL_DEVICE_TYPE_CPU,
                     .driver_id = driver,
                     .max_invocations = items,
                     .max_group_size = {items, items, items},
                     .max_groups = {65535, 65535, 65535},
                     .max_shared_bytes = 32768,
                     .max_push_bytes = 128,
                     .max_storage_buffers = 8,
                     .max_storage_range = UINT64_C(1) << 27,
                     .storage_alignment = 16,
                     .subgroup_size = lavapipe ? 8 : 4,
                     .subgroup_min = lavapipe ? 8 : 4,
                     .subgroup_max = lavapipe ? 8 : 4,
                     .f16_storage = lavapipe,
                     .f64 = lavapipe};
}

static void assert_block(const wfi_point *point, uint32_t tile_m, uint32_t tile_n,
                         uint32_t thread_m, uint32_t thread_n)
{
    const uint32_t *v = point->values;
    assert_string_equal(point->variant->name, "vector");
    if (v[MATMUL_ID_TILE_M] != tile_m || v[MATMUL_ID_TILE_N] != tile_n ||
        v[MATMUL_ID_THREAD_M] != thread_m || v[MATMUL_ID_THREAD_N] != thread_n)
        fail_msg("%ux%u by %ux%u in place of %ux%u by %ux%u", v[MATMUL_ID_TILE_M],
                 v[MATMUL_ID_TILE_N], v[MATMUL_ID_THREAD_M], v[MATMUL_ID_THREAD_N], tile_m, tile_n,
                 thread_m, thread_n);
    assert_int_equal(v[MATMUL_ID_DOUBLE_BUFFER], 0);
}

static void lavapipe_takes_large_blocks(void **state)
{
    (void)state;
    const wf_caps caps = device_of(VK_DRIVER_ID_MESA_LLVMPIPE);
    static const struct {
        wf_type type;
        uint64_t m, n, k;
        uint32_t tile_m, tile_n, thread_m, thread_n;
    } expected[] = {
        {WF_TYPE_F32, 256, 256, 256, 128, 256, 16, 16},
        {WF_TYPE_F16, 256, 256, 256, 128, 256, 16, 16},
        {WF_TYPE_F32, 512, 512, 512, 128, 256, 16, 16},
        {WF_TYPE_F64, 256, 256, 256, 64, 128, 16, 8},
        {WF_TYPE_F64, 512, 512, 512, 64, 128, 16, 8},
        {WF_TYPE_F32, 1000, 333, 77, 256, 128, 16, 16},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const wfi_point point = test_pick(
            &caps, expected[i].type, wfi_matmul_plain(expected[i].m, expected[i].n, expected[i].k));
        assert_block(&point, expected[i].tile_m, expected[i].tile_n, expected[i].thread_m,
                     expected[i].thread_n);
    }
}

/* Of small products, whose run is over long before a large block is compiled. */
static void small_products_compile_soon(void **state)
{
    (void)state;
    const wf_caps caps = device_of(VK_DRIVER_ID_MESA_LLVMPIPE);
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F16, WF_TYPE_F64};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (uint64_t size = 9; size <= 160; size += 13) {
            const wfi_point point = test_pick(&caps, types[i], wfi_matmul_plain(size, size, size));
            const uint32_t words = types[i] == WF_TYPE_F64 ? 2 : 1;
            assert_true(
                point.values[MATMUL_ID_THREAD_M] * point.values[MATMUL_ID_THREAD_N] * words <= 128);
        }
}

static void narrow_products_have_narrow_tiles(void **state)
{
    (void)state;
    const wf_caps caps = device_of(VK_DRIVER_ID_MESA_LLVMPIPE);
    wfi_point point = test_pick(&caps, WF_TYPE_F32, wfi_matmul_plain(1024, 16, 512));
    assert_block(&point, 128, 16, 8, 8);
    point = test_pick(&caps, WF_TYPE_F32, wfi_matmul_plain(16, 1024, 512));
    assert_block(&point, 16, 128, 4, 8);
    point = test_pick(&caps, WF_TYPE_F32, wfi_matmul_plain(1024, 32, 512));
    assert_block(&point, 128, 32, 16, 8);
    point = test_pick(&caps, WF_TYPE_F32, wfi_matmul_plain(32, 1024, 512));
    assert_block(&point, 32, 128, 8, 16);
    for (uint64_t few = 3; few <= 8; few++) {
        point = test_pick(&caps, WF_TYPE_F32, wfi_matmul_plain(1024, few, 1024));
        assert_block(&point, 128, 16, 8, 8);
        point = test_pick(&caps, WF_TYPE_F32, wfi_matmul_plain(few, 1024, 1024));
        assert_block(&point, 16, 128, 4, 8);
    }
    point = test_pick(&caps, WF_TYPE_F32, wfi_matmul_plain(4096, 2, 4096));
    assert_string_equal(point.variant->name, "matvec");
    point = test_pick(&caps, WF_TYPE_F32, wfi_matmul_plain(1, 4096, 4096));
    assert_string_equal(point.variant->name, "matvec");
}

/* Work-items that share a row run one after another there: the fewest do, and of the shortest rows
 * one work-item makes all. */
static void short_rows_are_shared_by_few(void **state)
{
    (void)state;
    const wf_caps caps = device_of(VK_DRIVER_ID_MESA_LLVMPIPE);
    for (uint64_t k = 1; k <= 8; k++) {
        const wfi_point point = test_pick(&caps, WF_TYPE_F32, wfi_matmul_plain(65536, 1, k));
        assert_string_equal(point.variant->name, "naive");
    }
    for (uint64_t k = 64; k <= 4096; k *= 4) {
        const wfi_point point = test_pick(&caps, WF_TYPE_F32, wfi_matmul_plain(4096, 1, k));
        assert_string_equal(point.variant->name, "matvec");
        assert_int_equal(point.values[MATMUL_ID_LOCAL_X], 4);
    }
}

static void swiftshader_takes_the_plain_loop(void **state)
{
    (void)state;
    const wf_caps caps = device_of(VK_DRIVER_ID_GOOGLE_SWIFTSHADER);
    static const uint64_t shapes[][3] = {{64, 64, 64},    {256, 256, 256}, {512, 512, 512},
                                         {1000, 333, 77}, {1, 1024, 1024}, {8, 1024, 1024},
                                         {1024, 1, 1024}, {1024, 4, 1024}, {16, 1024, 512}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const wfi_point point = test_pick(
            &caps, WF_TYPE_F32, wfi_matmul_plain(shapes[i][0], shapes[i][1], shapes[i][2]));
        assert_string_equal(point.variant->name, "naive");
        assert_int_equal(point.values[MATMUL_ID_LOCAL_X], shapes[i][1] <= 8 ? 8 : 64);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lavapipe_takes_large_blocks),
        cmocka_unit_test(small_products_compile_soon),
        cmocka_unit_test(narrow_products_have_narrow_tiles),
        cmocka_unit_test(short_rows_are_shared_by_few),
        cmocka_unit_test(swiftshader_takes_the_plain_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
