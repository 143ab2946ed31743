/* Problems without elements: what is left of them is done, and nothing else is touched or bound. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "harness.h"

#define ROOM 16 /* elements of a vector */

typedef struct vector {
    wf_buffer *buffer;
    uint32_t count;
    wf_type type;
} vector;

/* Elements 1, 2, … in device memory; no buffer where there are none. */
static vector make_vector(wf_device *device, wf_type type, uint32_t count)
{
    vector v = {.count = count, .type = type};
    double data[ROOM];
    assert_in_range(count, 0, ROOM);
    for (uint32_t i = 0; i < count; i++)
        wf_element_set(type, data, i, i + 1.0);
    if (count == 0)
        return v;
    const uint64_t bytes = count * wf_type_size(type);
    assert_int_equal(wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, &v.buffer), WF_SUCCESS);
    assert_int_equal(wf_buffer_write(v.buffer, 0, data, bytes), WF_SUCCESS);
    return v;
}

/* Whether the elements are factor, 2 factor, … now. */
static void expect_times(vector *v, double factor)
{
    double data[ROOM];
    if (v->count)
        assert_int_equal(wf_buffer_read(v->buffer, 0, data, v->count * wf_type_size(v->type)),
                         WF_SUCCESS);
    for (uint32_t i = 0; i < v->count; i++)
        assert_float_equal(wf_element_get(v->type, data, i), factor * (i + 1.0), 0);
    wf_buffer_destroy(&v->buffer);
}

static void multiply(wf_device *device, const wf_spmv_params *p)
{
    const uint32_t vectors = p->vectors ? p->vectors : 1;
    const wf_type real = p->type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32;
    vector x = make_vector(device, real, (p->transpose ? p->rows : p->columns) * vectors);
    vector y = make_vector(device, real, (p->transpose ? p->columns : p->rows) * vectors);
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {[WF_SPMV_X] = {.buffer = x.buffer}, [WF_SPMV_Y] = {.buffer = y.buffer}}};
    wf_spmv_analysis analysis = {.size = sizeof analysis};
    wf_plan_info info = {.size = sizeof info};
    wf_plan *plan = NULL;
    if (wf_spmv_plan(device, p, &plan) != WF_SUCCESS)
        fail_msg("%u x %u: %s", p->rows, p->columns, test_last_error());
    assert_int_equal(wf_plan_describe(plan, &info), WF_SUCCESS);
    assert_int_equal(wf_spmv_analysis_of(plan, &analysis), WF_SUCCESS);
    assert_true(analysis.entries == 0);
    assert_int_equal(info.dispatches > 0, y.count > 0);
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    wf_plan_destroy(&plan);
    expect_times(&x, 1);
    expect_times(&y, p->beta);
}

static void sparse_products_of_nothing(void **state)
{
    static const uint32_t shapes[][2] = {{0, 0}, {0, 3}, {3, 0}, {3, 4}};
    static const uint32_t offsets[4] = {0};
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64, WF_TYPE_F16};
    static const char *const variants[] = {NULL, "row", "sliced", "equal"};
    for (int t = 0; t < 3; t++)
        for (int s = 0; s < 4 && test_has_type(*state, types[t]); s++)
            for (int way = 0; way < 8; way++) {
                const wf_tuning tuning = {.size = sizeof tuning, .variant = variants[way % 4]};
                const bool none = shapes[s][0] == 0 || shapes[s][1] == 0;
                const wf_spmv_params params = {.size = sizeof params,
                                               .rows = shapes[s][0],
                                               .columns = shapes[s][1],
                                               .row_offsets = offsets,
                                               .type = types[t],
                                               .tuning = none ? &tuning : NULL,
                                               .transpose = way & 1,
                                               .vectors = way & 2 ? 3 : 0,
                                               .updatable = way & 4,
                                               .beta = way & 4 ? 0 : -2};
                multiply(*state, &params);
            }
}

static void an_entry_without_a_column_is_refused(void **state)
{
    const uint32_t offsets[3] = {0, 0, 1}, columns[1] = {0};
    const float values[1] = {1};
    wf_plan *plan = NULL;
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = 2,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = values};
    test_expect_errors(true);
    assert_int_equal(wf_spmv_plan(*state, &params, &plan), WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(test_last_error(), "column_indices[0] is 0, not below 0"));
    test_expect_errors(false);
    assert_null(plan);
}

static void vectors_of_nothing(void **state)
{
    for (int operation = WF_VECTOR_AXPY; operation <= WF_VECTOR_DOT; operation++) {
        const wf_vector_params params = {
            .size = sizeof params, .operation = (wf_vector_operation)operation, .result = 1};
        vector scalars = make_vector(*state, WF_TYPE_F32, 2);
        wf_bindings bindings = {.size = sizeof bindings,
                                .items = {[WF_VECTOR_SCALARS] = {.buffer = scalars.buffer}}};
        float values[2];
        wf_plan *plan = NULL;
        wf_buffer *workspace = NULL;
        assert_int_equal(wf_vector_plan(*state, &params, &plan), WF_SUCCESS);
        if (wf_plan_workspace(plan))
            assert_int_equal(
                wf_buffer_create(*state, wf_plan_workspace(plan), WF_MEMORY_DEVICE, &workspace),
                WF_SUCCESS);
        bindings.workspace.buffer = workspace;
        assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
        assert_int_equal(wf_buffer_read(scalars.buffer, 0, values, sizeof values), WF_SUCCESS);
        assert_float_equal(values[0], 1, 0);
        assert_float_equal(values[1], operation == WF_VECTOR_DOT ? 0 : 2, 0);
        wf_plan_destroy(&plan);
        wf_buffer_destroy(&workspace);
        wf_buffer_destroy(&scalars.buffer);
    }
}

/* C = 3 x 4 of sums without terms, and products without elements. */
static void dense_products_of_nothing(void **state)
{
    static const uint64_t sizes[][3] = {{3, 4, 0}, {0, 4, 2}, {3, 0, 2}, {0, 0, 0}};
    for (int s = 0; s < 4; s++)
        for (int beta = 0; beta < 2; beta++) {
            const wf_matmul_params params = {.size = sizeof params,
                                             .m = sizes[s][0],
                                             .n = sizes[s][1],
                                             .k = sizes[s][2],
                                             .beta = 3.0 * beta};
            vector c = make_vector(*state, WF_TYPE_F32, (uint32_t)(params.m * params.n));
            /* A and B have elements where k is not 0. */
            vector other = make_vector(*state, WF_TYPE_F32, 8);
            const wf_bindings bindings = {.size = sizeof bindings,
                                          .items = {[WF_MATMUL_A] = {.buffer = other.buffer},
                                                    [WF_MATMUL_B] = {.buffer = other.buffer},
                                                    [WF_MATMUL_C] = {.buffer = c.buffer}}};
            wf_plan *plan = NULL;
            assert_int_equal(wf_matmul_plan(*state, &params, &plan), WF_SUCCESS);
            assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
            wf_plan_destroy(&plan);
            expect_times(&c, 3.0 * beta);
            expect_times(&other, 1);
        }
}

static void systems_of_nothing(void **state)
{
    const uint32_t offsets[1] = {0};
    const wf_spmv_params matrix = {.size = sizeof matrix, .row_offsets = offsets};
    const wf_cg_params params = {.size = sizeof params, .matrix = &matrix};
    wf_cg_result result = {.status = WF_CG_BREAKDOWN, .iterations = 7};
    wf_cg *cg = NULL;
    assert_int_equal(wf_cg_solve(*state, &params, NULL, NULL, &result), WF_SUCCESS);
    assert_int_equal(result.status, WF_CG_CONVERGED);
    assert_int_equal(result.iterations, 0);
    test_expect_errors(true);
    assert_int_equal(wf_cg_create(*state, &params, &cg), WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(test_last_error(), "without rows"));
    test_expect_errors(false);
    assert_null(cg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_products_of_nothing),
        cmocka_unit_test(an_entry_without_a_column_is_refused),
        cmocka_unit_test(vectors_of_nothing),
        cmocka_unit_test(dense_products_of_nothing),
        cmocka_unit_test(systems_of_nothing),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
