/* What the model picks for products on CPU devices: as measured on lavapipe and SwiftShader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/caps.h"
#include "core/volk.h"
#include "gpus.h"

static wf_caps device_of(VkDriverId driver)
{
    const bool lavapipe = driver == VK_DRIVER_ID_MESA_LLVMPIPE;
    const uint32_t items = lavapipe ? 1024 : 256, lanes = lavapipe ? 8 : 4;
    wf_caps caps = gpu_caps(&(gpu_pattern){.name = "",
                                           .invocations = items,
                                           .groups_z = items,
                                           .shared_kib = 32,
                                           .subgroup = lanes,
                                           .subgroup_min = lanes,
                                           .subgroup_max = lanes,
                                           .f16_storage = lavapipe,
                                           .f64 = lavapipe,
                                           .buffers = 8});
    caps.device_type = VK_PHYSICAL_DEVICE_TYPE_CPU;
    caps.driver_id = driver;
    return caps;
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
        const wfi_point point = gpu_pick_product(
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
            const wfi_point point =
                gpu_pick_product(&caps, types[i], wfi_matmul_plain(size, size, size));
            const uint32_t words = types[i] == WF_TYPE_F64 ? 2 : 1;
            assert_true(
                point.values[MATMUL_ID_THREAD_M] * point.values[MATMUL_ID_THREAD_N] * words <= 128);
        }
}

static void narrow_products_have_narrow_tiles(void **state)
{
    (void)state;
    const wf_caps caps = device_of(VK_DRIVER_ID_MESA_LLVMPIPE);
    wfi_point point = gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(1024, 16, 512));
    assert_block(&point, 128, 16, 8, 8);
    point = gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(16, 1024, 512));
    assert_block(&point, 16, 128, 4, 8);
    point = gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(1024, 32, 512));
    assert_block(&point, 128, 32, 16, 8);
    point = gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(32, 1024, 512));
    assert_block(&point, 32, 128, 8, 16);
    for (uint64_t few = 3; few <= 8; few++) {
        point = gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(1024, few, 1024));
        assert_block(&point, 128, 16, 8, 8);
        point = gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(few, 1024, 1024));
        assert_block(&point, 16, 128, 4, 8);
    }
    point = gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(1, 4096, 4096));
    assert_string_equal(point.variant->name, "matvec");
}

/* Work-items that share a row run one after another there: none do, and those of a work-group lie
 * along the rows, so that none is idle. */
static void rows_times_vectors_are_shared_by_none(void **state)
{
    (void)state;
    const wf_caps caps = device_of(VK_DRIVER_ID_MESA_LLVMPIPE);
    for (uint64_t n = 1; n <= 2; n++)
        for (uint64_t k = 1; k <= 4096; k *= 8) {
            const wfi_point point =
                gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(4096, n, k));
            assert_string_equal(point.variant->name, "naive");
            assert_int_equal(point.values[MATMUL_ID_LOCAL_X], n);
            assert_int_equal(point.values[MATMUL_ID_LOCAL_Y], 128 / n);
        }
}

/* Nor a sum that runs across rows: work-items have outputs of their own, in eight work-groups where
 * that leaves each eight of them. */
static void columns_are_shared_by_none(void **state)
{
    (void)state;
    static const struct {
        uint64_t n;
        uint32_t local_x;
    } expected[] = {{40, 8}, {300, 16}, {2000, 64}, {65536, 64}};
    const wf_caps caps = device_of(VK_DRIVER_ID_MESA_LLVMPIPE);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        for (uint64_t m = 1; m <= 2; m++) {
            const wfi_point point =
                gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(m, expected[i].n, 1000));
            assert_string_equal(point.variant->name, "matvec");
            assert_int_equal(point.values[MATMUL_ID_LOCAL_X], expected[i].local_x);
            assert_int_equal(point.values[MATMUL_ID_LOCAL_Y], 1);
        }
}

/* A work-group has no more columns or rows than the least power of two that covers those of C. */
static void groups_cover_narrow_outputs(void **state)
{
    (void)state;
    static const struct {
        uint64_t m, n;
        uint32_t x, y;
    } expected[] = {{1, 1024, 128, 1}, {1024, 4, 4, 32}, {1024, 24, 32, 4}, {3, 5, 8, 4}};
    const wf_caps caps = device_of(VK_DRIVER_ID_GOOGLE_SWIFTSHADER);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const wfi_point point = gpu_pick_product(
            &caps, WF_TYPE_F32, wfi_matmul_plain(expected[i].m, expected[i].n, 512));
        assert_string_equal(point.variant->name, "naive");
        assert_int_equal(point.values[MATMUL_ID_LOCAL_X], expected[i].x);
        assert_int_equal(point.values[MATMUL_ID_LOCAL_Y], expected[i].y);
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
        const wfi_point point = gpu_pick_product(
            &caps, WF_TYPE_F32, wfi_matmul_plain(shapes[i][0], shapes[i][1], shapes[i][2]));
        assert_string_equal(point.variant->name, "naive");
        if (shapes[i][0] > 1 && shapes[i][1] >= 64)
            assert_int_equal(point.values[MATMUL_ID_LOCAL_X], 64);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lavapipe_takes_large_blocks),
        cmocka_unit_test(small_products_compile_soon),
        cmocka_unit_test(narrow_products_have_narrow_tiles),
        cmocka_unit_test(rows_times_vectors_are_shared_by_none),
        cmocka_unit_test(columns_are_shared_by_none),
        cmocka_unit_test(groups_cover_narrow_outputs),
        cmocka_unit_test(swiftshader_takes_the_plain_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
