/* What tiles of `vector` have in shared memory on NVIDIA's cards, and which terms their time has.
 * (What is chosen by it: test_matmul_shapes.c.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/vendors.h"
#include "gpus.h"
#include "kernels/families.h"
#include "kernels/matmul/model.h"
#include "kernels/matmul/tile.h"
#include "kernels/matmul/tile_time.h"

/* `vector` in tiles of some size; the problem has to outlive the point. */
static wfi_point tile_of(const wf_caps *caps, const wfi_problem *problem,
                         const wfi_matmul_block *block)
{
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    wfi_point point = {.caps = caps,
                       .problem = problem,
                       .variant = family->variants[wfi_variant_find(family, "vector")]};
    wfi_point_defaults(&point);
    wfi_matmul_set_block(&point, block);
    point.values[MATMUL_ID_LANES_M] = 4;
    point.values[MATMUL_ID_LANES_N] = block->tile_n / block->thread_n % 8 ? 1 : 8;
    point.values[MATMUL_ID_SPLIT_K] = 1;
    point.values[MATMUL_ID_VEC4] = wfi_matmul_vec4_bits(&problem->matmul);
    assert_true(wfi_point_legal(&point, NULL));
    return point;
}

/* Whether rows of A's tile are padded, where A is m x k or stored as k x m. */
static bool is_padded(wf_type type, const wfi_matmul_block *block, uint64_t m, uint64_t k,
                      bool transposed)
{
    const wf_caps caps = gpu_card(WFI_NVIDIA);
    wfi_problem problem = {
        .family = WF_FAMILY_MATMUL, .type = type, .matmul = wfi_matmul_plain(m, 96, k)};
    problem.matmul.transpose_a = transposed;
    problem.matmul.lda = transposed ? m : k;
    const wfi_point point = tile_of(&caps, &problem, block);
    return point.variant->shared_bytes(&point) > wfi_matmul_tiles_shared(&point, 0);
}

/* Single elements of A that work-items side by side store across the rows of its tile would all
 * meet in one bank; that costs more than a work-group, but not more than half of them. */
static void stores_across_rows_are_padded(void **state)
{
    (void)state;
    static const wfi_matmul_block small = {64, 32, 16, 4, 4}, large = {64, 128, 8, 8, 8};
    assert_true(is_padded(WF_TYPE_F32, &small, 7145, 183, false));
    assert_true(is_padded(WF_TYPE_F32, &large, 7145, 183, false));
    assert_false(is_padded(WF_TYPE_F32, &small, 7145, 184, false)); /* vectors */
    assert_false(is_padded(WF_TYPE_F32, &small, 7145, 183, true));  /* along the rows */
    assert_false(is_padded(WF_TYPE_F64, &large, 7145, 183, false)); /* one would be left */
}

static uint32_t constant_of(const wfi_point *point, uint32_t id)
{
    wfi_pipeline_desc desc;
    wfi_point_pipeline(point, &desc);
    for (uint32_t i = 0; i < desc.constant_count; i++)
        if (desc.constants[i].id == id)
            return desc.constants[i].value;
    fail_msg("the kernel has no constant %u", id);
    return 0;
}

/* How the rows of an operand's tile lie, where it is stored along the sum; else 0. */
static uint32_t rows_of(const wfi_point *point, uint32_t id, bool along_the_sum)
{
    return along_the_sum ? constant_of(point, id) : 0;
}

/* Rows of B's tile are padded, unless that left a compute unit one work-group of two. */
static void transposed_b_leaves_two_work_groups(void **state)
{
    (void)state;
    static const struct {
        wf_type type;
        wfi_matmul_block block;
        uint32_t padding;
    } all[] = {{WF_TYPE_F64, {64, 128, 8, 8, 8}, 0},
               {WF_TYPE_F64, {128, 64, 8, 8, 8}, 0},
               {WF_TYPE_F64, {128, 128, 8, 8, 8}, WFI_PADDED_A | WFI_PADDED_B},
               {WF_TYPE_F32, {64, 128, 8, 8, 8}, WFI_PADDED_A | WFI_PADDED_B}};
    const wf_caps caps = gpu_card(WFI_NVIDIA);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                               .type = all[i].type,
                               .matmul = wfi_matmul_plain(2000, 1000, 352)};
        problem.matmul.transpose_b = true;
        problem.matmul.ldb = 352;
        const wfi_point point = tile_of(&caps, &problem, &all[i].block);
        assert_int_equal(wfi_matmul_padding(&point), all[i].padding);
        assert_int_equal(point.variant->shared_bytes(&point),
                         wfi_matmul_tiles_shared(&point, all[i].padding));
        assert_int_equal(constant_of(&point, MATMUL_ID_ROWS_A), all[i].padding & WFI_PADDED_A);
        assert_int_equal(constant_of(&point, MATMUL_ID_ROWS_B),
                         (all[i].padding & WFI_PADDED_B) / WFI_PADDED_B);
    }
}

/* Sixteen and more steps of an operand's vectors that are stored across the rows of its tile are
 * parted by a swizzle, which takes no shared memory; eight by padding, as are sums of 64 bits,
 * single elements and small blocks. */
static void vectors_across_many_rows_are_swizzled(void **state)
{
    (void)state;
    static const struct {
        wf_type type;
        wfi_matmul_block block;
        uint64_t k;
        bool transpose_a, transpose_b;
        uint32_t rows_a, rows_b;
    } all[] = {
        {WF_TYPE_F32, {64, 64, 16, 4, 8}, 352, false, true, 2, 2},
        {WF_TYPE_F32, {64, 64, 32, 4, 8}, 352, false, true, 2, 2},
        {WF_TYPE_F16, {64, 64, 16, 4, 8}, 352, false, true, 2, 2},
        {WF_TYPE_F32, {64, 64, 16, 4, 8}, 352, true, false, 0, 0},
        {WF_TYPE_F32, {64, 64, 16, 4, 8}, 352, false, false, 2, 0},
        {WF_TYPE_F32, {64, 64, 8, 4, 8}, 352, false, true, 1, 1},
        {WF_TYPE_F64, {64, 64, 16, 4, 8}, 352, false, true, 1, 1},
        {WF_TYPE_F32, {64, 64, 16, 4, 8}, 353, false, true, 1, 1},
        {WF_TYPE_F32, {32, 40, 16, 4, 8}, 352, false, true, 2, 1},
        {WF_TYPE_F32, {64, 64, 16, 4, 4}, 352, false, true, 1, 1},
        {WF_TYPE_F32, {32, 32, 32, 4, 4}, 352, false, true, 2, 2},
    };
    const wf_caps caps = gpu_card(WFI_NVIDIA);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const wfi_matmul_block *b = &all[i].block;
        wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                               .type = all[i].type,
                               .matmul = wfi_matmul_plain(2000, 1000, all[i].k)};
        problem.matmul.transpose_a = all[i].transpose_a;
        problem.matmul.lda = all[i].transpose_a ? 2000 : all[i].k;
        problem.matmul.transpose_b = all[i].transpose_b;
        problem.matmul.ldb = all[i].transpose_b ? all[i].k : 1000;
        const wfi_point point = tile_of(&caps, &problem, b);
        assert_int_equal(rows_of(&point, MATMUL_ID_ROWS_A, !all[i].transpose_a), all[i].rows_a);
        assert_int_equal(rows_of(&point, MATMUL_ID_ROWS_B, all[i].transpose_b), all[i].rows_b);
        assert_int_equal(wfi_matmul_padding(&point) & wfi_matmul_swizzled(&point), 0);
        const uint64_t longer = (all[i].rows_a == 1) + (all[i].rows_b == 1),
                       tiles = UINT64_C(2) * b->tile_k * (b->tile_m + b->tile_n + 4 * longer) *
                               (all[i].type == WF_TYPE_F64 ? 8 : 4);
        assert_int_equal(point.variant->shared_bytes(&point), tiles);
    }
}

static double term_of(const wf_caps *caps, const wfi_problem *problem,
                      const wfi_matmul_block *block, wfi_rate rate)
{
    const wfi_point point = tile_of(caps, problem, block);
    double terms[WFI_RATES];
    wfi_matmul_tile_terms(&point, wfi_matmul_rates_of(&point), terms);
    return terms[rate];
}

/* Bytes of an operand's rows along the sum that tiles read less than 64 of at a time, counted as
 * often as 64 would hold others, over all bytes that are loaded: of eight steps in f32 each once,
 * of four three times, of sixteen, and of eight in f64, none. */
static void short_rows_take_time(void **state)
{
    (void)state;
    static const struct {
        wf_type type;
        wfi_matmul_block block;
        bool transpose_a, transpose_b;
        double ratio;
    } all[] = {
        {WF_TYPE_F32, {64, 128, 8, 8, 8}, false, false, 64.0 / 192},
        {WF_TYPE_F32, {64, 128, 8, 8, 8}, true, false, 0},
        {WF_TYPE_F32, {64, 128, 8, 8, 8}, false, true, 1},
        {WF_TYPE_F32, {64, 128, 8, 8, 8}, true, true, 128.0 / 192},
        {WF_TYPE_F32, {32, 64, 4, 4, 4}, false, false, 3 * 32.0 / 96},
        {WF_TYPE_F32, {64, 128, 16, 8, 8}, false, true, 0},
        {WF_TYPE_F64, {64, 128, 8, 8, 8}, false, true, 0},
        {WF_TYPE_F64, {64, 128, 4, 8, 8}, false, true, 1},
        {WF_TYPE_F16, {64, 128, 8, 8, 8}, false, true, 3},
    };
    const wf_caps caps = gpu_card(WFI_NVIDIA);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                               .type = all[i].type,
                               .matmul = wfi_matmul_plain(2000, 1000, 24)};
        problem.matmul.transpose_a = all[i].transpose_a;
        problem.matmul.lda = all[i].transpose_a ? 2000 : 24;
        problem.matmul.transpose_b = all[i].transpose_b;
        problem.matmul.ldb = all[i].transpose_b ? 24 : 1000;
        const double rows = term_of(&caps, &problem, &all[i].block, WFI_RATE_SHORT_ROW_BYTE),
                     bytes = term_of(&caps, &problem, &all[i].block, WFI_RATE_LOAD_BYTE);
        assert_true(bytes > 0);
        assert_float_equal(rows / bytes, all[i].ratio, 1e-9);
    }
}

/* Slices of k read what others leave of such a row, so that half as much counts. */
static void slices_share_short_rows(void **state)
{
    (void)state;
    const wf_caps caps = gpu_card(WFI_NVIDIA);
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    const wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                                 .type = WF_TYPE_F32,
                                 .matmul = wfi_matmul_plain(2000, 1000, 512)};
    wfi_point point = {.caps = &caps,
                       .problem = &problem,
                       .variant = family->variants[wfi_variant_find(family, "subgroup_k")]};
    for (uint32_t steps = 8; steps <= 16; steps *= 2) {
        double terms[WFI_RATES];
        wfi_point_defaults(&point);
        wfi_matmul_set_block(&point, &(wfi_matmul_block){32, 32, steps, 4, 8});
        point.values[MATMUL_ID_SLICES_K] = 8;
        point.values[MATMUL_ID_SPLIT_K] = 1;
        point.values[MATMUL_ID_VEC4] = 7;
        wfi_matmul_tile_terms(&point, wfi_matmul_rates_of(&point), terms);
        assert_float_equal(terms[WFI_RATE_SHORT_ROW_BYTE] / terms[WFI_RATE_LOAD_BYTE],
                           steps == 8 ? 0.25 : 0, 1e-9);
    }
}

/* Single elements of B that are stored across the rows of its tile take time there, as A's do. */
static void stores_across_bare_rows_of_b_take_time(void **state)
{
    (void)state;
    static const wfi_matmul_block block = {64, 128, 8, 8, 8};
    const wf_caps caps = gpu_card(WFI_NVIDIA);
    wfi_problem problem = {
        .family = WF_FAMILY_MATMUL, .type = WF_TYPE_F64, .matmul = wfi_matmul_plain(64, 128, 183)};
    const double a = term_of(&caps, &problem, &block, WFI_RATE_SHARED_BYTE_F64);
    problem.matmul.transpose_b = true;
    problem.matmul.ldb = 183;
    const double both = term_of(&caps, &problem, &block, WFI_RATE_SHARED_BYTE_F64);
    problem.matmul.transpose_a = true;
    problem.matmul.lda = 64;
    const double b = term_of(&caps, &problem, &block, WFI_RATE_SHARED_BYTE_F64);
    problem.matmul.transpose_b = false;
    problem.matmul.ldb = 128;
    const double none = term_of(&caps, &problem, &block, WFI_RATE_SHARED_BYTE_F64);
    assert_true(a > none);
    assert_float_equal(b - none, 2 * (a - none), 1e-6 * none); /* twice as many rows */
    assert_float_equal(both - none, 3 * (a - none), 1e-6 * none);
}

/* Vectors of f64 have a rate of their own; single elements take so much longer than those of f32 as
 * they have more words. */
static void vectors_of_f64_are_stored_at_their_own_rate(void **state)
{
    (void)state;
    static const wfi_matmul_block block = {64, 128, 8, 8, 8};
    const wf_caps caps = gpu_card(WFI_NVIDIA);
    for (int f64 = 0; f64 < 2; f64++)
        for (uint64_t n = 127; n <= 128; n++) {
            const wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                                         .type = f64 ? WF_TYPE_F64 : WF_TYPE_F32,
                                         .matmul = wfi_matmul_plain(64, n, 32)};
            const bool own = f64 && n == 128;
            assert_float_equal(term_of(&caps, &problem, &block, WFI_RATE_OUTPUT_F64),
                               own ? 64 * 128 : 0, 0);
            assert_float_equal(term_of(&caps, &problem, &block, WFI_RATE_OUTPUT),
                               own ? 0 : (f64 + 1) * 64 * 128, 0);
            assert_true((term_of(&caps, &problem, &block, WFI_RATE_NARROW_OUTPUT) > 0) ==
                        (n == 127));
        }
}

/* Three tiles a compute unit, shared by two work-groups of it. */
static void shared_tiles_of_f64_are_stored_once(void **state)
{
    (void)state;
    static const wfi_matmul_block block = {64, 128, 8, 8, 8};
    const wf_caps caps = gpu_card(WFI_NVIDIA);
    const wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                                 .type = WF_TYPE_F64,
                                 .matmul = wfi_matmul_plain(64 * 3 * caps.compute_units, 128, 512)};
    wfi_point point = tile_of(&caps, &problem, &block);
    double terms[WFI_RATES];
    point.values[MATMUL_ID_STREAM_K] = 2;
    wfi_matmul_tile_terms(&point, wfi_matmul_rates_of(&point), terms);
    assert_float_equal(terms[WFI_RATE_OUTPUT_F64], 3 * 64 * 128, 1e-6);
}

/* Without padding such stores take time. */
static void conflicts_take_time(void **state)
{
    (void)state;
    static const wfi_matmul_block block = {128, 64, 16, 8, 8};
    const wf_caps caps = gpu_card(WFI_NVIDIA);
    wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                           .type = WF_TYPE_F32,
                           .matmul = wfi_matmul_plain(2361, 549, 5077)};
    wfi_point point = tile_of(&caps, &problem, &block);
    const double across = wfi_matmul_tile_time(&point);
    problem.matmul.transpose_a = true;
    problem.matmul.lda = 2361;
    assert_true(across > 1.1 * wfi_matmul_tile_time(&point));
}

/* By rates for which memory takes no time, of which a part counts beside the work. */
static double wave_time(const wf_caps *caps, const wfi_matmul_block *block, uint64_t tiles)
{
    const wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                                 .type = WF_TYPE_F32,
                                 .matmul =
                                     wfi_matmul_plain(tiles * block->tile_m, block->tile_n, 256)};
    const wfi_point point = tile_of(caps, &problem, block);
    wfi_rates rates = *wfi_matmul_rates_of(&point);
    double terms[WFI_RATES], time = 0;
    rates.of[WFI_RATE_MEMORY_BYTE] = 0;
    wfi_matmul_tile_terms(&point, &rates, terms);
    for (int i = 0; i < WFI_RATES; i++)
        time += terms[i] * rates.of[i];
    return time;
}

/* Two work-groups of a unit end together, and make room for two others: one tile more takes as long
 * as another wave. More of them do not. */
static void pairs_follow_pairs(void **state)
{
    (void)state;
    static const wfi_matmul_block two = {128, 128, 8, 8, 16}, four = {64, 128, 8, 8, 8};
    const wf_caps caps = gpu_card(WFI_NVIDIA);
    const uint64_t units = caps.compute_units;
    const double waves = wave_time(&caps, &two, 4 * units);
    assert_float_equal(wave_time(&caps, &two, 2 * units + 1), waves, waves * 1e-9);
    assert_true(wave_time(&caps, &two, 2 * units) < 0.6 * waves);
    assert_true(wave_time(&caps, &four, 4 * units + 1) < 0.8 * wave_time(&caps, &four, 8 * units));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_across_rows_are_padded),
        cmocka_unit_test(vectors_across_many_rows_are_swizzled),
        cmocka_unit_test(transposed_b_leaves_two_work_groups),
        cmocka_unit_test(short_rows_take_time),
        cmocka_unit_test(slices_share_short_rows),
        cmocka_unit_test(stores_across_bare_rows_of_b_take_time),
        cmocka_unit_test(vectors_of_f64_are_stored_at_their_own_rate),
        cmocka_unit_test(shared_tiles_of_f64_are_stored_once),
        cmocka_unit_test(conflicts_take_time),
        cmocka_unit_test(pairs_follow_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
