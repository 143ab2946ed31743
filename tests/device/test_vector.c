/* The vector operations against f64 sums with their bounds: every variant and candidate, odd sizes,
 * scalars from the device, the same bits in a second run, and parts where bindings are small. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/families.h"
#include "core/device.h"
#include "harness.h"
#include "points.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

typedef struct trial {
    wf_device *device;
    test_random *random;
    uint64_t count;
    wf_vector_operation operation;
} trial;

/* Vectors of either type, read as f64. */
typedef struct vector {
    wf_type type;
    uint64_t count;
    void *data;
} vector;

static vector make_vector(wf_type type, uint64_t count, test_random *random)
{
    vector v = {type, count, malloc((size_t)count * wf_type_size(type))};
    assert_non_null(v.data);
    for (uint64_t i = 0; i < count; i++) {
        const double value = test_random_uniform(random);
        if (type == WF_TYPE_F64)
            ((double *)v.data)[i] = value;
        else
            ((float *)v.data)[i] = (float)value;
    }
    return v;
}

static double at(const vector *v, uint64_t i)
{
    return v->type == WF_TYPE_F64 ? ((const double *)v->data)[i]
                                  : (double)((const float *)v->data)[i];
}

static wf_buffer *upload(wf_device *device, const vector *v)
{
    wf_buffer *buffer = NULL;
    const uint64_t bytes = v->count * wf_type_size(v->type);
    assert_int_equal(wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, &buffer), WF_SUCCESS);
    assert_int_equal(wf_buffer_write(buffer, 0, v->data, bytes), WF_SUCCESS);
    return buffer;
}

static double unit_roundoff(wf_type type)
{
    return type == WF_TYPE_F64 ? 0x1p-53 : 0x1p-24;
}

/* |error| / bound. The bound of an update is two roundings and those of its factor; of a sum,
 * gamma_n |x||y|. */
static double worst_error(const trial *t, const vector *x, const vector *y, const vector *out,
                          double a)
{
    const double u = unit_roundoff(x->type);
    double worst = 0, sum = 0, size = 0;
    for (uint64_t i = 0; i < t->count; i++) {
        const double xi = at(x, i), yi = at(y, i);
        if (t->operation == WF_VECTOR_DOT) {
            sum += xi * yi;
            size += fabs(xi * yi);
            continue;
        }
        const double first = t->operation == WF_VECTOR_AXPY ? yi : xi;
        const double second = a * (t->operation == WF_VECTOR_AXPY ? xi : yi);
        /* In f64 the reference itself rounds as often. */
        const double bound = 12 * u * (fabs(first) + fabs(second));
        const double error = fabs(at(out, i) - (first + second)) / bound;
        worst = error <= worst ? worst : error; /* NaN wins */
    }
    if (t->operation != WF_VECTOR_DOT)
        return worst;
    const double n = (double)t->count + 2, gamma = 2 * n * u / (1 - 2 * n * u);
    return fabs(at(out, 1) - a * sum) / (gamma * fabs(a) * size);
}

/* Runs a dot product into the second scalar, or updates y by the third scalar over the first. */
static wf_vector_params params_of(const trial *t, wf_type type, const wf_tuning *tuning)
{
    wf_vector_params params = {.size = sizeof params,
                               .operation = t->operation,
                               .count = t->count,
                               .type = type,
                               .alpha = -0.75,
                               .tuning = tuning};
    if (t->operation == WF_VECTOR_DOT)
        params.result = 1;
    else {
        params.numerator = 3;
        params.denominator = 1;
    }
    return params;
}

/* The plan's workspace, filled with NaN; NULL where it needs none. */
static wf_buffer *make_workspace(wf_device *device, const wf_plan *plan)
{
    const uint64_t bytes = wf_plan_workspace(plan);
    wf_buffer *workspace = NULL;
    if (bytes == 0)
        return NULL;
    assert_int_equal(wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, &workspace), WF_SUCCESS);
    test_poison(workspace);
    return workspace;
}

static void try_point(void *user, const wfi_point *point)
{
    trial *t = user;
    char text[256];
    wf_constant constants[WF_MAX_PARAMETERS];
    const wf_tuning tuning = test_point_tuning(point, constants);
    const wf_type type = point->problem->type;
    const bool dot = t->operation == WF_VECTOR_DOT;
    const wf_vector_params params = params_of(t, type, &tuning);
    vector x = make_vector(type, t->count, t->random), y = make_vector(type, t->count, t->random);
    vector scalars = make_vector(type, 3, t->random);
    const double a = dot ? params.alpha : params.alpha * at(&scalars, 2) / at(&scalars, 0);
    wf_buffer *buffers[3] = {upload(t->device, &x), upload(t->device, &y),
                             upload(t->device, &scalars)};
    wf_plan *plan = NULL;
    test_point_text(point, text, sizeof text);
    assert_int_equal(wf_vector_plan(t->device, &params, &plan), WF_SUCCESS);
    wf_buffer *workspace = make_workspace(t->device, plan);
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {{.buffer = buffers[0]}, {.buffer = buffers[1]}, {.buffer = buffers[2]}},
        .workspace = {.buffer = workspace}};
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    vector out = make_vector(type, dot ? 3 : t->count, t->random);
    vector again = make_vector(type, dot ? 3 : t->count, t->random);
    const uint64_t bytes = out.count * wf_type_size(type);
    assert_int_equal(wf_buffer_read(buffers[dot ? 2 : 1], 0, out.data, bytes), WF_SUCCESS);
    const double error = worst_error(t, &x, &y, &out, a);
    if (!(error <= 1))
        fail_msg("%s %s, operation %d, %llu elements: %g times the bound; seed %llu", text,
                 wf_type_name(type), (int)t->operation, (unsigned long long)t->count, error,
                 (unsigned long long)test_seed());
    if (dot) {
        assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
        assert_int_equal(wf_buffer_read(buffers[2], 0, again.data, bytes), WF_SUCCESS);
        assert_memory_equal(out.data, again.data, bytes);
    }
    wf_plan_destroy(&plan);
    wf_buffer_destroy(&workspace);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffers[i]);
    free(x.data);
    free(y.data);
    free(scalars.data);
    free(out.data);
    free(again.data);
}

static void sweep(wf_device *device, uint64_t count, uint32_t random_points)
{
    test_random random = {test_seed()};
    const wfi_family *family = wfi_family_get(WF_FAMILY_VECTOR);
    for (int type = WF_TYPE_F32; type <= WF_TYPE_F64; type++)
        for (int operation = 0; operation <= WF_VECTOR_DOT; operation++)
            for (uint32_t v = 0; v < family->variant_count; v++) {
                const wfi_problem problem = {.family = WF_FAMILY_VECTOR,
                                             .type = (wf_type)type,
                                             .vector = {count, (wf_vector_operation)operation}};
                trial t = {device, &random, count, (wf_vector_operation)operation};
                test_each_point(wf_device_caps(device), &problem, family->variants[v],
                                random_points, &random, try_point, &t);
            }
}

static void test_points(void **state)
{
    sweep(*state, 10007, 2);
}

static void test_odd_sizes(void **state)
{
    const uint64_t sizes[] = {1, 257};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        sweep(*state, sizes[i], 0);
}

/* With bindings of 4 KiB there are many slabs, whose partial sums are added to one. */
static void test_parts(void **state)
{
    wf_device *device = *state;
    const uint64_t range = device->caps.max_storage_range;
    device->caps.max_storage_range = 4096;
    sweep(device, 5003, 0);
    device->caps.max_storage_range = range;
}

/* A residual by hand: s0 = x.x, s1 = y.y, y = x + (s0 / s1) y, all scalars on the device. */
static void test_chain(void **state)
{
    wf_device *device = *state;
    test_random random = {test_seed()};
    enum { COUNT = 1000 };
    vector x = make_vector(WF_TYPE_F32, COUNT, &random),
           y = make_vector(WF_TYPE_F32, COUNT, &random);
    vector scalars = make_vector(WF_TYPE_F32, 2, &random);
    float out[COUNT];
    wf_buffer *bx = upload(device, &x), *by = upload(device, &y), *bs = upload(device, &scalars);
    wf_plan *plans[3] = {NULL, NULL, NULL};
    const wf_vector_params params[3] = {
        {.size = sizeof *params, .operation = WF_VECTOR_DOT, .count = COUNT, .result = 0},
        {.size = sizeof *params, .operation = WF_VECTOR_DOT, .count = COUNT, .result = 1},
        {.size = sizeof *params,
         .operation = WF_VECTOR_XPAY,
         .count = COUNT,
         .numerator = 1,
         .denominator = 2},
    };
    double xx = 0, yy = 0;
    for (int i = 0; i < COUNT; i++) {
        xx += at(&x, (uint64_t)i) * at(&x, (uint64_t)i);
        yy += at(&y, (uint64_t)i) * at(&y, (uint64_t)i);
    }
    for (int i = 0; i < 3; i++) {
        wf_buffer *workspace = NULL;
        wf_buffer *first = i == 1 ? by : bx, *second = i == 0 ? bx : by;
        assert_int_equal(wf_vector_plan(device, &params[i], &plans[i]), WF_SUCCESS);
        wf_bindings bindings = {.size = sizeof bindings,
                                .items = {{.buffer = first}, {.buffer = second}, {.buffer = bs}}};
        if (wf_plan_workspace(plans[i]))
            assert_int_equal(
                wf_buffer_create(device, wf_plan_workspace(plans[i]), WF_MEMORY_DEVICE, &workspace),
                WF_SUCCESS);
        bindings.workspace.buffer = workspace;
        assert_int_equal(wf_plan_run(plans[i], &bindings), WF_SUCCESS);
        wf_buffer_destroy(&workspace);
        wf_plan_destroy(&plans[i]);
    }
    assert_int_equal(wf_buffer_read(by, 0, out, sizeof out), WF_SUCCESS);
    for (int i = 0; i < COUNT; i++) {
        const double yi = at(&y, (uint64_t)i);
        const double expected = at(&x, (uint64_t)i) + xx / yy * yi;
        /* Each sum of positive terms has a relative error of gamma_n. */
        const double bound = 2.2 * (COUNT + 8) * 0x1p-24 * fabs(xx / yy * yi) + 0x1p-23;
        assert_true(fabs(out[i] - expected) <= bound);
    }
    wf_buffer_destroy(&bx);
    wf_buffer_destroy(&by);
    wf_buffer_destroy(&bs);
    free(x.data);
    free(y.data);
    free(scalars.data);
}

static void test_bad_params(void **state)
{
    wf_device *device = *state;
    wf_plan *plan = NULL;
    wf_vector_params bad = {.size = sizeof bad, .count = 1, .operation = (wf_vector_operation)9};
    test_expect_errors(true);
    assert_int_equal(wf_vector_plan(device, &bad, &plan), WF_ERROR_INVALID_ARGUMENT);
    bad = (wf_vector_params){
        .size = sizeof bad, .count = 1, .operation = WF_VECTOR_DOT, .numerator = 1};
    assert_int_equal(wf_vector_plan(device, &bad, &plan), WF_ERROR_INVALID_ARGUMENT);
    bad = (wf_vector_params){.size = sizeof bad, .count = 1, .type = WF_TYPE_I8};
    assert_int_equal(wf_vector_plan(device, &bad, &plan), WF_ERROR_UNSUPPORTED);
    assert_int_equal(wf_vector_plan(device, NULL, &plan), WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
    test_last_error();
    assert_null(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points),     cmocka_unit_test(test_odd_sizes),
        cmocka_unit_test(test_parts),      cmocka_unit_test(test_chain),
        cmocka_unit_test(test_bad_params),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
