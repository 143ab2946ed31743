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
#include "points.h"

#define RANDOM_POINTS 4

/* A random matrix with x and y, on host and device. */
typedef struct sparse_system {
    wf_device *device;
    wf_spmv_params params;
    uint32_t *row_offsets, *column_indices;
    void *values, *x, *y;
    wf_buffer *device_x, *device_y;
} sparse_system;

static void put_random(void *data, wf_type type, size_t count, test_random *random)
{
    for (size_t i = 0; i < count; i++) {
        const double value = test_random_uniform(random);
        if (type == WF_TYPE_F64)
            ((double *)data)[i] = value;
        else
            ((float *)data)[i] = (float)value;
    }
}

/* lengths: entries of each row. */
static void make_system(sparse_system *s, wf_device *device, wf_type type, uint32_t rows,
                        uint32_t columns, const uint32_t *lengths, test_random *random)
{
    const size_t real = wf_type_size(type);
    *s = (sparse_system){.device = device};
    s->row_offsets = calloc(rows + 1u, sizeof *s->row_offsets);
    assert_non_null(s->row_offsets);
    for (uint32_t i = 0; i < rows; i++)
        s->row_offsets[i + 1] = s->row_offsets[i] + lengths[i];
    const size_t entries = s->row_offsets[rows];
    s->column_indices = malloc((entries + 1) * sizeof *s->column_indices);
    s->values = malloc((entries + 1) * real);
    s->x = malloc(columns * real);
    s->y = malloc(rows * real);
    assert_true(s->column_indices && s->values && s->x && s->y);
    for (size_t i = 0; i < entries; i++)
        s->column_indices[i] = test_random_below(random, columns);
    put_random(s->values, type, entries, random);
    put_random(s->x, type, columns, random);
    s->params = (wf_spmv_params){.size = sizeof s->params,
                                 .rows = rows,
                                 .columns = columns,
                                 .row_offsets = s->row_offsets,
                                 .column_indices = s->column_indices,
                                 .values = s->values,
                                 .type = type};
    assert_int_equal(wf_buffer_create(device, columns * real, WF_MEMORY_DEVICE, &s->device_x), 0);
    assert_int_equal(wf_buffer_create(device, rows * real, WF_MEMORY_DEVICE, &s->device_y), 0);
    assert_int_equal(wf_buffer_write(s->device_x, 0, s->x, columns * real), 0);
}

static void free_system(sparse_system *s)
{
    wf_buffer_destroy(&s->device_x);
    wf_buffer_destroy(&s->device_y);
    free(s->row_offsets);
    free(s->column_indices);
    free(s->values);
    free(s->x);
    free(s->y);
}

static uint32_t multiply(sparse_system *s, const wf_tuning *tuning)
{
    const wf_bindings bindings = {.size = sizeof bindings,
                                  .items = {{.buffer = s->device_x}, {.buffer = s->device_y}}};
    wf_plan_info info = {.size = sizeof info};
    wf_plan *plan = NULL;
    s->params.tuning = tuning;
    assert_int_equal(wf_spmv_plan(s->device, &s->params, &plan), WF_SUCCESS);
    test_poison(s->device_y);
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    assert_int_equal(
        wf_buffer_read(s->device_y, 0, s->y, s->params.rows * wf_type_size(s->params.type)),
        WF_SUCCESS);
    assert_int_equal(wf_plan_describe(plan, &info), WF_SUCCESS);
    wf_plan_destroy(&plan);
    return info.dispatches;
}

static void assert_right(const sparse_system *s, const char *what)
{
    wf_check check;
    assert_int_equal(wf_spmv_check(&s->params, s->x, s->y, &check), WF_SUCCESS);
    assert_int_equal(check.checked, s->params.rows);
    if (!(check.error_over_bound <= 1))
        fail_msg("%s %s, %u rows: row %llu (%u entries) is %g bounds off; seed %llu", what,
                 wf_type_name(s->params.type), s->params.rows, (unsigned long long)check.worst,
                 s->row_offsets[check.worst + 1] - s->row_offsets[check.worst],
                 check.error_over_bound, (unsigned long long)test_seed());
}

static void run_point(void *user, const wfi_point *point)
{
    sparse_system *s = user;
    wf_constant constants[WF_MAX_PARAMETERS];
    char text[256];
    const wf_tuning tuning = test_point_tuning(point, constants);
    multiply(s, &tuning);
    test_point_text(point, text, sizeof text);
    assert_right(s, text);
}

static uint32_t each_point(sparse_system *s, test_random *random)
{
    const wfi_family *family = wfi_family_get(WF_FAMILY_SPMV);
    uint32_t points = 0;
    wfi_problem problem = {.family = WF_FAMILY_SPMV, .type = s->params.type};
    problem.spmv = (wfi_spmv_problem){
        s->params.rows, s->params.columns, s->row_offsets[s->params.rows], 64, 8, 4};
    for (uint32_t v = 0; v < family->variant_count; v++)
        if (family->variants[v].modules[s->params.type])
            points += test_each_point(wf_device_caps(s->device), &problem, &family->variants[v],
                                      RANDOM_POINTS, random, run_point, s);
    return points;
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
    for (int type = WF_TYPE_F32; type <= WF_TYPE_F64; type++) {
        if (type == WF_TYPE_F64 && !wf_device_caps(*state)->f64)
            continue;
        sparse_system s;
        make_system(&s, *state, (wf_type)type, rows, 1013, lengths, &random);
        points += each_point(&s, &random);
        free_system(&s);
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
        multiply(&s, NULL);
        assert_right(&s, "the model's choice");
        free_system(&s);
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
    assert_right(&s, "the product itself");
    free_system(&s);
    free(lengths);
}

static void one_huge_row(void **state)
{
    test_random random = {test_seed()};
    const uint32_t lengths[] = {3, 100000, 0, 7};
    sparse_system s;
    make_system(&s, *state, WF_TYPE_F32, 4, 50000, lengths, &random);
    multiply(&s, NULL);
    assert_right(&s, "a row of 100000 entries");
    free_system(&s);
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
    const uint32_t dispatches = multiply(&s, NULL);
    assert_right(&s, "row blocks");
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
    free_system(&s);
    free_system(&long_row);
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
    multiply(&s, NULL);
    device->caps.max_groups[0] = groups;
    assert_right(&s, "folded grid");
    free_system(&s);
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
    s.params.rows = 0;
    assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_ERROR_INVALID_ARGUMENT);
    s.params.rows = 3;
    if (!wf_device_caps(*state)->f64) {
        s.params.type = WF_TYPE_F64;
        assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_ERROR_UNSUPPORTED);
    }
    test_expect_errors(false);
    assert_null(plan);
    free_system(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adversarial_rows_at_every_point),
        cmocka_unit_test(random_shapes),
        cmocka_unit_test(one_entry_rows_are_exact),
        cmocka_unit_test(one_huge_row),
        cmocka_unit_test(splits_over_small_bindings),
        cmocka_unit_test(folds_a_grid_over_small_limits),
        cmocka_unit_test(refuses_hostile_patterns),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
