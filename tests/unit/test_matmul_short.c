/* Products of few terms on a card with matrix units: storing C is nearly all of them, so that other
 * tiles and steps are chosen than for longer sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/vendors.h"
#include "gpus.h"
#include "kernels/families.h"
#include "kernels/matmul/model.h"
#include "profiles/matmul.h"

/* What lists of sizes expect of plain tiles is not compared with predicted times of matrix units;
 * without these, plain tiles are chosen. */
static void short_sums_are_for_matrix_units(void **state)
{
    static const uint32_t sizes[][3] = {
        {4636, 145, 54}, {16230, 362, 65}, {656, 6288, 16}, {4896, 704, 30}};
    (void)state;
    wf_caps caps = gpu_matrix_units(WFI_NVIDIA);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const wfi_matmul_problem product = wfi_matmul_plain(sizes[i][0], sizes[i][1], sizes[i][2]);
        const uint32_t shapes = caps.cooperative_shape_count;
        assert_string_equal(gpu_pick_product(&caps, WF_TYPE_F16, product).variant->name,
                            "cooperative");
        caps.cooperative_shape_count = 0;
        const char *plain = gpu_pick_product(&caps, WF_TYPE_F16, product).variant->name;
        assert_true(strcmp(plain, "vector") == 0 || strcmp(plain, "register") == 0);
        caps.cooperative_shape_count = shapes;
    }
}

/* Where rows of C are no vectors and sums are shorter still, work-items that store side by side are
 * faster than matrix units. */
static void shortest_sums_are_not_for_matrix_units(void **state)
{
    const wf_caps caps = gpu_matrix_units(WFI_NVIDIA);
    (void)state;
    assert_string_equal(
        gpu_pick_product(&caps, WF_TYPE_F16, wfi_matmul_plain(1003, 6001, 15)).variant->name,
        "outer");
    assert_string_equal(
        gpu_pick_product(&caps, WF_TYPE_F16, wfi_matmul_plain(1003, 6001, 60)).variant->name,
        "cooperative");
    assert_string_equal(
        gpu_pick_product(&caps, WF_TYPE_F16, wfi_matmul_plain(1003, 6000, 15)).variant->name,
        "cooperative");
}

typedef struct few_terms {
    wf_type type;
    uint32_t m, n, k;
    const char *variant;
    uint32_t tile_m, tile_n, tile_k;
} few_terms;

static void check_few_terms(const few_terms *all, size_t count)
{
    wf_caps caps = gpu_matrix_units(WFI_NVIDIA);
    for (size_t i = 0; i < count; i++) {
        const few_terms *f = &all[i];
        const wfi_point point =
            gpu_pick_product(&caps, f->type, wfi_matmul_plain(f->m, f->n, f->k));
        const uint32_t m = wfi_point_value(&point, MATMUL_ID_TILE_M, 0),
                       n = wfi_point_value(&point, MATMUL_ID_TILE_N, 0),
                       k = wfi_point_value(&point, MATMUL_ID_TILE_K, 0);
        if (strcmp(point.variant->name, f->variant) != 0 ||
            (f->tile_m && (m != f->tile_m || n != f->tile_n || k != f->tile_k)))
            fail_msg("%s %ux%ux%u: %s %ux%ux%u", wf_type_name(f->type), f->m, f->n, f->k,
                     point.variant->name, m, n, k);
    }
}

/* Tiles of four steps, where rows of C are vectors (an H200, in the order of the table: 28.0 to
 * 19.4 us, 11.5 to 8.6, 33.8 to 23.5, 26.2 to 17.3, 22.4 to 14.3 and 6.0 to 4.4). */
static void sums_of_few_terms_have_tiles_of_four_steps(void **state)
{
    static const few_terms all[] = {
        {WF_TYPE_F32, 3260, 5200, 1, "vector", 32, 128, 4},
        {WF_TYPE_F32, 712, 6156, 4, "vector", 32, 64, 4},
        {WF_TYPE_F32, 4694, 4600, 1, "vector", 32, 128, 4},
        {WF_TYPE_BF16, 3260, 5200, 1, "vector", 64, 128, 4},
        {WF_TYPE_F16, 3260, 5200, 1, "vector", 32, 128, 4},
        {WF_TYPE_F16, 102, 9856, 8, "vector", 32, 64, 4},
        {WF_TYPE_BF16, 5857, 2344, 1, "vector", 64, 128, 4},
        {WF_TYPE_F32, 3260, 5201, 1, "outer", 0, 0, 0},
        {WF_TYPE_F16, 3260, 5201, 1, "outer", 0, 0, 0},
        {WF_TYPE_F64, 3260, 5200, 1, "outer", 0, 0, 0},
        {WF_TYPE_F32, 3680, 496, 16, "vector", 64, 128, 16},
    };
    (void)state;
    check_few_terms(all, sizeof all / sizeof *all);
    /* Registers are loaded a step ahead where stores are rounded, of bf16 alone. */
    const wf_caps caps = gpu_matrix_units(WFI_NVIDIA);
    for (int bf16 = 0; bf16 < 2; bf16++)
        assert_int_equal(gpu_pick_product(&caps, bf16 ? WF_TYPE_BF16 : WF_TYPE_F16,
                                          wfi_matmul_plain(3260, 5200, 1))
                             .values[MATMUL_ID_DOUBLE_BUFFER],
                         bf16);
}

/* What a variant expects of an f16 product, in microseconds, and its fitted point. */
static double fitted(const char *variant, wfi_matmul_problem product, const wfi_rates *rates,
                     wfi_point *point)
{
    static wf_caps caps;
    static wfi_problem problem;
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    caps = gpu_matrix_units(WFI_NVIDIA);
    problem = (wfi_problem){.family = WF_FAMILY_MATMUL, .type = WF_TYPE_F16, .matmul = product};
    *point = (wfi_point){.caps = &caps,
                         .problem = &problem,
                         .variant = family->variants[wfi_variant_find(family, variant)],
                         .rates = rates};
    wfi_point_defaults(point);
    const double time = point->variant->fit(point);
    assert_true(time > 0);
    return time / wfi_matmul_microsecond(point);
}

/* `naive` counts its stores where they are nearly all: a microsecond more for an element takes as
 * many more as a unit stores. (Without, k = 1 was chosen for it, 130.7 us for 40.3.) */
static void plain_stores_take_time(void **state)
{
    (void)state;
    wfi_point point;
    const wf_caps caps = gpu_matrix_units(WFI_NVIDIA);
    wfi_rates slow = *wfi_matmul_profile_of(&caps)->rates;
    slow.of[WFI_RATE_NARROW_OUTPUT] += 1;
    for (uint64_t k = 1; k <= 65; k += 64) {
        const wfi_matmul_problem product = wfi_matmul_plain(640, 1320, k);
        const double before = fitted("naive", product, wfi_matmul_profile_of(&caps)->rates, &point),
                     after = fitted("naive", product, &slow, &point);
        assert_float_equal(after - before, k == 1 ? 640 * 1320 / 132 : 0, 1e-3);
    }
}

/* `outer` is behind tiles of `vector` where these have few empty rows and columns. */
static void columns_are_behind_tiles(void **state)
{
    (void)state;
    static const struct {
        uint32_t m, n;
        bool tiles;
    } all[] = {{32, 8000, true},
               {31, 8000, false},
               {8000, 64, true},
               {8000, 60, false},
               {8000, 65, false}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        wfi_point point;
        const double time = fitted("outer", wfi_matmul_plain(all[i].m, all[i].n, 4), NULL, &point),
                     expected = point.variant->expect(&point) / wfi_matmul_microsecond(&point);
        if (all[i].tiles)
            assert_true(time > 1.1 * expected);
        else
            assert_float_equal(time, expected, 1e-6);
    }
}

/* Matrix units have short steps there, and large tiles only where a unit has two (an H200, f16:
 * 8000x8000x16 71.9 to 64.2 us, 448x5888x16 8.5 to 6.3). */
static void sums_of_few_terms_have_short_steps(void **state)
{
    static const few_terms all[] = {
        {WF_TYPE_F16, 8000, 8000, 16, "cooperative", 128, 128, 16},
        {WF_TYPE_F16, 4832, 336, 16, "cooperative", 64, 128, 16},
        {WF_TYPE_F16, 448, 5888, 16, "cooperative", 64, 64, 16},
    };
    (void)state;
    check_few_terms(all, sizeof all / sizeof *all);
    const wf_caps caps = gpu_matrix_units(WFI_NVIDIA);
    for (uint64_t k = 16; k <= 32; k += 8) {
        const wfi_point point =
            gpu_pick_product(&caps, WF_TYPE_F16, wfi_matmul_plain(6000, 2000, k));
        const uint32_t m = wfi_point_value(&point, MATMUL_ID_TILE_M, 0),
                       sub_m = wfi_point_value(&point, MATMUL_ID_SUB_M, 0);
        assert_string_equal(point.variant->name, "cooperative");
        assert_true((m <= 128 && sub_m <= 64 && sub_m * 2 == m) == (k <= 24));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_sums_are_for_matrix_units),
        cmocka_unit_test(shortest_sums_are_not_for_matrix_units),
        cmocka_unit_test(sums_of_few_terms_have_tiles_of_four_steps),
        cmocka_unit_test(plain_stores_take_time),
        cmocka_unit_test(columns_are_behind_tiles),
        cmocka_unit_test(sums_of_few_terms_have_short_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
