/* What the model picks for sparse matrices: those whose rows read x all over, on a card that is not
 * here, as an H200 measured it (bench/notes/spmv.md#sweeps), those with short rows of one length
 * there, and some on processors (bench/notes/spmv.md#processors-long-rows). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpus.h"
#include "core/device.h"
#include "core/vendors.h"
#include "core/volk.h"
#include "kernels/families.h"
#include "kernels/spmv/variants.h"
#include "plan/family.h"
#include "spmv/spmv_ids.h"

/* Rows of entries in random columns. */
static wfi_problem random_columns(uint64_t rows, double mean, wf_type type)
{
    return (wfi_problem){.family = WF_FAMILY_SPMV,
                         .type = type,
                         .spmv = {.rows = rows,
                                  .columns = rows,
                                  .entries = (uint64_t)((double)rows * mean),
                                  .longest_row = (uint32_t)(mean + 5 * sqrt(mean)),
                                  .mean_row = mean,
                                  .row_deviation = sqrt(mean),
                                  .padding = 1.3,
                                  .block = 2,
                                  .block_fill = 0.25,
                                  .bandwidth = rows - 1}};
}

static void check(wf_device *device, const wfi_problem *problem, const char *variant, uint32_t id,
                  uint32_t value)
{
    const wfi_point point = gpu_pick(device, problem);
    const uint32_t found = wfi_point_value(&point, id, 0);
    if (strcmp(point.variant->name, variant) != 0 || found != value)
        fail_msg("%.0f rows of %.0f: %s, where constant %u is %u", (double)problem->spmv.rows,
                 problem->spmv.mean_row, point.variant->name, id, found);
}

static void rows_have_a_lane_each_where_they_share_a_cache(void **state)
{
    (void)state;
    wf_device *device = gpu_nvidia();
    static const struct {
        uint32_t rows, mean;
        wf_type type;
        uint32_t loads;
    } many[] = {{73714, 98, WF_TYPE_F32, 32}, /* 32 loads hold 128 entries of a lane */
                {83840, 30, WF_TYPE_F32, 16},
                {35198, 67, WF_TYPE_F64, 16}, /* of two lanes: too few rows have one each */
                {831360, 26, WF_TYPE_F32, 8}};
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        const wfi_problem problem = random_columns(many[i].rows, many[i].mean, many[i].type);
        check(device, &problem, "sliced", SPMV_ID_SLICE_LOADS, many[i].loads);
    }
    gpu_forget(device);
}

static void only_rows_that_read_all_over_do(void **state)
{
    (void)state;
    wf_device *device = gpu_nvidia();
    const wfi_problem all_over = random_columns(73714, 98, WF_TYPE_F32);
    wfi_problem other = all_over;
    other.spmv.bandwidth = 30000; /* more than the cache, but not all over */
    check(device, &other, "sliced", SPMV_ID_SLICE_LOADS, 8);
    other = random_columns(30000, 98, WF_TYPE_F32); /* x is in the cache */
    check(device, &other, "sliced", SPMV_ID_SLICE_LOADS, 8);
    other = all_over;
    other.spmv.row_deviation = 60;
    check(device, &other, "sliced", SPMV_ID_SLICE_LOADS, 8);
    other = all_over;
    other.spmv.block_fill = 0.39; /* neighbours have neighbouring columns */
    check(device, &other, "sliced", SPMV_ID_SLICE_LOADS, 8);
    other = random_columns(262144, 27, WF_TYPE_F32); /* as of a grid without ends */
    other.spmv.row_deviation = 0;
    check(device, &other, "sliced", SPMV_ID_LOCAL_X, 256);
    other = all_over;
    other.spmv.fused = true;
    check(device, &other, "sliced", SPMV_ID_SLICE_LOADS, 8);
    device->caps.vendor_id = WFI_AMD; /* of whose caches nothing was measured */
    check(device, &all_over, "sliced", SPMV_ID_SLICE_LOADS, 8);
    gpu_forget(device);
}

/* Loads of a slice where `sliced` is chosen or not. */
static uint32_t loads_of(wf_device *device, uint64_t rows, double mean)
{
    const wfi_problem problem = random_columns(rows, mean, WF_TYPE_F32);
    const wfi_family *family = wfi_family_get(WF_FAMILY_SPMV);
    wfi_point point = {.caps = &device->caps,
                       .problem = &problem,
                       .variant = family->variants[wfi_variant_find(family, "sliced")]};
    wfi_point_defaults(&point);
    point.variant->fit(&point);
    return wfi_point_value(&point, SPMV_ID_SLICE_LOADS, 0);
}

/* Rows of about one length have a power of two of lanes: by four loads the 37 fours of a row of
 * 147 entries take 16 lanes of three, of which a quarter is padding. Eight leave too few subgroups
 * where there are fewer rows. */
static void lanes_of_rows_are_counted(void **state)
{
    (void)state;
    wf_device *device = gpu_nvidia();
    assert_int_equal(loads_of(device, 28803, 133), 8);
    assert_int_equal(loads_of(device, 12533, 147), 8);
    assert_int_equal(loads_of(device, 7167, 165), 4);
    gpu_forget(device);
}

/* A unit holds one work-group of 1024, in f64 of 512. */
static void large_groups_fill_all_units(void **state)
{
    (void)state;
    wf_device *device = gpu_nvidia();
    static const struct {
        uint32_t rows, mean;
        wf_type type;
        uint32_t local;
    } many[] = {{234448, 115, WF_TYPE_F32, 1024}, {552670, 35, WF_TYPE_F32, 1024},
                {162045, 19, WF_TYPE_F32, 256}, /* 1.2 work-groups a unit */
                {73714, 98, WF_TYPE_F32, 256},  /* 0.55 */
                {171189, 69, WF_TYPE_F64, 512},   {69000, 69, WF_TYPE_F64, 256}}; /* 1.02 */
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        const wfi_problem problem = random_columns(many[i].rows, many[i].mean, many[i].type);
        check(device, &problem, "sliced", SPMV_ID_LOCAL_X, many[i].local);
    }
    device->caps.max_invocations = 512;
    const wfi_problem problem = random_columns(234448, 115, WF_TYPE_F32);
    check(device, &problem, "sliced", SPMV_ID_LOCAL_X, 256);
    gpu_forget(device);
}

static void short_chains_serve_short_rows(void **state)
{
    (void)state;
    wf_device *device = gpu_nvidia();
    wfi_problem problem = random_columns(479274, 29, WF_TYPE_F64);
    check(device, &problem, "equal", SPMV_ID_LOADS, 1);
    problem.spmv.block_fill = 0.39;
    check(device, &problem, "sliced", SPMV_ID_LOCAL_X, 256);
    problem = random_columns(203642, 13, WF_TYPE_F32);
    check(device, &problem, "equal", SPMV_ID_LOADS, 2);
    gpu_forget(device);
}

/* Rows of one length. */
static wfi_problem even_rows(uint64_t rows, uint32_t length)
{
    return (wfi_problem){.family = WF_FAMILY_SPMV,
                         .type = WF_TYPE_F32,
                         .spmv = {.rows = rows,
                                  .columns = rows,
                                  .entries = rows * length,
                                  .longest_row = length,
                                  .mean_row = length}};
}

static void check_variant(wf_device *device, const wfi_problem *problem, const char *variant)
{
    const wfi_point point = gpu_pick(device, problem);
    if (strcmp(point.variant->name, variant) != 0)
        fail_msg("%.0f rows of %.0f: %s", (double)problem->spmv.rows, problem->spmv.mean_row,
                 point.variant->name);
}

/* As an H200 measured it: many rows of one entry are streamed, few and longer ones are not. */
static void lone_entries_are_streamed(void **state)
{
    (void)state;
    static const struct {
        uint32_t rows, length;
        const char *variant;
    } many[] = {{1500000, 1, "stream"},
                {100000, 1, "equal"},
                {600000, 3, "equal"},
                {640000, 5, "stream"},
                {3000000, 6, "sliced"}};
    wf_device *device = gpu_large();
    device->caps.compute_units = 132;
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        const wfi_problem problem = even_rows(many[i].rows, many[i].length);
        check_variant(device, &problem, many[i].variant);
    }
    gpu_forget(device);
}

/* Rows of a few columns from all over a vector that does not stay in a cache get a work-item each;
 * near the diagonal, or where the vector is small, they are streamed. */
static void rows_that_read_far_are_not_streamed(void **state)
{
    (void)state;
    wf_device *device = gpu_large();
    wfi_problem problem = even_rows(4700000, 5);
    problem.spmv.bandwidth = 4699999;
    check_variant(device, &problem, "row");
    problem.spmv.bandwidth = 2000;
    check_variant(device, &problem, "stream");
    problem = even_rows(900000, 5);
    problem.spmv.bandwidth = 899999;
    check_variant(device, &problem, "stream");
    gpu_forget(device);
}

/* Rows of one length on Mesa's driver for processors, whose subgroups have 8 lanes. */
static const char *pick_on_processors(uint32_t count, wf_type type, uint64_t rows, double mean,
                                      uint32_t longest)
{
    static char name[64];
    wf_device *device = gpu_large();
    wfi_problem problem = random_columns(rows, mean, type);
    device->caps.device_type = VK_PHYSICAL_DEVICE_TYPE_CPU;
    device->caps.driver_id = VK_DRIVER_ID_MESA_LLVMPIPE;
    device->caps.compute_units = count;
    device->caps.subgroup_size = device->caps.subgroup_min = device->caps.subgroup_max = 8;
    problem.spmv.longest_row = longest;
    problem.spmv.row_deviation = ((double)longest - mean) / sqrt((double)rows);
    const wfi_point point = gpu_pick(device, &problem);
    (void)snprintf(name, sizeof name, "%s", point.variant->name);
    gpu_forget(device);
    return name;
}

/* Rows of so many entries, but one of `longest`. */
static wfi_problem beside_long_row(uint64_t rows, uint32_t length, uint32_t longest, wf_type type)
{
    wfi_problem problem = even_rows(rows, length);
    problem.type = type;
    problem.spmv.entries += longest - length;
    problem.spmv.longest_row = longest;
    problem.spmv.mean_row = (double)problem.spmv.entries / (double)rows;
    problem.spmv.row_deviation = ((double)longest - problem.spmv.mean_row) / sqrt((double)rows);
    problem.spmv.padding = 2;
    problem.spmv.bandwidth = rows - 1;
    return problem;
}

/* As an H200 measured it: places of a lane that rows of one or two entries share, and a dispatch
 * for the long row. */
static void short_rows_share_a_lane_beside_a_long_one(void **state)
{
    (void)state;
    wf_device *device = gpu_nvidia();
    static const struct {
        uint32_t rows, length;
        wf_type type;
        uint32_t slices, row_subgroups, long_loads;
    } many[] = {{900000, 1, WF_TYPE_F32, 4, 1, 2},
                {2416549, 1, WF_TYPE_F32, 4, 1, 2},
                {2000000, 2, WF_TYPE_F32, 2, 1, 2},
                {2416549, 1, WF_TYPE_F64, 4, 8, 1},
                {400000, 2, WF_TYPE_F64, 2, 8, 1}};
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        const wfi_problem problem =
            beside_long_row(many[i].rows, many[i].length, many[i].rows, many[i].type);
        check(device, &problem, "equal", SPMV_ID_SLICES, many[i].slices);
        check(device, &problem, "equal", SPMV_ID_ROW_SUBGROUPS, many[i].row_subgroups);
        check(device, &problem, "equal", SPMV_ID_LONG_LOADS, many[i].long_loads);
        check(device, &problem, "equal", SPMV_ID_LONG_X, 512);
        check(device, &problem, "equal", SPMV_ID_WINDOW, 256);
    }
    wfi_problem other = beside_long_row(60000, 1, 60000, WF_TYPE_F32); /* few */
    check(device, &other, "equal", SPMV_ID_SLICES, 1);
    other = beside_long_row(2416549, 1, 5000, WF_TYPE_F32); /* not long */
    check(device, &other, "sliced", SPMV_ID_LOCAL_X, 256);
    other = beside_long_row(2416549, 3, 2416549, WF_TYPE_F32); /* fill most of a lane's places */
    check(device, &other, "sliced", SPMV_ID_LOCAL_X, 256);
    other = beside_long_row(2416549, 2, 2416549, WF_TYPE_F32); /* the others are of all lengths */
    other.spmv.row_deviation *= 1.01;
    check(device, &other, "sliced", SPMV_ID_LOCAL_X, 256);
    other = beside_long_row(2416549, 1, 2416549, WF_TYPE_F32);
    other.spmv.fused = true;
    check(device, &other, "sliced", SPMV_ID_LOCAL_X, 256);
    gpu_forget(device);
}

static void places_that_rows_fill_are_cheap_on_processors(void **state)
{
    (void)state;
    assert_string_equal(pick_on_processors(2, WF_TYPE_F32, 40000, 4, 4),
                        "equal"); /* as many as a load has */
    assert_string_equal(pick_on_processors(2, WF_TYPE_F32, 30000, 5, 5), "lanes");
}

/* Rows of one entry and of two share the places of a lane, which leaves none empty, fewer of them
 * where some are longer, and none where many are. */
static void short_rows_share_places_on_processors(void **state)
{
    static const struct {
        uint32_t length, longest, loads, slices;
        double deviation; /* of the other rows among each other */
    } cases[] = {{1, 1, 1, 4, 0},     {2, 2, 2, 4, 0},      {1, 50000, 2, 4, 0},
                 {2, 50000, 2, 4, 0}, {1, 999, 1, 4, 0},    {3, 3, 1, 1, 0},
                 {2, 2, 1, 2, 0.2},   {2, 5, 1, 2, 0.9},    {1, 50000, 1, 2, 0.2},
                 {2, 5, 1, 1, 1.2},   {1, 50000, 1, 1, 1.2}};
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64};
    wf_device *device = gpu_large();
    (void)state;
    device->caps.device_type = VK_PHYSICAL_DEVICE_TYPE_CPU;
    device->caps.driver_id = VK_DRIVER_ID_MESA_LLVMPIPE;
    device->caps.compute_units = 2;
    device->caps.subgroup_size = device->caps.subgroup_min = device->caps.subgroup_max = 8;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int t = 0; t < 2; t++) {
            const uint32_t longest = cases[i].longest;
            wfi_problem problem = beside_long_row(50000, cases[i].length, longest, types[t]);
            problem.spmv.row_deviation =
                hypot(problem.spmv.row_deviation,
                      hypot(problem.spmv.mean_row - cases[i].length, cases[i].deviation));
            wfi_point point = {.caps = &device->caps, .problem = &problem};
            point.variant = &wfi_spmv_equal;
            wfi_point_defaults(&point);
            assert_true(point.variant->fit(&point) > 0);
            if (point.values[SPMV_ID_LOADS] != cases[i].loads ||
                point.values[SPMV_ID_SLICES] != cases[i].slices)
                fail_msg("case %u of %s: %u loads, %u slices", (unsigned)i, wf_type_name(types[t]),
                         point.values[SPMV_ID_LOADS], point.values[SPMV_ID_SLICES]);
            if (longest < 1000 && cases[i].slices > 1) /* these were timed with `lanes` beside */
                assert_string_equal(gpu_pick(device, &problem).variant->name, "equal");
        }
    gpu_forget(device);
}

/* A row of which one processor multiplies all entries keeps the others waiting, where there are
 * enough of them. */
static void processors_share_a_long_row(void **state)
{
    (void)state;
    assert_string_equal(pick_on_processors(1, WF_TYPE_F32, 76888, 7, 76888), "lanes");
    assert_string_equal(pick_on_processors(2, WF_TYPE_F32, 76888, 7, 76888), "lanes");
    assert_string_equal(pick_on_processors(8, WF_TYPE_F32, 76888, 7, 76888), "equal");
    assert_string_not_equal(pick_on_processors(64, WF_TYPE_F32, 76888, 7, 100), "equal");
    for (uint32_t count = 1; count <= 64; count++) /* of f64 not enough was measured */
        assert_string_equal(pick_on_processors(count, WF_TYPE_F64, 76888, 2, 76888), "lanes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_a_lane_each_where_they_share_a_cache),
        cmocka_unit_test(only_rows_that_read_all_over_do),
        cmocka_unit_test(lanes_of_rows_are_counted),
        cmocka_unit_test(large_groups_fill_all_units),
        cmocka_unit_test(short_chains_serve_short_rows),
        cmocka_unit_test(lone_entries_are_streamed),
        cmocka_unit_test(rows_that_read_far_are_not_streamed),
        cmocka_unit_test(short_rows_share_a_lane_beside_a_long_one),
        cmocka_unit_test(places_that_rows_fill_are_cheap_on_processors),
        cmocka_unit_test(short_rows_share_places_on_processors),
        cmocka_unit_test(processors_share_a_long_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
