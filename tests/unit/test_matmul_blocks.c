/* Tiles that the model chooses of its lists for products that H200s timed by them: where these are
 * faster than others, and where they were found to be slower than predicted
 * (bench/notes/matmul.md#more-blocks). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/vendors.h"
#include "gpus.h"
#include "kernels/families.h"
#include "kernels/matmul/model.h"

typedef struct block {
    uint32_t tile_m, tile_n, tile_k, thread_m, thread_n, slices_k; /* slices_k: 0 in `vector` */
} block;

typedef struct choice {
    uint64_t m, n, k, batch;
    bool transpose_b;
    block block;
} choice;

static wfi_matmul_problem product_of(const choice *c)
{
    wfi_matmul_problem p = wfi_matmul_plain(c->m, c->n, c->k);
    p.batch = c->batch;
    p.transpose_b = c->transpose_b;
    p.ldb = c->transpose_b ? c->k : c->n;
    return p;
}

static wf_caps card(void)
{
    wf_caps caps = gpu_card(WFI_NVIDIA);
    caps.full_subgroups = caps.subgroup_size_control = true;
    return caps;
}

static wfi_point pick(wf_type type, const choice *c)
{
    static wf_caps caps;
    caps = card();
    return gpu_pick_product(&caps, type, product_of(c));
}

static block block_of(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return (block){v[MATMUL_ID_TILE_M],   v[MATMUL_ID_TILE_N],
                   v[MATMUL_ID_TILE_K],   v[MATMUL_ID_THREAD_M],
                   v[MATMUL_ID_THREAD_N], wfi_point_value(point, MATMUL_ID_SLICES_K, 0)};
}

static void check(wf_type type, const choice *choices, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const choice *c = &choices[i];
        const wfi_point point = pick(type, c);
        const block found = block_of(&point);
        if (memcmp(&found, &c->block, sizeof found) != 0)
            fail_msg("%llux%llux%llu: %s %ux%ux%u by %ux%u, %u slices", (unsigned long long)c->m,
                     (unsigned long long)c->n, (unsigned long long)c->k, point.variant->name,
                     found.tile_m, found.tile_n, found.tile_k, found.thread_m, found.thread_n,
                     found.slices_k);
    }
}

/* Short steps and small blocks of a work-item in f64, and registers that are not loaded ahead. */
static void sums_of_64_bits_have_short_steps(void **state)
{
    (void)state;
    static const choice choices[] = {
        {32, 2162, 134, 1, false, {32, 32, 8, 4, 4, 0}},
        {16, 13632, 3056, 1, true, {16, 128, 8, 4, 4, 0}},
        {903, 200, 187, 1, false, {32, 16, 8, 4, 4, 0}},
        {10001, 33, 35, 1, false, {64, 16, 8, 4, 4, 0}},
        {3616, 80, 3120, 1, false, {128, 32, 8, 8, 4, 0}},
        {3908, 178, 8778, 1, false, {256, 64, 8, 8, 8, 0}},
        {48, 5504, 768, 1, false, {64, 128, 8, 8, 8, 0}},
    };
    check(WF_TYPE_F64, choices, sizeof choices / sizeof *choices);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const wfi_point point = pick(WF_TYPE_F64, &choices[i]);
        assert_int_equal(point.values[MATMUL_ID_DOUBLE_BUFFER], 0);
        assert_int_equal(point.values[MATMUL_ID_LANES_M] * point.values[MATMUL_ID_LANES_N], 32);
    }
}

static bool is_block(const wfi_point *point, const block *b)
{
    const block found = block_of(point);
    return memcmp(&found, b, sizeof found) == 0;
}

/* Of long sums blocks of 4 x 4 in tiles of 64 x 32 took 1.3 times as long as others; of tiles of
 * 128 x 32 there are few columns; and where elements of C are stored one by one, short sums are
 * for tiles that gather them. */
static void long_sums_of_64_bits_have_large_blocks(void **state)
{
    (void)state;
    static const block low = {64, 32, 8, 4, 4, 0}, high = {128, 32, 8, 8, 4, 0};
    int lows = 0, highs = 0;
    for (uint64_t m = 1000; m <= 10000; m += 477)
        for (uint64_t n = 30; n <= 200; n += 17)
            for (uint64_t k = 40; k <= 8000; k = 2 * k + 5) {
                const choice c = {.m = m, .n = n, .k = k, .batch = 1};
                const wfi_point point = pick(WF_TYPE_F64, &c);
                const uint32_t *v = point.values;
                lows += is_block(&point, &low);
                highs += is_block(&point, &high);
                assert_false(is_block(&point, &low) && k > 1024);
                assert_false(is_block(&point, &high) && n > 128 && k > 512);
                const double tiles = wfi_matmul_tile_count(
                    &point.problem->matmul, v[MATMUL_ID_TILE_M], v[MATMUL_ID_TILE_N]);
                if (strcmp(point.variant->name, "vector") != 0 || v[MATMUL_ID_TILE_K] != 8)
                    continue;
                assert_false(v[MATMUL_ID_TILE_M] == 16 && tiles > 3 * 132);
                if (v[MATMUL_ID_THREAD_M] * v[MATMUL_ID_THREAD_N] <= 32 && k <= 512)
                    assert_true(v[MATMUL_ID_GATHERED] || v[MATMUL_ID_VEC4] & 4);
            }
    assert_true(lows > 0 && highs > 0);
}

/* Slices of tiles that are higher than wide, or half as large as others. */
static void slices_have_lanes_that_divide(void **state)
{
    (void)state;
    static const choice choices[] = {
        {15365, 79, 668, 1, false, {64, 32, 8, 8, 8, 4}},
        {3551, 68, 12560, 1, false, {64, 32, 8, 8, 8, 4}},
        {832, 160, 600, 40, false, {64, 32, 8, 8, 8, 4}},
        {1408, 96, 1648, 1, false, {32, 32, 16, 4, 8, 8}},
        {512, 8, 512, 1, false, {16, 16, 8, 4, 4, 16}},
        {4240, 288, 112, 1, false, {64, 32, 8, 4, 8, 2}},
        {880, 432, 192, 3, true, {32, 64, 8, 8, 4, 2}},
        {144, 5552, 112, 1, false, {16, 64, 8, 8, 4, 2}},
        {1216, 48, 192, 1, false, {32, 16, 8, 4, 4, 4}},
        {1760, 96, 144, 1, false, {16, 32, 8, 4, 4, 4}},
    };
    check(WF_TYPE_F32, choices, sizeof choices / sizeof *choices);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const wfi_point point = pick(WF_TYPE_F32, &choices[i]);
        const uint32_t *v = point.values, items = v[MATMUL_ID_TILE_M] / v[MATMUL_ID_THREAD_M] *
                                                  (v[MATMUL_ID_TILE_N] / v[MATMUL_ID_THREAD_N]);
        assert_int_equal(v[MATMUL_ID_PER_SUBGROUP], items == 32);
        assert_true(v[MATMUL_ID_LANES_M] * v[MATMUL_ID_LANES_N] <= items);
    }
}

/* Tiles of 128 x 64 in steps of eight are for B that is transposed (6393x303x997 110.8 us, 148.5 by
 * 64 x 128, 200 by steps of sixteen; 4310x48x1825 33.9, 81.2 by those). */
static void high_tiles_are_for_transposed_b(void **state)
{
    (void)state;
    static const choice choices[] = {
        {1676, 690, 15255, 1, true, {128, 64, 8, 8, 8, 0}},
        {6393, 303, 997, 1, true, {128, 64, 8, 8, 8, 0}},
        {6176, 64, 4272, 1, true, {128, 64, 8, 8, 8, 0}},
        {4310, 48, 1825, 1, true, {128, 64, 8, 8, 8, 0}},
        {1295, 422, 7946, 1, true, {128, 64, 8, 8, 8, 0}},
    };
    check(WF_TYPE_F32, choices, sizeof choices / sizeof *choices);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        choice plain = choices[i];
        plain.transpose_b = false;
        const wfi_point point = pick(WF_TYPE_F32, &plain);
        const block b = block_of(&point);
        assert_false(b.tile_m == 128 && b.tile_n == 64 && b.tile_k == 8);
    }
}

/* Two slices are for sums of middle length whose C is stored by vectors, and for few tiles; sixteen
 * for no more tiles than units, and small blocks for no long sums; one column of tiles is for
 * `vector`. */
static void slices_are_bounded(void **state)
{
    (void)state;
    static const choice choices[] = {
        {4710, 4, 11886, 1, false, {64, 16, 16, 8, 4, 4}},
        {256, 256, 880, 1, false, {16, 32, 16, 4, 4, 8}},
        {5888, 64, 11184, 1, false, {64, 64, 8, 8, 16, 2}},
        {3040, 464, 496, 1, true, {64, 64, 16, 4, 8, 0}},
        {1232, 400, 576, 3, false, {64, 32, 8, 8, 8, 4}},
        {1312, 288, 464, 22, false, {64, 64, 8, 8, 8, 0}},
        {608, 992, 32, 3, false, {64, 128, 16, 8, 8, 0}},
        {11008, 32, 4096, 1, false, {128, 32, 16, 8, 4, 0}},
    };
    check(WF_TYPE_F32, choices, sizeof choices / sizeof *choices);
    int slices = 0;
    for (uint64_t k = 32; k <= 4096; k += 160) {
        const choice c = {.m = 4240, .n = 288, .k = k, .batch = 1};
        const wfi_point point = pick(WF_TYPE_F32, &c);
        const block found = block_of(&point);
        const bool two = found.slices_k == 2 && found.thread_m * found.thread_n == 32;
        assert_true(!two || (k >= 96 && k <= 416));
        slices += two;
    }
    assert_true(slices > 0);
}

/* Of batches, which are many tiles sooner or later, and of rows of C that are no vectors. */
static void two_slices_are_for_few_tiles(void **state)
{
    (void)state;
    static const uint64_t shapes[][3] = {
        {5264, 160, 160}, {48, 7008, 304}, {1072, 89, 304}, {940, 19, 209}, {880, 432, 192}};
    int chosen = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (uint64_t batch = 1; batch <= 80; batch++) {
            const choice c = {
                .m = shapes[i][0], .n = shapes[i][1], .k = shapes[i][2], .batch = batch};
            const wfi_point point = pick(WF_TYPE_F32, &c);
            const block b = block_of(&point);
            if (b.slices_k != 2 || b.thread_m * b.thread_n != 32)
                continue;
            chosen++;
            assert_true(wfi_matmul_tile_count(&point.problem->matmul, b.tile_m, b.tile_n) <=
                        12 * 132);
            assert_true(b.thread_n < 8 || c.n % 4 == 0);
        }
    assert_true(chosen > 0);
}

/* Tiles of 32 x 16 are for no more than four a unit (8288x48x784: 28.8 us by them, 24.9 by 32 x 64;
 * 7632x48x368: 15.6 and 14.1; 5168x80x96: 8.0 and 7.0). */
static void narrow_tiles_are_few(void **state)
{
    (void)state;
    static const block narrow = {32, 16, 8, 4, 4, 4};
    int chosen = 0;
    for (uint64_t m = 640; m <= 9000; m += 304)
        for (uint64_t n = 16; n <= 96; n += 16)
            for (uint64_t k = 96; k <= 1024; k += 96) {
                const choice c = {.m = m, .n = n, .k = k, .batch = 1};
                const wfi_point point = pick(WF_TYPE_F32, &c);
                if (!is_block(&point, &narrow))
                    continue;
                chosen++;
                assert_true((m + 31) / 32 * ((n + 15) / 16) <= 4 * 132);
            }
    assert_true(chosen > 0);
}

/* Two slices of blocks of 8 x 16 load registers a step ahead, but of single elements. */
static void large_blocks_are_loaded_ahead(void **state)
{
    (void)state;
    static const block large = {64, 64, 8, 8, 16, 2};
    int ahead = 0, not_ahead = 0;
    for (uint64_t m = 200; m <= 6000; m += 361)
        for (uint64_t n = 64; n <= 3000; n += 159)
            for (uint64_t k = 200; k <= 6000; k += 503) {
                const choice c = {.m = m, .n = n, .k = k, .batch = 1};
                const wfi_point point = pick(WF_TYPE_F32, &c);
                const uint32_t buffers = point.values[MATMUL_ID_DOUBLE_BUFFER];
                if (!is_block(&point, &large) || strcmp(point.variant->name, "subgroup_k") != 0)
                    continue;
                assert_int_equal(buffers, n % 4 == 0 && k % 4 == 0 ? 2 : 0);
                ahead += buffers == 2;
                not_ahead += buffers == 0;
            }
    assert_true(ahead > 0 && not_ahead > 0);
}

/* Slices that are no subgroups are not chosen where none can be one, as nobody measured there. */
static void slices_need_subgroups(void **state)
{
    (void)state;
    wf_caps caps = card();
    caps.full_subgroups = false;
    const wfi_point point = gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(512, 8, 512));
    assert_string_equal(point.variant->name, "vector");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_64_bits_have_short_steps),
        cmocka_unit_test(long_sums_of_64_bits_have_large_blocks),
        cmocka_unit_test(slices_have_lanes_that_divide),
        cmocka_unit_test(high_tiles_are_for_transposed_b),
        cmocka_unit_test(slices_are_bounded),
        cmocka_unit_test(two_slices_are_for_few_tiles),
        cmocka_unit_test(narrow_tiles_are_few),
        cmocka_unit_test(large_blocks_are_loaded_ahead),
        cmocka_unit_test(slices_need_subgroups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
