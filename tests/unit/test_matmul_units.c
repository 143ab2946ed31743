/* When the model lets work-groups of matrix units share tiles: where an H100 was measured to gain.
 * */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/vendors.h"
#include "gpus.h"
#include "kernels/families.h"
#include "kernels/matmul/matrix_time.h"
#include "profiles/matmul.h"

static wfi_point point_of(const wf_caps *caps, const wfi_problem *problem)
{
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    const char *variant = problem->type == WF_TYPE_F32 ? "f16x2" : "cooperative";
    wfi_point point = {.caps = caps,
                       .problem = problem,
                       .variant = family->variants[wfi_variant_find(family, variant)]};
    wfi_point_defaults(&point);
    assert_true(point.variant->fit(&point) > 0);
    assert_true(wfi_point_legal(&point, NULL));
    return point;
}

static wfi_problem cube(wf_type type, uint32_t n)
{
    return (wfi_problem){
        .family = WF_FAMILY_MATMUL, .type = type, .matmul = wfi_matmul_plain(n, n, n)};
}

/* Tiles of 160 x 192 on 132 units: 4.33 rounds, 6.55, 9.21 and 12.33. */
static void shares_what_rounds_leave(void **state)
{
    static const uint32_t sizes[] = {4096, 5000, 6000, 7000};
    (void)state;
    const wf_caps caps = gpu_matrix_units(WFI_NVIDIA);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const wfi_problem problem = cube(WF_TYPE_F16, sizes[i]);
        const wfi_point point = point_of(&caps, &problem);
        assert_int_equal(wfi_point_value(&point, MATMUL_ID_TILE_M, 0), 160);
        assert_int_equal(wfi_point_value(&point, MATMUL_ID_STREAM_K, 9), 1);
    }
}

/* The parts would cost more than the last round idles: 0.97 rounds, 2.91, 16.94. */
static void full_rounds_are_not_shared(void **state)
{
    static const uint32_t sizes[] = {2048, 3072, 8192};
    (void)state;
    const wf_caps caps = gpu_matrix_units(WFI_NVIDIA);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const wfi_problem problem = cube(WF_TYPE_F16, sizes[i]);
        const wfi_point point = point_of(&caps, &problem);
        assert_int_equal(wfi_point_value(&point, MATMUL_ID_STREAM_K, 9), 0);
    }
}

static void what_was_not_measured_is_not_shared(void **state)
{
    (void)state;
    const wf_caps nvidia = gpu_matrix_units(WFI_NVIDIA), other = gpu_matrix_units(WFI_AMD);
    wfi_problem pairs = cube(WF_TYPE_F32, 6000), halves = cube(WF_TYPE_F16, 6000);
    pairs.matmul.fast = true;
    const wfi_point points[] = {point_of(&nvidia, &pairs), point_of(&other, &halves)};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(wfi_point_value(&points[i], MATMUL_ID_STREAM_K, 9), 0);
    halves.matmul.batch = 2;
    const wfi_point batch = point_of(&nvidia, &halves);
    assert_int_equal(wfi_point_value(&batch, MATMUL_ID_STREAM_K, 9), 0);
}

/* B by rows along the sum begins in as many rows as the tile has columns: tiles have 128 then, of
 * 64 steps, which are whole lines. Short sums have shallow tiles of few subgroups. */
static void rows_of_b_are_few(void **state)
{
    (void)state;
    static const struct {
        uint64_t m, n, k;
        bool transpose_b;
        uint32_t tile_m, tile_n, tile_k;
    } shapes[] = {{4096, 4096, 4096, true, 192, 128, 64},  {4096, 4096, 4096, false, 160, 192, 64},
                  {10000, 5120, 3392, true, 192, 128, 64}, {15488, 9760, 272, true, 160, 128, 32},
                  {5760, 5632, 32, false, 160, 128, 32},   {12688, 768, 176, false, 160, 128, 32},
                  {15344, 3504, 1544, false, 160, 192, 64}};
    const wf_caps caps = gpu_matrix_units(WFI_NVIDIA);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                               .type = WF_TYPE_F16,
                               .matmul = wfi_matmul_plain(shapes[i].m, shapes[i].n, shapes[i].k)};
        problem.matmul.transpose_b = shapes[i].transpose_b;
        problem.matmul.ldb = shapes[i].transpose_b ? shapes[i].k : shapes[i].n;
        const wfi_point point = point_of(&caps, &problem);
        if (wfi_point_value(&point, MATMUL_ID_TILE_M, 0) != shapes[i].tile_m ||
            wfi_point_value(&point, MATMUL_ID_TILE_N, 0) != shapes[i].tile_n ||
            wfi_point_value(&point, MATMUL_ID_TILE_K, 0) != shapes[i].tile_k)
            fail_msg("%llux%llux%llu: %ux%ux%u", (unsigned long long)shapes[i].m,
                     (unsigned long long)shapes[i].n, (unsigned long long)shapes[i].k,
                     wfi_point_value(&point, MATMUL_ID_TILE_M, 0),
                     wfi_point_value(&point, MATMUL_ID_TILE_N, 0),
                     wfi_point_value(&point, MATMUL_ID_TILE_K, 0));
    }
}

static void shallow_tiles_are_for_short_sums(void **state)
{
    (void)state;
    const wf_caps caps = gpu_matrix_units(WFI_NVIDIA);
    int shallow = 0;
    for (uint64_t k = 16; k <= 2000; k += 32)
        for (uint64_t n = 512; n <= 6000; n += 800) {
            const wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                                         .type = WF_TYPE_F16,
                                         .matmul = wfi_matmul_plain(15344, n, k)};
            const wfi_point point = point_of(&caps, &problem);
            const bool is = wfi_point_value(&point, MATMUL_ID_TILE_M, 0) == 160 &&
                            wfi_point_value(&point, MATMUL_ID_TILE_N, 0) == 128;
            assert_true(!is || k <= 640);
            /* These are for B by rows along the sum. */
            assert_false(wfi_point_value(&point, MATMUL_ID_TILE_M, 0) == 192 &&
                         wfi_point_value(&point, MATMUL_ID_TILE_N, 0) == 192);
            shallow += is;
        }
    assert_true(shallow > 20);
}

/* C = A B^T in f16 with rows of k elements. */
static wfi_problem of_rows(uint64_t m, uint64_t n, uint64_t k)
{
    wfi_problem problem = {
        .family = WF_FAMILY_MATMUL, .type = WF_TYPE_F16, .matmul = wfi_matmul_plain(m, n, k)};
    problem.matmul.transpose_b = true;
    problem.matmul.ldb = k;
    return problem;
}

/* Where rows begin at any element, twice as much of a tile is in registers on its way, and an H200
 * took up to twice as long with stream-K as is expected. */
static void rows_that_begin_anywhere_share_no_tiles(void **state)
{
    (void)state;
    const wf_caps caps = gpu_matrix_units(WFI_NVIDIA);
    uint32_t direct[2] = {0, 0}, shared[2] = {0, 0}; /* of whole vectors, of others */
    for (uint64_t m = 200; m < 20000; m += m / 2)
        for (uint64_t n = 100; n < 1500; n += n / 2)
            for (uint64_t k = 1600; k < 12000; k += 1600)
                for (int any = 0; any < 2; any++) {
                    const wfi_problem problem = of_rows(m, n, k + (any ? 3 : 0));
                    const wfi_point point = point_of(&caps, &problem);
                    const bool copies = wfi_point_value(&point, MATMUL_ID_PACK, 0) > 0;
                    direct[any] += !copies;
                    shared[any] += !copies && wfi_point_value(&point, MATMUL_ID_STREAM_K, 0) > 0;
                }
    printf("%u and %u without copies, of which %u and %u share tiles\n", direct[0], direct[1],
           shared[0], shared[1]);
    assert_true(shared[0] > 20 && direct[1] > 20);
    assert_int_equal(shared[1], 0);
}

/* A work-item has two chunks of memory on their way for each that is used, so that a compute unit
 * holds fewer work-groups. */
static void rows_that_begin_anywhere_take_registers(void **state)
{
    (void)state;
    static const uint32_t block[][2] = {
        {MATMUL_ID_TILE_M, 64}, {MATMUL_ID_TILE_N, 64}, {MATMUL_ID_TILE_K, 32},
        {MATMUL_ID_SUB_M, 32},  {MATMUL_ID_SUB_N, 32},  {MATMUL_ID_SUBS_K, 1},
        {MATMUL_ID_SPLIT_K, 1}, {MATMUL_ID_PACK, 0},    {MATMUL_ID_STREAM_K, 0},
    };
    const wf_caps caps = gpu_matrix_units(WFI_NVIDIA);
    double held[3];
    for (int n = 0; n < 3; n++) { /* vectors, others, and others that are copied */
        const wfi_problem problem = of_rows(4096, 4096, n ? 4099 : 4096);
        wfi_point point = point_of(&caps, &problem);
        for (size_t i = 0; i < sizeof block / sizeof *block; i++)
            wfi_point_set(&point, block[i][0], block[i][1]);
        wfi_point_set(&point, MATMUL_ID_PACK, n == 2 ? 3 : 0);
        held[n] = wfi_matmul_matrix_resident(&point);
    }
    printf("%g of vectors, %g of others, %g of copies\n", held[0], held[1], held[2]);
    assert_true(held[1] < held[0]);
    assert_true(held[2] == held[0]);
}

/* Bytes that loads of 128 x 256 x `steps` tiles take as long as, for each step of 2048. */
static double loaded(bool transpose_a, bool transpose_b, uint32_t steps)
{
    const wf_caps caps = gpu_matrix_units(WFI_NVIDIA);
    wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                           .type = WF_TYPE_F16,
                           .matmul = wfi_matmul_plain(128, 256, 3072)};
    problem.matmul.transpose_a = transpose_a;
    problem.matmul.transpose_b = transpose_b;
    problem.matmul.lda = transpose_a ? 128 : 3072;
    problem.matmul.ldb = transpose_b ? 3072 : 256;
    wfi_point point = point_of(&caps, &problem);
    point.values[MATMUL_ID_TILE_M] = 128;
    point.values[MATMUL_ID_TILE_N] = 256;
    point.values[MATMUL_ID_TILE_K] = steps;
    point.values[MATMUL_ID_SUB_M] = point.values[MATMUL_ID_SUB_N] = 64;
    point.values[MATMUL_ID_SPLIT_K] = point.values[MATMUL_ID_SUBS_K] = 1;
    point.values[MATMUL_ID_STREAM_K] = 0;
    double terms[WFI_RATES];
    wfi_matmul_matrix_terms(&point, terms);
    return terms[WFI_RATE_MATRIX_LOAD_BYTE] / (3072.0 / steps);
}

/* 48 steps are 96 bytes, which begin in every quarter of a line of 128, so that they lie in one and
 * a half of them; 32 steps are half a line. */
static void pieces_of_lines_are_loaded(void **state)
{
    (void)state;
    const double columns = 48 * 2 * (128 + 256), a = 128 * (192 - 96) / 2.0;
    assert_float_equal(loaded(true, false, 48), columns, 1e-6);
    assert_float_equal(loaded(false, false, 48), columns + a, 1e-6);
    assert_float_equal(loaded(false, true, 48), columns + 3 * a, 1e-6);
    assert_float_equal(loaded(false, true, 32), 384 * (64 + 128) / 2.0, 1e-6);
    assert_float_equal(loaded(false, true, 64), 384 * 128, 1e-6);
}

/* A row's point on another size, by how full its last round is there. */
static void refits_by_the_size(void **state)
{
    (void)state;
    const wf_caps caps = gpu_matrix_units(WFI_NVIDIA);
    const wfi_problem idle = cube(WF_TYPE_F16, 6000), full = cube(WF_TYPE_F16, 8192);
    wfi_point point = point_of(&caps, &idle);
    point.problem = &full;
    point.variant->refit(&point);
    assert_int_equal(wfi_point_value(&point, MATMUL_ID_STREAM_K, 9), 0);
    point.problem = &idle;
    point.variant->refit(&point);
    assert_int_equal(wfi_point_value(&point, MATMUL_ID_STREAM_K, 9), 1);
    wfi_point_set(&point, MATMUL_ID_TILE_K, 32); /* of which the model knows nothing */
    point.variant->refit(&point);
    assert_int_equal(wfi_point_value(&point, MATMUL_ID_STREAM_K, 9), 0);
}

/* Tiles of these are too few for the compute units: parts of the sum fill them. */
static void few_tiles_are_split(void **state)
{
    static const uint64_t shapes[][3] = {
        {192, 80, 15728}, {611, 84, 1633}, {88, 39, 9953}, {86, 95, 3864}};
    (void)state;
    const wf_caps caps = gpu_matrix_units(WFI_NVIDIA);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const wfi_problem problem = {
            .family = WF_FAMILY_MATMUL,
            .type = WF_TYPE_F16,
            .matmul = wfi_matmul_plain(shapes[i][0], shapes[i][1], shapes[i][2])};
        const wfi_point point = point_of(&caps, &problem);
        const double tile = wfi_point_value(&point, MATMUL_ID_TILE_M, 1) *
                            (double)wfi_point_value(&point, MATMUL_ID_TILE_N, 1),
                     outputs = (double)shapes[i][0] * (double)shapes[i][1],
                     split_k = wfi_point_value(&point, MATMUL_ID_SPLIT_K, 1);
        assert_true(outputs / tile * split_k * 4 >= caps.compute_units);
    }
}

/* Work-groups of these fill whole waves, although those of no one size of tile do. */
static void waves_are_full(void **state)
{
    static const uint64_t shapes[][3] = {
        {4912, 944, 544}, {960, 4848, 560}, {4928, 880, 384}, {424, 256, 8176}};
    (void)state;
    const wf_caps caps = gpu_matrix_units(WFI_NVIDIA);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const wfi_problem problem = {
            .family = WF_FAMILY_MATMUL,
            .type = WF_TYPE_F16,
            .matmul = wfi_matmul_plain(shapes[i][0], shapes[i][1], shapes[i][2])};
        const wfi_point point = point_of(&caps, &problem);
        const double groups = wfi_matmul_tile_count(&problem.matmul,
                                                    wfi_point_value(&point, MATMUL_ID_TILE_M, 1),
                                                    wfi_point_value(&point, MATMUL_ID_TILE_N, 1)) *
                              wfi_point_value(&point, MATMUL_ID_SPLIT_K, 1),
                     waves = groups / (caps.compute_units * wfi_matmul_matrix_resident(&point));
        if (waves / ceil(waves) < 0.8)
            fail_msg("%llux%llux%llu: %.0f work-groups, %.2f waves",
                     (unsigned long long)shapes[i][0], (unsigned long long)shapes[i][1],
                     (unsigned long long)shapes[i][2], groups, waves);
    }
}

/* Rates that were measured on another device choose otherwise. */
static void choices_follow_rates(void **state)
{
    (void)state;
    const wf_caps caps = gpu_matrix_units(WFI_AMD);
    const wfi_problem problem = {
        .family = WF_FAMILY_MATMUL, .type = WF_TYPE_F16, .matmul = wfi_matmul_plain(64, 64, 16384)};
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    for (int slow = 0; slow < 2; slow++) {
        wfi_rates rates = *wfi_matmul_profile_of(&caps)->rates;
        rates.of[WFI_RATE_DISPATCH] *= slow ? 1000 : 1;
        wfi_point point = {.caps = &caps,
                           .problem = &problem,
                           .variant = family->variants[wfi_variant_find(family, "cooperative")],
                           .rates = &rates};
        wfi_point_defaults(&point);
        assert_true(point.variant->fit(&point) > 0);
        assert_int_equal(wfi_point_value(&point, MATMUL_ID_SPLIT_K, 1) > 1, !slow);
    }
}

/* Who asks for plain tiles gets the model's values, and a search tries them. */
static void plain_tiles_can_be_forced(void **state)
{
    static const char *const names[] = {"register", "vector"};
    (void)state;
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    const wf_caps units = gpu_matrix_units(WFI_NVIDIA);
    wf_caps none = units;
    none.cooperative_shape_count = 0;
    const wfi_problem problem = {
        .family = WF_FAMILY_MATMUL, .type = WF_TYPE_F16, .matmul = wfi_matmul_plain(4636, 145, 54)};
    wfi_point matrices = point_of(&units, &problem);
    const double least = matrices.variant->fit(&matrices);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        wfi_point beside = {.caps = &units,
                            .problem = &problem,
                            .variant = family->variants[wfi_variant_find(family, names[i])]};
        wfi_point_defaults(&beside);
        wfi_point alone = beside;
        alone.caps = &none;
        assert_true(beside.variant->fit(&beside) > least);
        assert_true(alone.variant->fit(&alone) > 0);
        assert_memory_equal(beside.values, alone.values, sizeof alone.values);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_what_rounds_leave),
        cmocka_unit_test(full_rounds_are_not_shared),
        cmocka_unit_test(what_was_not_measured_is_not_shared),
        cmocka_unit_test(rows_of_b_are_few),
        cmocka_unit_test(shallow_tiles_are_for_short_sums),
        cmocka_unit_test(rows_that_begin_anywhere_share_no_tiles),
        cmocka_unit_test(rows_that_begin_anywhere_take_registers),
        cmocka_unit_test(pieces_of_lines_are_loaded),
        cmocka_unit_test(refits_by_the_size),
        cmocka_unit_test(few_tiles_are_split),
        cmocka_unit_test(waves_are_full),
        cmocka_unit_test(choices_follow_rates),
        cmocka_unit_test(plain_tiles_can_be_forced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
