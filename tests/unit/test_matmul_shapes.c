/* Products whose shape is nobody's favourite: what predicted times choose, and that they behave as
 * times do. (What was chosen of drawn products, and what it took: bench/notes/matmul.md#shapes.) */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/vendors.h"
#include "gpus.h"
#include "kernels/families.h"
#include "kernels/matmul/model.h"
#include "kernels/matmul/published_time.h"
#include "kernels/matmul/tile.h"
#include "kernels/matmul/tile_time.h"

static wf_caps card_of(uint32_t vendor)
{
    wf_caps caps = gpu_card(vendor);
    caps.full_subgroups = caps.subgroup_size_control = true;
    return caps;
}

/* Tiles of these are too few for the compute units, so that parts of the sum have to fill them. */
static void few_tiles_are_split(void **state)
{
    (void)state;
    static const struct {
        uint64_t m, n, k;
    } shapes[] = {{88, 39, 9953}, {86, 95, 3864}, {7, 287, 4029}, {192, 80, 15728}};
    const wf_caps caps = card_of(WFI_NVIDIA);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int f64 = 0; f64 < 2; f64++) {
            const wfi_point point =
                gpu_pick_product(&caps, f64 ? WF_TYPE_F64 : WF_TYPE_F32,
                                 wfi_matmul_plain(shapes[i].m, shapes[i].n, shapes[i].k));
            const double tiles = wfi_matmul_tile_count(
                &point.problem->matmul, wfi_point_value(&point, MATMUL_ID_TILE_M, 1),
                wfi_point_value(&point, MATMUL_ID_TILE_N, 1));
            const uint32_t split_k = wfi_point_value(&point, MATMUL_ID_SPLIT_K, 1);
            if (split_k < 4 || tiles * split_k * 2 < caps.compute_units)
                fail_msg("%llux%llux%llu: %s, %.0f tiles in %u parts",
                         (unsigned long long)shapes[i].m, (unsigned long long)shapes[i].n,
                         (unsigned long long)shapes[i].k, point.variant->name, tiles, split_k);
        }
}

/* Where writing rows of C that are no vectors takes most of the time, columns of B stay in
 * registers, and in f64 where they are vectors too; longer sums go to tiles. */
static void short_sums_keep_columns(void **state)
{
    (void)state;
    static const struct {
        uint64_t m, n, k;
        bool outer[2]; /* in f32 and in f64 */
    } shapes[] = {{1003, 6001, 15, {true, true}},   {12003, 1013, 22, {true, true}},
                  {10001, 33, 35, {false, false}},  {5001, 1501, 2, {true, true}},
                  {6755, 3898, 37, {true, true}},   {6755, 3900, 37, {false, false}},
                  {14840, 220, 8, {false, true}},   {1579, 1208, 15, {false, true}},
                  {912, 14212, 1, {false, true}},   {2048, 2048, 64, {false, false}},
                  {1003, 6001, 65, {false, false}}, {4096, 4096, 60, {false, false}}};
    const wf_caps caps = card_of(WFI_NVIDIA), other = card_of(WFI_AMD);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int f64 = 0; f64 < 2; f64++) {
            const wfi_matmul_problem product =
                wfi_matmul_plain(shapes[i].m, shapes[i].n, shapes[i].k);
            const wf_type type = f64 ? WF_TYPE_F64 : WF_TYPE_F32;
            const bool outer =
                strcmp(gpu_pick_product(&caps, type, product).variant->name, "outer") == 0;
            if (outer != shapes[i].outer[f64])
                fail_msg("%s %llux%llux%llu: outer %d", wf_type_name(type),
                         (unsigned long long)shapes[i].m, (unsigned long long)shapes[i].n,
                         (unsigned long long)shapes[i].k, outer);
            /* Where nobody has measured, nothing is chosen by such times. */
            assert_string_not_equal(gpu_pick_product(&other, type, product).variant->name, "outer");
        }
}

/* In f16 by more work-items, and by two columns of each only where few elements of B are kept. */
static void short_sums_of_f16_keep_few_columns(void **state)
{
    (void)state;
    static const struct {
        uint64_t m, n, k;
        uint32_t columns;
    } shapes[] = {{4896, 707, 30, 1}, {7087, 252, 38, 1}, {901, 7001, 17, 2}};
    const wf_caps caps = card_of(WFI_NVIDIA);
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                                     .type = WF_TYPE_F16,
                                     .matmul =
                                         wfi_matmul_plain(shapes[i].m, shapes[i].n, shapes[i].k)};
        wfi_point point = {.caps = &caps,
                           .problem = &problem,
                           .variant = family->variants[wfi_variant_find(family, "outer")]};
        wfi_point_defaults(&point);
        assert_true(point.variant->fit(&point) > 0);
        assert_int_equal(point.values[MATMUL_ID_THREAD_N], shapes[i].columns);
        assert_in_range(point.values[MATMUL_ID_LOCAL_X] * point.values[MATMUL_ID_LOCAL_Y], 128,
                        256);
    }
}

/* One part more would be too many work-groups, too many parts or too short ones. */
static void parts_fill_work_groups(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 20000; i++) {
        const double tiles = 1 + i % 211, groups = 1 + i * 7 % 1151;
        const wfi_matmul_problem product = wfi_matmul_plain(64, 64, 1 + i * 13 % 9001);
        const double parts = wfi_matmul_split_for(&product, tiles, groups), more = parts + 1;
        assert_true(parts == 1 ||
                    (tiles * parts <= groups && parts <= 64 && (double)product.k >= 64 * parts));
        assert_true(tiles * more > groups || more > 64 || (double)product.k < 64 * more);
    }
}

/* GPUs whose rates nobody measured, by what is published of their compute units. */
static wf_caps published_card(uint32_t vendor, const char *name, uint32_t units)
{
    wf_caps caps = card_of(vendor);
    snprintf(caps.name, sizeof caps.name, "%s", name);
    caps.compute_units = units;
    return caps;
}

static void published_units_choose_blocks(void **state)
{
    (void)state;
    const struct {
        wf_caps caps;
        double units;  /* that hold work-groups */
        uint32_t sums; /* of a work-item, that have registers */
    } cards[] = {
        {published_card(WFI_AMD, "AMD Radeon RX 7900 XTX (RADV NAVI31)", 96), 48, 64},
        {published_card(WFI_INTEL, "Intel(R) Arc(TM) A770 Graphics (DG2)", 0), 32, 16},
        {published_card(WFI_QUALCOMM, "Adreno (TM) 740", 6), 6, 32},
    };
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        const wf_caps *caps = &cards[i].caps;
        /* Few tiles: parts of the sum, or smaller tiles, have every unit work. */
        wfi_point point = gpu_pick_product(caps, WF_TYPE_F32, wfi_matmul_plain(88, 39, 9953));
        assert_true(wfi_matmul_has_published_time(&point));
        assert_true(wfi_matmul_tile_count(&point.problem->matmul,
                                          wfi_point_value(&point, MATMUL_ID_TILE_M, 1),
                                          wfi_point_value(&point, MATMUL_ID_TILE_N, 1)) *
                        wfi_point_value(&point, MATMUL_ID_SPLIT_K, 1) >=
                    cards[i].units);
        /* Many tiles: blocks as large as registers allow, and no parts. */
        point = gpu_pick_product(caps, WF_TYPE_F32, wfi_matmul_plain(4096, 4096, 4096));
        assert_true(wfi_point_value(&point, MATMUL_ID_THREAD_M, 1) *
                        wfi_point_value(&point, MATMUL_ID_THREAD_N, 1) >=
                    cards[i].sums);
        assert_int_equal(wfi_point_value(&point, MATMUL_ID_SPLIT_K, 1), 1);
        assert_string_equal(point.variant->name, "vector");
        /* What memory decides is for the kernel that reads it once with all its work-items. */
        for (uint64_t vectors = 1; vectors <= 2; vectors++) {
            point = gpu_pick_product(caps, WF_TYPE_F32, wfi_matmul_plain(4096, vectors, 4096));
            assert_string_equal(point.variant->name, "matvec");
        }
        /* Measured rates come first. */
        const wfi_rates rates = {{1}};
        point.rates = &rates;
        assert_false(wfi_matmul_has_published_time(&point));
    }
    const wf_caps nvidia = published_card(WFI_NVIDIA, "NVIDIA H100 80GB HBM3", 132);
    const wfi_point point = gpu_pick_product(&nvidia, WF_TYPE_F32, wfi_matmul_plain(300, 300, 300));
    assert_false(wfi_matmul_has_published_time(&point));
}

static double time_of(const wf_caps *caps, const char *variant, uint64_t m, uint64_t n, uint64_t k,
                      uint32_t split_k)
{
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    const wfi_problem problem = {
        .family = WF_FAMILY_MATMUL, .type = WF_TYPE_F32, .matmul = wfi_matmul_plain(m, n, k)};
    wfi_point point = {.caps = caps,
                       .problem = &problem,
                       .variant = family->variants[wfi_variant_find(family, variant)]};
    wfi_point_defaults(&point);
    point.values[MATMUL_ID_SPLIT_K] = split_k;
    assert_true(wfi_point_legal(&point, NULL));
    return wfi_matmul_tile_time(&point);
}

static void times_grow_with_work_and_waves(void **state)
{
    (void)state;
    static const char *const variants[] = {"vector", "subgroup_k"};
    const wf_caps caps = card_of(WFI_NVIDIA);
    for (size_t i = 0; i < 2; i++) {
        const char *name = variants[i];
        const uint64_t tile = i ? 32 : 64; /* the default */
        const uint64_t wave = tile * caps.compute_units;
        const double one = time_of(&caps, name, tile, tile, 1024, 1);
        /* One tile, and one for each compute unit: they run side by side. */
        assert_float_equal(time_of(&caps, name, wave, tile, 1024, 1), one, one * 1e-9);
        assert_true(time_of(&caps, name, wave + 1, tile, 1024, 1) > one);
        assert_true(time_of(&caps, name, tile, tile, 2048, 1) > 1.5 * one);
        /* Parts of a long sum gain, and those of a short one cost another dispatch. */
        assert_true(time_of(&caps, name, tile, tile, 16384, 16) <
                    time_of(&caps, name, tile, tile, 16384, 1) / 4);
        assert_true(time_of(&caps, name, tile, tile, 64, 2) >
                    time_of(&caps, name, tile, tile, 64, 1));
        /* Rows that are no vectors are read, and stored, element by element. */
        assert_true(time_of(&caps, name, tile, tile - 1, 1024, 1) > one);
    }
}

/* Microseconds longer that `outer` takes where one of the rates is longer by so much. */
static double outer_grows(wf_type type, wfi_rate rate, double by)
{
    const wf_caps caps = card_of(WFI_NVIDIA);
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    const wfi_problem problem = {
        .family = WF_FAMILY_MATMUL, .type = type, .matmul = wfi_matmul_plain(1999, 1001, 48)};
    wfi_point point = {.caps = &caps,
                       .problem = &problem,
                       .variant = family->variants[wfi_variant_find(family, "outer")]};
    wfi_rates rates = *wfi_matmul_rates_of(&point);
    wfi_point_defaults(&point);
    point.rates = &rates;
    const double before = point.variant->expect(&point) / wfi_matmul_microsecond(&point);
    rates.of[rate] += by;
    return point.variant->expect(&point) / wfi_matmul_microsecond(&point) - before;
}

/* Waves of its work-groups follow others, too; a multiply-add of f32 takes more than half of the
 * time of one of f64. */
static void columns_take_waves_and_products(void **state)
{
    (void)state;
    const double waves = outer_grows(WF_TYPE_F32, WFI_RATE_WAVE, 1),
                 f32 = outer_grows(WF_TYPE_F32, WFI_RATE_MULTIPLY_ADD, 1e-6),
                 f64 = outer_grows(WF_TYPE_F64, WFI_RATE_MULTIPLY_ADD, 1e-6);
    assert_true(waves >= 1 - 1e-6);
    assert_float_equal(waves, round(waves), 1e-6);
    assert_true(f32 > 0.6 * f64 && f32 < 0.9 * f64);
}

/* Long sums store side by side where registers are loaded ahead, and in f64. */
static void long_sums_gather_where_it_pays(void **state)
{
    (void)state;
    const wf_caps caps = card_of(WFI_NVIDIA);
    uint32_t gathered = 0;
    for (uint64_t m = 129; m < 4000; m = m * 3 / 2)
        for (int f64 = 0; f64 < 2; f64++) {
            const wfi_point point = gpu_pick_product(&caps, f64 ? WF_TYPE_F64 : WF_TYPE_F32,
                                                     wfi_matmul_plain(m, 75, 1405));
            if (strcmp(point.variant->name, "vector") != 0)
                continue;
            const bool ahead = point.values[MATMUL_ID_DOUBLE_BUFFER] != 0,
                       gathers = wfi_matmul_gathers(&point);
            assert_true(!gathers || ahead || f64);
            gathered += gathers;
        }
    assert_true(gathered >= 4);
}

/* What takes less of memory and work counts as well, so that a kernel that works a bit longer than
 * memory takes is not chosen before one that works less (bench/notes/matmul.md#choices). */
static void work_that_memory_hides_counts(void **state)
{
    (void)state;
    static const struct {
        uint64_t m, n, k;
    } shapes[] = {{2268, 10, 10486}, {16, 13520, 912}};
    const wf_caps caps = card_of(WFI_NVIDIA);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const wfi_point point = gpu_pick_product(
            &caps, WF_TYPE_F32, wfi_matmul_plain(shapes[i].m, shapes[i].n, shapes[i].k));
        assert_string_equal(point.variant->name, "subgroup_k");
    }
}

/* Many tiles of 64 x 128, a third of which would be empty, make way for smaller ones. */
static void tiles_are_not_empty(void **state)
{
    (void)state;
    const wf_caps caps = card_of(WFI_NVIDIA);
    wfi_matmul_problem p = wfi_matmul_plain(832, 160, 600);
    p.batch = 40;
    const wfi_point narrow = gpu_pick_product(&caps, WF_TYPE_F32, p);
    assert_int_equal(wfi_point_value(&narrow, MATMUL_ID_TILE_N, 0), 32);
    p.n = 256;
    p.ldb = p.ldc = 256;
    const wfi_point wide = gpu_pick_product(&caps, WF_TYPE_F32, p);
    assert_int_equal(wfi_point_value(&wide, MATMUL_ID_TILE_N, 0), 128);
}

/* Columns that lie in rows of memory each are loaded slowly. */
static void rows_of_b_are_not_kept_as_columns(void **state)
{
    (void)state;
    const wf_caps caps = card_of(WFI_NVIDIA);
    wfi_matmul_problem p = wfi_matmul_plain(150, 9315, 45);
    assert_string_equal(gpu_pick_product(&caps, WF_TYPE_F32, p).variant->name, "outer");
    p.transpose_b = true;
    p.ldb = 45;
    assert_string_equal(gpu_pick_product(&caps, WF_TYPE_F32, p).variant->name, "vector");
}

/* Small blocks of short sums in f32 load nothing ahead; shallow tiles are for sums that they end
 * closer to. */
static void short_sums_have_short_loops(void **state)
{
    (void)state;
    const wf_caps caps = card_of(WFI_NVIDIA);
    for (uint64_t k = 4; k <= 400; k += 4) {
        const wfi_point point =
            gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(1488, 420, k));
        const uint32_t *v = point.values;
        if (strcmp(point.variant->name, "vector") != 0)
            continue;
        const bool small = v[MATMUL_ID_THREAD_M] * v[MATMUL_ID_THREAD_N] <= 32;
        assert_false(small && k <= 128 && v[MATMUL_ID_DOUBLE_BUFFER]);
        assert_true(!small || k <= 128 || v[MATMUL_ID_DOUBLE_BUFFER]);
        if (small && v[MATMUL_ID_TILE_K] == 8)
            assert_true(k <= 64 && (k - 1) % 16 < 8);
    }
    const wfi_point shallow = gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(1488, 420, 40));
    assert_int_equal(shallow.values[MATMUL_ID_TILE_K], 8);
}

/* Work-groups share tiles of 16 steps by stream-K, too. */
static void deep_tiles_are_shared(void **state)
{
    (void)state;
    const wf_caps caps = card_of(WFI_NVIDIA);
    const wfi_point point = gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(5792, 192, 1760));
    assert_string_equal(point.variant->name, "vector");
    assert_int_equal(point.values[MATMUL_ID_TILE_K], 16);
    assert_int_equal(point.values[MATMUL_ID_STREAM_K], 2);
}

/* f64 has tiles of 128 and 256 x 64: those of 64 x 64 keep half of a unit's schedulers busy. */
static void columns_of_f64_have_high_tiles(void **state)
{
    (void)state;
    const wf_caps caps = card_of(WFI_NVIDIA);
    const wfi_point point = gpu_pick_product(&caps, WF_TYPE_F64, wfi_matmul_plain(5776, 288, 3024));
    assert_string_equal(point.variant->name, "vector");
    assert_int_equal(point.values[MATMUL_ID_TILE_M], 128);
    assert_int_equal(point.values[MATMUL_ID_TILE_N], 64);
    const wfi_point high = gpu_pick_product(&caps, WF_TYPE_F64, wfi_matmul_plain(7712, 144, 2624));
    assert_int_equal(high.values[MATMUL_ID_TILE_M], 256);
    assert_int_equal(high.values[MATMUL_ID_TILE_N], 64);
}

/* One of the timed blocks of f64 with B transposed fits Vulkan's least shared memory, without
 * padding; none the half of it. */
static void small_limits_keep_tiles(void **state)
{
    (void)state;
    wf_caps caps = card_of(WFI_NVIDIA);
    caps.max_shared_bytes = 16384;
    caps.max_invocations = caps.max_group_size[0] = caps.max_group_size[1] = 128;
    wfi_matmul_problem p = wfi_matmul_plain(500, 500, 500);
    p.transpose_b = true;
    for (int half = 0; half < 2; half++, caps.max_shared_bytes /= 2) {
        const wfi_point point = gpu_pick_product(&caps, WF_TYPE_F64, p);
        assert_string_equal(point.variant->name, "vector");
        assert_true(point.variant->shared_bytes(&point) <= caps.max_shared_bytes);
    }
}

/* What predicted times copy can be read in place too: one value is changed, and kernels of copies
 * read vectors all the same. */
static void copies_can_be_left_out(void **state)
{
    (void)state;
    const wf_caps caps = card_of(WFI_NVIDIA);
    wfi_point point = gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(7183, 231, 5351));
    const uint32_t copies = wfi_point_value(&point, MATMUL_ID_PACK, 0);
    wfi_pipeline_desc desc;
    uint32_t vec4 = 0;
    assert_true(copies != 0);
    wfi_point_pipeline(&point, &desc);
    for (uint32_t i = 0; i < desc.constant_count; i++)
        if (desc.constants[i].id == MATMUL_ID_VEC4)
            vec4 = desc.constants[i].value;
    assert_int_equal(vec4, copies); /* no other rows are vectors */
    wfi_point_set(&point, MATMUL_ID_PACK, 0);
    assert_true(wfi_point_legal(&point, NULL));
}

/* Devices whose rates nobody measured, types and sizes that were not. */
static void others_are_not_timed(void **state)
{
    (void)state;
    wfi_problem problem = {
        .family = WF_FAMILY_MATMUL, .type = WF_TYPE_F32, .matmul = wfi_matmul_plain(300, 300, 300)};
    const wf_caps measured = card_of(WFI_NVIDIA), other = card_of(WFI_AMD);
    wfi_point point = {.caps = &measured, .problem = &problem};
    assert_true(wfi_matmul_times_tiles(&point));
    assert_true(wfi_matmul_start_time(&point) > 0);
    problem.type = WF_TYPE_F16;
    assert_false(wfi_matmul_times_tiles(&point));
    problem.type = WF_TYPE_F32;
    problem.matmul.varies = true;
    assert_false(wfi_matmul_times_tiles(&point));
    problem.matmul = wfi_matmul_plain(8192, 8192, 300);
    assert_false(wfi_matmul_times_tiles(&point));
    problem.matmul = wfi_matmul_plain(300, 300, 300);
    point.caps = &other;
    assert_false(wfi_matmul_times_tiles(&point));
    assert_true(wfi_matmul_start_time(&point) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_tiles_are_split),
        cmocka_unit_test(short_sums_keep_columns),
        cmocka_unit_test(short_sums_of_f16_keep_few_columns),
        cmocka_unit_test(parts_fill_work_groups),
        cmocka_unit_test(published_units_choose_blocks),
        cmocka_unit_test(times_grow_with_work_and_waves),
        cmocka_unit_test(columns_take_waves_and_products),
        cmocka_unit_test(long_sums_gather_where_it_pays),
        cmocka_unit_test(work_that_memory_hides_counts),
        cmocka_unit_test(tiles_are_not_empty),
        cmocka_unit_test(rows_of_b_are_not_kept_as_columns),
        cmocka_unit_test(short_sums_have_short_loops),
        cmocka_unit_test(deep_tiles_are_shared),
        cmocka_unit_test(columns_of_f64_have_high_tiles),
        cmocka_unit_test(small_limits_keep_tiles),
        cmocka_unit_test(copies_can_be_left_out),
        cmocka_unit_test(others_are_not_timed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
