#include "kernels/families.h"
#include "sparse.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static wf_type vector_type(const sparse_system *s)
{
    return s->params.type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32;
}

/* Halves of random bits with exponents from 2^-8 to 2^7: normal, so that no device flushes them. */
static uint16_t random_half(test_random *random)
{
    const uint32_t bits = (uint32_t)test_random_bits(random);
    return (uint16_t)((bits & 0x8000u) | (7 + (bits >> 16 & 15)) << 10 | (bits & 1023));
}

static void put_random(void *data, wf_type type, size_t count, test_random *random)
{
    for (size_t i = 0; i < count; i++)
        if (type == WF_TYPE_F16)
            ((uint16_t *)data)[i] = random_half(random);
        else if (type == WF_TYPE_F64)
            ((double *)data)[i] = test_random_uniform(random);
        else
            ((float *)data)[i] = (float)test_random_uniform(random);
}

void test_sparse_new_values(sparse_system *s, test_random *random)
{
    put_random(s->values, s->params.type, s->row_offsets[s->params.rows], random);
}

static void make_vectors(sparse_system *s, test_random *random)
{
    const wf_spmv_params *p = &s->params;
    const uint64_t vectors = p->vectors ? p->vectors : 1;
    const uint64_t x_rows = p->transpose ? p->rows : p->columns;
    const uint64_t y_rows = p->transpose ? p->columns : p->rows;
    const size_t real = wf_type_size(vector_type(s));
    s->x_elements = x_rows * (p->x_stride ? p->x_stride : vectors);
    s->y_elements = y_rows * (p->y_stride ? p->y_stride : vectors);
    s->x = malloc(s->x_elements * real);
    s->y = malloc(s->y_elements * real);
    s->before = malloc(s->y_elements * real);
    assert_true(s->x && s->y && s->before);
    put_random(s->x, vector_type(s), s->x_elements, random);
    put_random(s->before, vector_type(s), s->y_elements, random);
    assert_int_equal(
        wf_buffer_create(s->device, s->x_elements * real, WF_MEMORY_DEVICE, &s->device_x), 0);
    assert_int_equal(
        wf_buffer_create(s->device, s->y_elements * real, WF_MEMORY_DEVICE, &s->device_y), 0);
    assert_int_equal(wf_buffer_write(s->device_x, 0, s->x, s->x_elements * real), 0);
}

void test_sparse_make(sparse_system *s, wf_device *device, const sparse_options *o, uint32_t rows,
                      uint32_t columns, const uint32_t *lengths, test_random *random)
{
    *s = (sparse_system){.device = device, .alpha = o->alpha};
    s->row_offsets = calloc(rows + 1u, sizeof *s->row_offsets);
    assert_non_null(s->row_offsets);
    for (uint32_t i = 0; i < rows; i++)
        s->row_offsets[i + 1] = s->row_offsets[i] + lengths[i];
    const size_t entries = s->row_offsets[rows];
    s->column_indices = malloc((entries + 1) * sizeof *s->column_indices);
    s->values = malloc((entries + 1) * wf_type_size(o->type));
    assert_true(s->column_indices && s->values);
    for (size_t i = 0; i < entries; i++)
        s->column_indices[i] = test_random_below(random, columns);
    s->params = (wf_spmv_params){.size = sizeof s->params,
                                 .rows = rows,
                                 .columns = columns,
                                 .row_offsets = s->row_offsets,
                                 .column_indices = s->column_indices,
                                 .values = s->values,
                                 .type = o->type,
                                 .transpose = o->transpose,
                                 .updatable = o->updatable,
                                 .vectors = o->vectors,
                                 .x_stride = o->x_stride,
                                 .y_stride = o->y_stride,
                                 .beta = o->beta};
    test_sparse_new_values(s, random);
    make_vectors(s, random);
}

void test_sparse_free(sparse_system *s)
{
    wf_buffer_destroy(&s->device_x);
    wf_buffer_destroy(&s->device_y);
    free(s->row_offsets);
    free(s->column_indices);
    free(s->values);
    free(s->x);
    free(s->before);
    free(s->y);
}

/* alpha lives in the system, which may have been moved since it was made. */
static const wf_spmv_params *params_of(sparse_system *s)
{
    s->params.alpha = s->alpha < 0 || s->alpha > 0 ? &s->alpha : NULL;
    return &s->params;
}

void test_sparse_run(sparse_system *s, wf_plan *plan)
{
    const wf_bindings bindings = {.size = sizeof bindings,
                                  .items = {{.buffer = s->device_x}, {.buffer = s->device_y}}};
    const uint64_t bytes = s->y_elements * wf_type_size(vector_type(s));
    if (s->params.beta < 0 || s->params.beta > 0)
        assert_int_equal(wf_buffer_write(s->device_y, 0, s->before, bytes), WF_SUCCESS);
    else
        test_poison(s->device_y);
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(s->device_y, 0, s->y, bytes), WF_SUCCESS);
}

uint32_t test_sparse_multiply(sparse_system *s, const wf_tuning *tuning)
{
    wf_plan_info info = {.size = sizeof info};
    wf_plan *plan = NULL;
    s->params.tuning = tuning;
    assert_int_equal(wf_spmv_plan(s->device, params_of(s), &plan), WF_SUCCESS);
    test_sparse_run(s, plan);
    assert_int_equal(wf_plan_describe(plan, &info), WF_SUCCESS);
    wf_plan_destroy(&plan);
    s->params.tuning = NULL;
    return info.dispatches;
}

void test_sparse_right(const sparse_system *s, const char *what)
{
    const wf_spmv_params *p = &s->params;
    const uint32_t vectors = p->vectors ? p->vectors : 1;
    wf_check check;
    assert_int_equal(wf_spmv_check_scaled(p, s->x, s->before, s->y, &check), WF_SUCCESS);
    assert_int_equal(check.checked, (p->transpose ? p->columns : p->rows) * (uint64_t)vectors);
    if (!(check.error_over_bound <= 1))
        fail_msg("%s %s, %u x %u%s, %u vectors: element %llu is %g bounds off; seed %llu", what,
                 wf_type_name(p->type), p->rows, p->columns, p->transpose ? " transposed" : "",
                 vectors, (unsigned long long)check.worst, check.error_over_bound,
                 (unsigned long long)test_seed());
}

static void run_point(void *user, const wfi_point *point)
{
    sparse_system *s = user;
    wf_constant constants[WF_MAX_PARAMETERS];
    char text[256];
    const wf_tuning tuning = test_point_tuning(point, constants);
    test_sparse_multiply(s, &tuning);
    test_point_text(point, text, sizeof text);
    test_sparse_right(s, text);
}

static void run_defaults(sparse_system *s, const wfi_problem *problem, const wfi_variant *variant,
                         uint32_t *points)
{
    wfi_point point = {.caps = wf_device_caps(s->device), .problem = problem, .variant = variant};
    wfi_point_defaults(&point);
    if (!wfi_point_legal(&point, NULL))
        return;
    run_point(s, &point);
    (*points)++;
}

/* The defaults with each number of lanes a row, on which the use of subgroups depends. */
static void run_each_width(sparse_system *s, const wfi_problem *problem, const wfi_variant *variant,
                           uint32_t *points)
{
    wfi_point point = {.caps = wf_device_caps(s->device), .problem = problem, .variant = variant};
    const uint32_t lanes = wfi_parameter_find(variant, "lanes");
    run_defaults(s, problem, variant, points);
    if (lanes == UINT32_MAX)
        return;
    wfi_point_defaults(&point);
    const uint32_t usual = wfi_point_get(&point, lanes);
    for (uint32_t c = 0; c < variant->parameters[lanes].candidate_count; c++) {
        wfi_point_put(&point, lanes, variant->parameters[lanes].candidates[c]);
        if (wfi_point_get(&point, lanes) == usual || !wfi_point_legal(&point, NULL))
            continue;
        run_point(s, &point);
        (*points)++;
    }
}

/* Under an emulator a scaled product, a transposed one and one with several vectors go round the
 * variants, one in three for each type: the plain product has all of them in all types. */
static bool is_walked(const sparse_system *s, uint32_t variant)
{
    const wf_spmv_params *p = &s->params;
    const bool scaled = s->alpha < 0 || s->alpha > 0, several = p->vectors > 1;
    return !test_emulated() || !(scaled || several || p->transpose) ||
           (variant + (uint32_t)p->type + p->transpose) % 3 == 0;
}

uint32_t test_sparse_each_point(sparse_system *s, uint32_t random_points, bool around,
                                test_random *random)
{
    const wfi_family *family = wfi_family_get(WF_FAMILY_SPMV);
    const wf_spmv_params *p = &s->params;
    const bool t = p->transpose;
    uint32_t points = 0, longest = 0;
    for (uint32_t row = 0; !t && row < p->rows; row++)
        if (s->row_offsets[row + 1] - s->row_offsets[row] > longest)
            longest = s->row_offsets[row + 1] - s->row_offsets[row];
    wfi_problem problem = {.family = WF_FAMILY_SPMV, .type = p->type};
    problem.spmv = (wfi_spmv_problem){
        .rows = t ? p->columns : p->rows,
        .columns = t ? p->rows : p->columns,
        .entries = s->row_offsets[p->rows],
        .longest_row = t ? s->row_offsets[p->rows] : longest,
        .mean_row = 8,
        .row_deviation = 4,
        .vectors = p->vectors ? p->vectors : 1,
        .strided = p->vectors > 1 || p->x_stride > 1 || p->y_stride > 1,
    };
    for (uint32_t v = 0; v < family->variant_count; v++) {
        if (!family->variants[v]->modules[p->type] || !is_walked(s, v) ||
            test_is_left_out(family->variants[v]))
            continue;
        if (around && getenv("WAVEFIT_TEST_SUBGROUPS"))
            run_each_width(s, &problem, family->variants[v], &points);
        else if (around)
            points +=
                test_each_small_point(wf_device_caps(s->device), &problem, family->variants[v],
                                      random_points, random, run_point, s);
        else
            run_defaults(s, &problem, family->variants[v], &points);
    }
    return points;
}

void test_solve_tridiagonal(wf_device *device, uint32_t rows)
{
    enum { MOST_ROWS = 300 };
    static uint32_t offsets[MOST_ROWS + 1], columns[3 * MOST_ROWS];
    static float values[3 * MOST_ROWS], b[MOST_ROWS], x[MOST_ROWS];
    uint32_t n = 0;
    assert_true(rows <= MOST_ROWS);
    for (uint32_t row = 0; row < rows; row++) {
        offsets[row] = n;
        for (uint32_t c = row ? row - 1 : 0; c <= row + 1 && c < rows; c++) {
            columns[n] = c;
            values[n++] = c == row ? 2.5f : -1.0f;
        }
        b[row] = (float)(row % 5) - 1.5f;
    }
    offsets[rows] = n;
    const wf_spmv_params matrix = {.size = sizeof matrix,
                                   .rows = rows,
                                   .columns = rows,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = values};
    const wf_cg_params params = {.size = sizeof params, .matrix = &matrix};
    wf_cg_result result;
    assert_int_equal(wf_cg_solve(device, &params, b, x, &result), WF_SUCCESS);
    assert_int_equal(result.status, WF_CG_CONVERGED);
    assert_true(result.true_residual < 1e-5);
}
