/* Sparse products against f64: adversarial row lengths, rectangular and empty matrices, every
 * variant and many points, splitting over small bindings, hostile patterns. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/device.h"
#include "sparse.h"

#define RANDOM_POINTS 1

static void make_system(sparse_system *s, wf_device *device, wf_type type, uint32_t rows,
                        uint32_t columns, const uint32_t *lengths, test_random *random)
{
    const sparse_options options = {.type = type};
    test_sparse_make(s, device, &options, rows, columns, lengths, random);
}

/* Row lengths around the subgroup's size, none, and one long row. */
static void adversarial_rows_at_every_point(void **state)
{
    const uint32_t g = wf_device_caps(*state)->subgroup_size;
    const uint32_t lengths[] = {
        0, 1, g > 1 ? g - 1 : 3, g, g + 1, 0, 0, 2 * g + 3, 5, 10007, 1, 2, 3, 64, 0};
    const uint32_t rows = sizeof lengths / sizeof *lengths;
    test_random random = {test_seed()};
    uint32_t points = 0;
    for (int type = WF_TYPE_F32; type <= WF_TYPE_F16; type++) {
        sparse_system s;
        if (!test_has_type(*state, (wf_type)type))
            continue;
        make_system(&s, *state, (wf_type)type, rows, 1013, lengths, &random);
        points += test_sparse_each_point(&s, RANDOM_POINTS, type == WF_TYPE_F32, &random);
        test_sparse_free(&s);
    }
    printf("%u points\n", points);
    assert_true(points > 10);
}

static void random_shapes(void **state)
{
    static const struct {
        uint32_t rows, columns, longest;
    } shapes[] = {{1, 1, 1},    {1, 100003, 50}, {100003, 1, 2}, {997, 1009, 40},
                  {5000, 7, 3}, {3, 4000, 3000}, {257, 257, 0}};
    test_random random = {test_seed()};
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) {
        uint32_t *lengths = malloc(shapes[n].rows * sizeof *lengths);
        assert_non_null(lengths);
        for (uint32_t i = 0; i < shapes[n].rows; i++)
            lengths[i] = test_random_below(&random, shapes[n].longest + 1);
        sparse_system s;
        make_system(&s, *state, WF_TYPE_F32, shapes[n].rows, shapes[n].columns, lengths, &random);
        test_sparse_multiply(&s, NULL);
        test_sparse_right(&s, "the model's choice");
        test_sparse_free(&s);
        free(lengths);
    }
}

/* One product a row, correctly rounded: a reference rounded twice would be off by more than the
 * bound in about one row of 4000. */
static void one_entry_rows_are_exact(void **state)
{
    enum { ROWS = 40000 };
    test_random random = {test_seed()};
    uint32_t *lengths = malloc(ROWS * sizeof *lengths);
    sparse_system s;
    assert_non_null(lengths);
    for (uint32_t i = 0; i < ROWS; i++)
        lengths[i] = 1;
    make_system(&s, *state, WF_TYPE_F64, ROWS, 997, lengths, &random);
    for (uint32_t i = 0; i < ROWS; i++)
        ((double *)s.y)[i] = ((double *)s.values)[i] * ((double *)s.x)[s.column_indices[i]];
    test_sparse_right(&s, "the product itself");
    test_sparse_free(&s);
    free(lengths);
}

/* Long rows in a dispatch of their own, in group_rows and in segments of larger work-groups. */
static void long_rows_apart(sparse_system *s)
{
    static const uint32_t loads[] = {1, 8};
    for (size_t i = 0; i < 2; i++) {
        const wf_constant constants[] = {{"long_x", 128}, {"long_loads", loads[i]}, {"loads", 1}};
        const wf_tuning tuning = {
            .size = sizeof tuning, .variant = "equal", .constants = constants, .constant_count = 3};
        assert_int_equal(test_sparse_multiply(s, &tuning), 2);
        test_sparse_right(s, "long rows apart");
    }
}

/* Rows for group_rows and for segments, in every type, twice with the same bits. */
static void huge_rows_give_the_same_bits(void **state)
{
    static const uint32_t lengths[] = {3, 100000, 0, 7, 600, 5000, 1100, 4097, 0, 33, 2049, 513};
    static const char *const variants[] = {NULL, "merge", "adaptive", "equal"};
    test_random random = {test_seed()};
    for (int type = WF_TYPE_F32; type <= WF_TYPE_F16; type++)
        for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
            const wf_tuning tuning = {.size = sizeof tuning, .variant = variants[v]};
            sparse_system s;
            if (!test_has_type(*state, (wf_type)type))
                continue;
            if (variants[v] && strcmp(variants[v], "adaptive") != 0 &&
                wf_device_caps(*state)->max_storage_buffers < 5)
                continue;
            make_system(&s, *state, (wf_type)type, 12, 50000, lengths, &random);
            const size_t bytes = s.y_elements * (type == WF_TYPE_F64 ? 8 : 4);
            test_sparse_multiply(&s, &tuning);
            test_sparse_right(&s, variants[v] ? variants[v] : "long rows");
            void *first = malloc(bytes);
            assert_non_null(first);
            memcpy(first, s.y, bytes);
            test_sparse_multiply(&s, &tuning);
            assert_memory_equal(first, s.y, bytes);
            free(first);
            if (variants[v] && strcmp(variants[v], "equal") == 0)
                long_rows_apart(&s);
            test_sparse_free(&s);
        }
}

/* Blocks that are full by their rows, by their entries, or not full; columns near and far; plain
 * and scaled; the second product takes the blocks in reverse, the third again from the start. */
static void streams_short_rows(void **state)
{
    static const struct {
        uint32_t local, items, rows, longest, columns;
        double beta;
    } cases[] = {{32, 4, 2, 6, 3000, 0},  {128, 4, 1, 3, 200000, 0},  {64, 8, 8, 1, 200000, 0.5},
                 {8, 16, 3, 128, 900, 0}, {128, 16, 4, 9, 70000, -1}, {96, 4, 6, 384, 65536, 0},
                 {128, 8, 2, 2, 65537, 0}};
    enum { ROWS = 3001 };
    test_random random = {test_seed()};
    uint32_t lengths[ROWS];
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        for (int type = WF_TYPE_F32; type <= WF_TYPE_F16; type++) {
            const wf_constant constants[] = {
                {"local_x", cases[n].local}, {"items", cases[n].items}, {"rows", cases[n].rows}};
            const wf_tuning tuning = {.size = sizeof tuning,
                                      .variant = "stream",
                                      .constants = constants,
                                      .constant_count = 3};
            const sparse_options options = {.type = (wf_type)type, .beta = cases[n].beta};
            sparse_system s;
            wf_plan *plan = NULL;
            if (!test_has_type(*state, (wf_type)type))
                continue;
            for (size_t i = 0; i < ROWS; i++)
                lengths[i] = i % 100 > 90 ? 0 : test_random_below(&random, cases[n].longest + 1);
            lengths[1] = lengths[ROWS - 1] = cases[n].longest;
            test_sparse_make(&s, *state, &options, ROWS, cases[n].columns, lengths, &random);
            s.params.tuning = &tuning;
            assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_SUCCESS);
            for (int i = 0; i < 3; i++) {
                test_sparse_run(&s, plan);
                test_sparse_right(&s, "stream");
            }
            wf_plan_destroy(&plan);
            test_sparse_free(&s);
        }
}

/* The second product starts at the matrix's end and gives each row the same sum. */
static void both_ways_give_the_same_bits(void **state)
{
    static const char *const variants[] = {"sliced", "stream"};
    enum { ROWS = 40000 };
    test_random random = {test_seed()};
    uint32_t *lengths = malloc(ROWS * sizeof *lengths);
    assert_non_null(lengths);
    for (size_t i = 0; i < ROWS; i++)
        lengths[i] = test_random_below(&random, 40);
    lengths[7] = 1000;
    for (size_t v = 0; v < 2; v++) {
        const wf_constant constants[] = {{"items", 8}};
        const wf_tuning tuning = {.size = sizeof tuning,
                                  .variant = variants[v],
                                  .constants = constants,
                                  .constant_count = v};
        sparse_system s;
        wf_plan *plan = NULL;
        if (wf_device_caps(*state)->max_storage_buffers < 5 && v == 0)
            continue;
        make_system(&s, *state, WF_TYPE_F32, ROWS, 50000, lengths, &random);
        s.params.tuning = &tuning;
        assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_SUCCESS);
        float *first = malloc(s.y_elements * sizeof *first);
        assert_non_null(first);
        for (int i = 0; i < 2; i++) {
            test_sparse_run(&s, plan);
            test_sparse_right(&s, variants[v]);
            if (i == 0)
                memcpy(first, s.y, s.y_elements * sizeof *first);
        }
        assert_memory_equal(first, s.y, s.y_elements * sizeof *first);
        free(first);
        wf_plan_destroy(&plan);
        test_sparse_free(&s);
    }
    free(lengths);
}

enum { BAND_ROWS = 1003, BAND_COLUMNS = 1100, BAND_DIAGONALS = 11, BAND_COMMON = 2 };
static const int32_t band[BAND_DIAGONALS] = {-301, -40, -1, 0, 1, BAND_COMMON, 17, 39, 40, 41, 300};

/* Rows whose entries lie on a few common diagonals, one of which every row has; except for a few
 * rows that are empty, or have random entries, unsorted and with duplicates. */
static void make_band(sparse_system *s, wf_device *device, const sparse_options *options,
                      test_random *random)
{
    static uint32_t columns[BAND_ROWS][BAND_DIAGONALS], lengths[BAND_ROWS];
    for (int32_t row = 0; row < BAND_ROWS; row++) {
        lengths[row] = 0;
        for (int i = 0; i < BAND_DIAGONALS; i++) {
            const int32_t column = row + band[i];
            const bool odd_one = row >= 500 && row < 510, empty = row == 700;
            if (odd_one)
                columns[row][lengths[row]++] = test_random_below(random, BAND_COLUMNS);
            else if (!empty && column >= 0 && column < BAND_COLUMNS &&
                     (band[i] == BAND_COMMON || test_random_below(random, 8)))
                columns[row][lengths[row]++] = (uint32_t)column;
        }
    }
    test_sparse_make(s, device, options, BAND_ROWS, BAND_COLUMNS, lengths, random);
    for (uint32_t row = 0; row < BAND_ROWS; row++)
        memcpy(s->column_indices + s->row_offsets[row], columns[row],
               lengths[row] * sizeof **columns);
}

/* Slices of many and of few rows; transposed; scaled; with new values. */
static void rows_on_the_same_diagonals(void **state)
{
    static const struct {
        sparse_options options;
        uint32_t loads, range;
    } cases[] = {
        {{.type = WF_TYPE_F32, .updatable = true}, 1, 16384},
        {{.type = WF_TYPE_F32, .updatable = true, .transpose = true}, 4, 0},
        {{.type = WF_TYPE_F64, .updatable = true, .beta = 1}, 2, 0},
        {{.type = WF_TYPE_F16, .updatable = true}, 32, 0},
    };
    wf_device *device = *state;
    const uint64_t range = device->caps.max_storage_range;
    test_random random = {test_seed()};
    if (device->caps.max_storage_buffers < 5)
        return;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        const wf_constant constants[] = {{"loads", cases[n].loads}, {"window", 1}};
        const wf_tuning tuning = {.size = sizeof tuning,
                                  .variant = "sliced",
                                  .constants = constants,
                                  .constant_count = 2};
        sparse_system s;
        wf_plan *plan = NULL;
        if (!test_has_type(device, cases[n].options.type))
            continue;
        make_band(&s, device, &cases[n].options, &random);
        s.params.tuning = &tuning;
        device->caps.max_storage_range = cases[n].range ? cases[n].range : range;
        assert_int_equal(wf_spmv_plan(device, &s.params, &plan), WF_SUCCESS);
        device->caps.max_storage_range = range;
        for (int i = 0; i < 2; i++) {
            test_sparse_run(&s, plan);
            test_sparse_right(&s, "diagonals");
            test_sparse_new_values(&s, &random);
            assert_int_equal(wf_spmv_update(plan, s.values), WF_SUCCESS);
        }
        wf_plan_destroy(&plan);
        test_sparse_free(&s);
    }
}

enum { ODD_ROWS = 700, ODD_COLUMNS = 611 };

/* Infinities and NaN in x and in the matrix, and zeros of both signs among its entries. */
static void plant(sparse_system *s, bool in_matrix, test_random *random)
{
    const wf_type real = s->params.type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32;
    const double odd[] = {INFINITY, -INFINITY, NAN, INFINITY, 0.0, -0.0};
    const uint32_t entries = s->row_offsets[ODD_ROWS];
    for (uint32_t i = 0; i < 6; i++)
        wf_element_set(real, s->x, test_random_below(random, (uint32_t)s->x_elements), odd[i]);
    for (uint32_t i = 0; in_matrix && i < entries / 50; i++)
        wf_element_set(s->params.type, s->values, test_random_below(random, entries),
                       i % 5 ? odd[4 + i % 2] : odd[i / 5 % 3]);
    assert_int_equal(wf_buffer_write(s->device_x, 0, s->x, s->x_elements * wf_type_size(real)),
                     WF_SUCCESS);
}

/* They reach the rows that have them, as infinities where these are infinite, and no other row,
 * through the padding of no variant; after an update too. */
static void what_is_not_finite_stays_in_its_rows(void **state)
{
    static const char *const padded[] = {"quads", "sliced", "equal", "blocked"};
    test_random random = {test_seed()};
    uint32_t lengths[ODD_ROWS], points = 0;
    for (int n = 0; n < 6; n++) {
        const sparse_options options = {
            .type = (wf_type)(n / 2), .transpose = n % 2 != 0, .updatable = true};
        sparse_system s;
        if (!test_has_type(*state, options.type))
            continue;
        for (uint32_t i = 0; i < ODD_ROWS; i++)
            lengths[i] = i % 9 == 4 ? 0 : test_random_below(&random, i % 50 ? 7 : 60);
        test_sparse_make(&s, *state, &options, ODD_ROWS, ODD_COLUMNS, lengths, &random);
        plant(&s, n % 3 == 1, &random);
        points += test_sparse_each_point(&s, 0, false, &random);
        for (size_t v = 0; v < sizeof padded / sizeof *padded; v++) {
            const wf_tuning tuning = {.size = sizeof tuning, .variant = padded[v]};
            wf_plan *plan = NULL;
            s.params.tuning = &tuning;
            test_expect_errors(true);
            const wf_result made = wf_spmv_plan(*state, &s.params, &plan);
            test_expect_errors(false);
            if (made == WF_ERROR_UNSUPPORTED)
                continue;
            assert_int_equal(made, WF_SUCCESS);
            test_sparse_new_values(&s, &random);
            plant(&s, true, &random);
            assert_int_equal(wf_spmv_update(plan, s.values), WF_SUCCESS);
            test_sparse_run(&s, plan);
            test_sparse_right(&s, padded[v]);
            wf_plan_destroy(&plan);
        }
        test_sparse_free(&s);
    }
    printf("%u points\n", points);
    assert_true(points > 10);
}

static void splits_over_small_bindings(void **state)
{
    wf_device *device = *state;
    const uint64_t range = device->caps.max_storage_range;
    test_random random = {test_seed()};
    uint32_t lengths[700];
    for (size_t i = 0; i < 700; i++)
        lengths[i] = test_random_below(&random, 30);
    sparse_system s;
    make_system(&s, device, WF_TYPE_F32, 700, 500, lengths, &random);
    device->caps.max_storage_range = 8192;
    const uint32_t dispatches = test_sparse_multiply(&s, NULL);
    test_sparse_right(&s, "row blocks");
    assert_true(dispatches >= 5); /* about 10150 entries of 4 bytes over 8 KiB bindings */
    lengths[0] = 3000;
    sparse_system long_row;
    make_system(&long_row, device, WF_TYPE_F32, 2, 500, lengths, &random);
    wf_plan *plan = NULL;
    test_expect_errors(true);
    assert_int_equal(wf_spmv_plan(device, &long_row.params, &plan), WF_ERROR_TOO_LARGE);
    assert_non_null(strstr(test_last_error(), "row 0 has 3000 entries"));
    device->caps.max_storage_range = 1024;
    assert_int_equal(wf_spmv_plan(device, &s.params, &plan), WF_ERROR_TOO_LARGE);
    assert_non_null(strstr(test_last_error(), "x of 2000 bytes"));
    test_expect_errors(false);
    device->caps.max_storage_range = range;
    test_sparse_free(&s);
    test_sparse_free(&long_row);
}

static void folds_a_grid_over_small_limits(void **state)
{
    wf_device *device = *state;
    const uint32_t groups = device->caps.max_groups[0];
    test_random random = {test_seed()};
    uint32_t lengths[2000];
    for (size_t i = 0; i < 2000; i++)
        lengths[i] = i % 5;
    sparse_system s;
    make_system(&s, device, WF_TYPE_F32, 2000, 300, lengths, &random);
    device->caps.max_groups[0] = 3;
    test_sparse_multiply(&s, NULL);
    device->caps.max_groups[0] = groups;
    test_sparse_right(&s, "folded grid");
    test_sparse_free(&s);
}

static void refuses_hostile_patterns(void **state)
{
    test_random random = {test_seed()};
    const uint32_t lengths[] = {2, 2, 2};
    wf_plan *plan = NULL;
    sparse_system s;
    make_system(&s, *state, WF_TYPE_F32, 3, 10, lengths, &random);
    test_expect_errors(true);
    s.column_indices[4] = 10;
    assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(test_last_error(), "column_indices[4] is 10"));
    s.column_indices[4] = 9;
    s.row_offsets[1] = 5;
    assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_ERROR_INVALID_ARGUMENT);
    s.row_offsets[1] = 2;
    s.row_offsets[0] = 1;
    assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_ERROR_INVALID_ARGUMENT);
    s.row_offsets[0] = 0;
    s.params.columns = 0;
    assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(test_last_error(), "not below 0"));
    s.params.columns = 10;
    s.params.row_offsets = NULL;
    assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_ERROR_INVALID_ARGUMENT);
    s.params.row_offsets = s.row_offsets;
    if (!wf_device_caps(*state)->f64) {
        s.params.type = WF_TYPE_F64;
        assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_ERROR_UNSUPPORTED);
    }
    test_expect_errors(false);
    assert_null(plan);
    test_sparse_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adversarial_rows_at_every_point),
        cmocka_unit_test(random_shapes),
        cmocka_unit_test(one_entry_rows_are_exact),
        cmocka_unit_test(huge_rows_give_the_same_bits),
        cmocka_unit_test(streams_short_rows),
        cmocka_unit_test(both_ways_give_the_same_bits),
        cmocka_unit_test(rows_on_the_same_diagonals),
        cmocka_unit_test(what_is_not_finite_stays_in_its_rows),
        cmocka_unit_test(splits_over_small_bindings),
        cmocka_unit_test(folds_a_grid_over_small_limits),
        cmocka_unit_test(refuses_hostile_patterns),
    };
    const struct CMUnitTest of_subgroups[] = {
        cmocka_unit_test(adversarial_rows_at_every_point),
        cmocka_unit_test(rows_on_the_same_diagonals),
    };
    if (getenv("WAVEFIT_TEST_SUBGROUPS"))
        return cmocka_run_group_tests(of_subgroups, test_device_setup, test_device_teardown);
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
