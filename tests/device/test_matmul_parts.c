/* How products are cut and their elements moved: slabs over small bindings, folded grids, tiles
 * that work-groups share, operands that are copied first, tiles in shared memory without padding,
 * and rows of C that work-items exchange. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "choose/choose.h"
#include "core/device.h"
#include "core/vendors.h"
#include "matmul_case.h"
#include "plan/family.h"

/* With tiny bindings the product is cut into slabs of rows and of the sum. */
static void splits_over_small_bindings(void **state)
{
    wf_device *device = *state;
    const uint64_t range = device->caps.max_storage_range;
    test_random random = {test_seed()};
    matmul_case p = {.params = {.m = 93, .n = 61, .k = 77, .tuning = matmul_any_variant()}};
    matmul_case_make(&p, device, &random);
    device->caps.max_storage_range = 8192 + device->caps.storage_alignment;
    /* 3 slabs of rows (93*77*4 bytes), 3 of the sum (77*61*4) */
    assert_true(matmul_case_run(&p, "panels") >= 9);
    device->caps.max_storage_range = range;
    matmul_case_free(&p);
}

/* Bindings that are too small for a matrix: slabs along every extent, and a few products of the
 * batch at a time. */
static void parts_keep_the_epilogue(void **state)
{
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F16, WF_TYPE_I8};
    wf_device *device = *state;
    const uint64_t range = device->caps.max_storage_range;
    test_random random = {test_seed()};
    const wf_constant small[] = {{"tile_m", 16}, {"tile_n", 32}, {"thread_m", 2}, {"thread_n", 2}};
    const wf_tuning tuning = {sizeof tuning, "register", small, 4, false, 0};
    for (int n = 0; n < 12; n++) {
        matmul_case p = {.params = {.tuning = &tuning,
                                    .m = 93,
                                    .n = 61,
                                    .k = 77,
                                    .type = types[n / 4],
                                    .transpose_a = n & 1,
                                    .transpose_b = (n & 2) != 0,
                                    .beta = 2,
                                    .bias = true,
                                    .activation = WF_ACTIVATION_RELU}};
        const wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                                     .type = p.params.type,
                                     .matmul = wfi_matmul_plain(93, 61, 77)};
        wfi_choice choice;
        /* Types have pairs of transposes of their own. */
        if (test_emulated() ? n % 4 != n / 4 : n % 2 != n / 4 % 2)
            continue;
        test_expect_errors(true);
        const wf_result offered = wfi_choose(device, &problem, &tuning, &choice);
        test_expect_errors(false);
        if (offered != WF_SUCCESS)
            continue;
        matmul_case_make(&p, device, &random);
        device->caps.max_storage_range =
            2048 * wf_type_size(p.params.type) + device->caps.storage_alignment;
        assert_true(matmul_case_run(&p, "parts") >= 9);
        device->caps.max_storage_range = range;
        matmul_case_free(&p);
    }
    matmul_case p = {
        .params = {.tuning = &tuning, .m = 20, .n = 20, .k = 20, .batch = 11, .beta = 1}};
    matmul_case_make(&p, device, &random);
    device->caps.max_storage_range = 3 * 1600 + device->caps.storage_alignment;
    assert_int_equal(matmul_case_run(&p, "batches"), 4);
    device->caps.max_storage_range = range;
    matmul_case_free(&p);
}

static void folds_a_grid_over_small_limits(void **state)
{
    wf_device *device = *state;
    const uint32_t groups = device->caps.max_groups[0];
    const wf_tuning tuning = {.size = sizeof tuning, .variant = "naive"};
    test_random random = {test_seed()};
    matmul_case p = {.params = {.m = 150, .n = 170, .k = 5, .tuning = &tuning}};
    matmul_case_make(&p, device, &random);
    device->caps.max_groups[0] = 7;
    matmul_case_run(&p, "folded grid");
    device->caps.max_groups[0] = groups;
    matmul_case_free(&p);
}

/* Stream-K with four work-groups: they share all tiles, the last alone, those behind whole waves,
 * or none, also where there are fewer steps of the sum than work-groups. */
static void shared_tiles_are_right(void **state)
{
    static const struct {
        uint32_t m, n, k, swizzle, dispatches;
    } cases[] = {{13, 90, 75, 1, 2}, {16, 160, 40, 1, 3}, {37, 129, 71, 2, 3},
                 {37, 129, 7, 2, 3}, {32, 64, 30, 1, 1},  {48, 132, 64, 1, 3}};
    wf_device *device = *state;
    const uint32_t units = device->caps.compute_units;
    test_random random = {test_seed()};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        const wf_constant constants[] = {{"tile_m", 16},  {"tile_n", 32},
                                         {"tile_k", 8},   {"thread_m", 4},
                                         {"thread_n", 4}, {"lanes_m", 2},
                                         {"lanes_n", 4},  {"double_buffer", n % 2},
                                         {"split_k", 1},  {"vec4", n == 5 ? 7 : 0},
                                         {"pack", 0},     {"swizzle", cases[n].swizzle},
                                         {"stream_k", 2}};
        const wf_tuning tuning = {.size = sizeof tuning,
                                  .variant = "vector",
                                  .constants = constants,
                                  .constant_count = sizeof constants / sizeof *constants};
        matmul_case p = {
            .params = {.m = cases[n].m, .n = cases[n].n, .k = cases[n].k, .tuning = &tuning}};
        matmul_case_make(&p, device, &random);
        device->caps.compute_units = 2;
        assert_int_equal(matmul_case_run(&p, "shared tiles"), cases[n].dispatches);
        device->caps.compute_units = units;
        matmul_case_free(&p);
    }
}

/* A copy of one operand, whose rows run along the sum or across it, beside one that is read in
 * place; of rows along a sum of 71 steps one alone cannot be copied. */
static void one_operand_is_copied(void **state)
{
    static const struct {
        uint32_t m, n, k;
        bool transpose_a, transpose_b;
        uint32_t pack, split_k, stream_k;
    } cases[] = {{37, 129, 71, false, false, 2, 1, 0}, {37, 129, 71, true, false, 1, 4, 0},
                 {37, 129, 71, true, true, 1, 1, 2},   {37, 129, 72, false, false, 1, 2, 0},
                 {35, 130, 76, true, true, 2, 1, 0},   {35, 130, 71, true, false, 2, 1, 2}};
    test_random random = {test_seed()};
    wf_plan *plan = NULL;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        const uint32_t pack = cases[n].pack;
        const wf_constant constants[] = {
            {"tile_m", 16},     {"tile_n", 32},  {"tile_k", 8},
            {"thread_m", 4},    {"thread_n", 4}, {"lanes_m", 2},
            {"lanes_n", 4},     {"vec4", pack},  {"split_k", cases[n].split_k},
            {"pack", pack},     {"swizzle", 1},  {"stream_k", cases[n].stream_k},
            {"gathered", n % 2}};
        const wf_tuning tuning = {.size = sizeof tuning,
                                  .variant = "vector",
                                  .constants = constants,
                                  .constant_count = sizeof constants / sizeof *constants};
        matmul_case p = {.params = {.m = cases[n].m,
                                    .n = cases[n].n,
                                    .k = cases[n].k,
                                    .transpose_a = cases[n].transpose_a,
                                    .transpose_b = cases[n].transpose_b,
                                    .tuning = &tuning}};
        matmul_case_make(&p, *state, &random);
        assert_true(matmul_case_run(&p, "one operand copied") >= 2);
        p.params.transpose_a = p.params.transpose_b = pack == 2;
        test_expect_errors(true);
        if (p.params.k == 71)
            assert_int_equal(wf_matmul_plan(*state, &p.params, &plan), WF_ERROR_CONSTRAINT);
        test_expect_errors(false);
        matmul_case_free(&p);
    }
}

/* A copy of A is read as a whole, so that B, which is read in place, must be one slab. */
static void copies_stand_beside_whole_operands(void **state)
{
    wf_device *device = *state;
    const uint64_t range = device->caps.max_storage_range;
    static const wf_constant constants[] = {{"pack", 1},     {"vec4", 1},    {"tile_m", 16},
                                            {"tile_n", 32},  {"tile_k", 8},  {"thread_m", 4},
                                            {"thread_n", 4}, {"lanes_m", 2}, {"lanes_n", 4}};
    const wf_tuning tuning = {.size = sizeof tuning,
                              .variant = "vector",
                              .constants = constants,
                              .constant_count = sizeof constants / sizeof *constants};
    const wf_matmul_params params = {
        .size = sizeof params, .m = 16, .n = 200, .k = 77, .transpose_a = true, .tuning = &tuning};
    wf_plan *plan = NULL;
    device->caps.max_storage_range = 40000 + device->caps.storage_alignment; /* B: 77*200*4 */
    test_expect_errors(true);
    assert_int_equal(wf_matmul_plan(device, &params, &plan), WF_ERROR_CONSTRAINT);
    test_expect_errors(false);
    device->caps.max_storage_range = 61600 + device->caps.storage_alignment;
    assert_int_equal(wf_matmul_plan(device, &params, &plan), WF_SUCCESS);
    device->caps.max_storage_range = range;
    wf_plan_destroy(&plan);
}

/* f64 is copied as pairs of words: strided batches, in either order of rows, and tiles whose sums
 * work-groups share. */
static void f64_is_copied(void **state)
{
    test_random random = {test_seed()};
    for (uint32_t n = 0; n < 3 && wf_device_caps(*state)->f64; n++) {
        const wf_constant constants[] = {{"tile_m", 16},        {"tile_n", 32},
                                         {"tile_k", 8},         {"thread_m", 4},
                                         {"thread_n", 4},       {"lanes_m", 2},
                                         {"lanes_n", 4},        {"vec4", 3 - n},
                                         {"pack", 3 - n},       {"stream_k", n == 0 ? 2 : 0},
                                         {"split_k", 1 + n % 2}};
        const wf_tuning tuning = {sizeof tuning, "vector", constants, 11, false, 0};
        matmul_case p = {.params = {.tuning = &tuning,
                                    .m = 33 + 2 * test_random_below(&random, 8),
                                    .n = 65 + 2 * test_random_below(&random, 16),
                                    .k = 4 * (5 + test_random_below(&random, 12)) + (n == 0),
                                    .type = WF_TYPE_F64,
                                    .batch = 1 + n,
                                    .transpose_a = n == 2,
                                    .transpose_b = n == 1}};
        matmul_case_make(&p, *state, &random);
        matmul_case_run(&p, "copies of f64");
        matmul_case_free(&p);
    }
}

/* As on NVIDIA's cards, where padding of A's tile would cost a work-group its place on a compute
 * unit, and A's elements move by fours, and where that of B's would leave one work-group of two.
 * The tiles are small, which drivers compile fast, and so is the shared memory. */
static void tiles_go_without_padding(void **state)
{
    static const wf_constant constants[] = {{"tile_m", 16},  {"tile_n", 32},       {"tile_k", 8},
                                            {"thread_m", 4}, {"thread_n", 4},      {"lanes_m", 2},
                                            {"lanes_n", 4},  {"double_buffer", 0}, {"pairs", 1},
                                            {"vec4", 1},     {"serpentine", 3}};
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F16, WF_TYPE_F64};
    const wf_tuning tuning = {sizeof tuning, "vector", constants, 11, false, 0};
    wf_device *device = *state;
    const wf_caps caps = device->caps;
    test_random random = {test_seed()};
    for (int n = 0; n < 6; n++) {
        matmul_case p = {.params = {.tuning = &tuning,
                                    .m = 67 + test_random_below(&random, 64),
                                    .n = 129 + test_random_below(&random, 64),
                                    .k = 4 + 4 * test_random_below(&random, 13),
                                    .type = types[n / 2],
                                    .transpose_b = n % 2 != 0,
                                    .beta = 2}};
        const wfi_problem problem = matmul_case_problem(&p.params);
        wfi_choice choice;
        device->caps.vendor_id = WFI_NVIDIA;
        device->caps.driver_id = VK_DRIVER_ID_NVIDIA_PROPRIETARY;
        device->caps.device_type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
        const uint32_t bare = 2 * 8 * (16 + 32) * (uint32_t)wfi_matmul_sum_size(p.params.type);
        device->caps.max_shared_bytes = (p.params.transpose_b ? 2 : 4) * bare;
        test_expect_errors(true);
        const wf_result offered = wfi_choose(device, &problem, &tuning, &choice);
        test_expect_errors(false);
        if (offered == WF_SUCCESS) {
            /* Two slices of 8 x 16 and 8 x 32 sums. */
            assert_int_equal(choice.point.variant->shared_bytes(&choice.point), bare);
            matmul_case_make(&p, device, &random);
            matmul_case_run(&p, "without padding");
            matmul_case_free(&p);
        }
        device->caps = caps;
    }
}

/* Work-items exchange rows of C before they store them: two at a time, one where the memory of B's
 * tiles has no room for two, or none. */
static void elements_are_stored_side_by_side(void **state)
{
    static const uint32_t blocks[][7] = {{32, 64, 8, 4, 8, 4, 8},
                                         {64, 32, 4, 8, 4, 2, 4},
                                         {16, 32, 16, 4, 4, 4, 8},
                                         {64, 32, 4, 4, 8, 4, 4}};
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F16, WF_TYPE_F64, WF_TYPE_I8};
    test_random random = {test_seed()};
    for (int n = 0; n < 8; n++) {
        const uint32_t *b = blocks[n % 4];
        const wf_constant constants[] = {
            {"tile_m", b[0]},   {"tile_n", b[1]},   {"tile_k", b[2]},
            {"thread_m", b[3]}, {"thread_n", b[4]}, {"lanes_m", b[5]},
            {"lanes_n", b[6]},  {"gathered", 1},    {"split_k", n % 3 == 2 ? 2 : 1}};
        const wf_tuning tuning = {sizeof tuning, "vector", constants, 9, false, 0};
        matmul_case p = {.params = {.tuning = &tuning,
                                    .m = 40 + test_random_below(&random, 64),
                                    .n = 64 + 4 * test_random_below(&random, 20) +
                                         (n % 2 ? 1 : 2 + test_random_below(&random, 2)),
                                    .k = 1 + test_random_below(&random, 50),
                                    .type = types[(n + n / 4) % 4],
                                    .batch = 1 + n % 2,
                                    .transpose_b = n % 2 != 0,
                                    .beta = n % 4 == 1 ? 2 : 0,
                                    .bias = n % 4 == 3}};
        const wfi_problem problem = matmul_case_problem(&p.params);
        wfi_choice choice;
        test_expect_errors(true);
        const wf_result offered = wfi_choose(*state, &problem, &tuning, &choice);
        test_expect_errors(false);
        if (offered != WF_SUCCESS) { /* the device has no such type, or too little memory for it */
            assert_int_not_equal(p.params.type, WF_TYPE_F32);
            continue;
        }
        matmul_case_make(&p, *state, &random);
        matmul_case_run(&p, "side by side");
        matmul_case_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_over_small_bindings),
        cmocka_unit_test(parts_keep_the_epilogue),
        cmocka_unit_test(folds_a_grid_over_small_limits),
        cmocka_unit_test(shared_tiles_are_right),
        cmocka_unit_test(one_operand_is_copied),
        cmocka_unit_test(copies_stand_beside_whole_operands),
        cmocka_unit_test(f64_is_copied),
        cmocka_unit_test(tiles_go_without_padding),
        cmocka_unit_test(elements_are_stored_side_by_side),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
