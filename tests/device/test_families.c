/* Runs every variant of every family once, on a small problem with its defaults, against f64. Under
 * an emulator it runs the first ones alone: to compile the large ones, and those with many barriers
 * as conjugate gradients have, takes an emulated lavapipe minutes. The families' own tests are
 * thorough. With WAVEFIT_TEST_SUBGROUPS it runs those alone that use subgroups; "varying" makes the
 * device say that its subgroups may have 4 to 128 work-items, 32 by default, and that they cannot
 * be pinned. They have fewer in fact, as drivers may choose. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/families.h"
#include "core/device.h"
#include "harness.h"
#include "sparse.h"
#include "plan/family.h"

static uint32_t used_subgroups; /* how many variants that use subgroups ran */

enum { M = 37, N = 29, K = 41, ROWS = 50, MOST_ENTRIES = ROWS * 8 };

/* A refusal must name what the device lacks. */
static bool made(wf_result result, const char *variant)
{
    if (result == WF_SUCCESS)
        return true;
    const char *why = test_last_error();
    if ((result != WF_ERROR_UNSUPPORTED && result != WF_ERROR_CONSTRAINT) || !*why)
        fail_msg("%s: %s: %s", variant, wf_result_string(result), why);
    return false;
}

static void check_holds(const char *family, const char *variant, wf_type type,
                        const wf_check *check)
{
    if (!(check->error_over_bound <= 1))
        fail_msg("%s %s %s: element %llu is %g times its bound off (seed %llu)", family, variant,
                 wf_type_name(type), (unsigned long long)check->worst, check->error_over_bound,
                 (unsigned long long)test_seed());
}

static wf_buffer *upload(wf_device *device, const void *data, uint64_t bytes)
{
    wf_buffer *buffer = NULL;
    assert_int_equal(wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, &buffer), WF_SUCCESS);
    if (data)
        assert_int_equal(wf_buffer_write(buffer, 0, data, bytes), WF_SUCCESS);
    else
        test_poison(buffer);
    return buffer;
}

static bool run_matmul(wf_device *device, const wf_tuning *tuning)
{
    static float a[M * K], b[K * N], c[M * N];
    test_random random = {test_seed()};
    const wf_matmul_params params = {
        .size = sizeof params, .m = M, .n = N, .k = K, .tuning = tuning};
    wf_plan *plan = NULL;
    wf_check check;
    if (!made(wf_matmul_plan(device, &params, &plan), tuning->variant))
        return false;
    for (size_t i = 0; i < M * K; i++)
        a[i] = (float)test_random_uniform(&random);
    for (size_t i = 0; i < K * N; i++)
        b[i] = (float)test_random_uniform(&random);
    wf_buffer *buffers[] = {upload(device, a, sizeof a), upload(device, b, sizeof b),
                            upload(device, NULL, sizeof c)};
    wf_bindings bindings = {.size = sizeof bindings};
    for (int i = 0; i < 3; i++)
        bindings.items[i].buffer = buffers[i];
    if (wf_plan_workspace(plan) > 0)
        bindings.workspace.buffer = upload(device, NULL, wf_plan_workspace(plan));
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(buffers[2], 0, c, sizeof c), WF_SUCCESS);
    const wf_matmul_inputs inputs = {.size = sizeof inputs, .a = a, .b = b};
    assert_int_equal(wf_matmul_check(&params, &inputs, c, 0, 1, &check), WF_SUCCESS);
    check_holds("matmul", tuning->variant, WF_TYPE_F32, &check);
    wf_plan_destroy(&plan);
    wf_buffer *workspace = (void *)bindings.workspace.buffer;
    wf_buffer_destroy(&workspace);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffers[i]);
    return true;
}

/* Rows of 0 to 7 entries in ascending columns. */
static uint32_t make_matrix(test_random *random, uint32_t *offsets, uint32_t *columns)
{
    uint32_t entries = 0;
    for (uint32_t row = 0; row < ROWS; row++) {
        offsets[row] = entries;
        for (uint32_t i = 0; i < row % 8; i++)
            columns[entries++] = i * 6 + test_random_below(random, 6);
    }
    offsets[ROWS] = entries;
    return entries;
}

static bool run_spmv(wf_device *device, const wf_tuning *tuning, wf_type type)
{
    static uint32_t offsets[ROWS + 1], columns[MOST_ENTRIES];
    static double values[MOST_ENTRIES], x[ROWS], y[ROWS]; /* floats, too */
    test_random random = {test_seed()};
    const uint32_t entries = make_matrix(&random, offsets, columns);
    for (uint32_t i = 0; i < entries + ROWS; i++) {
        double *to = i < entries ? values : x;
        const uint32_t at = i < entries ? i : i - entries;
        wf_element_set(type, to, at, test_random_uniform(&random));
    }
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = ROWS,
                                   .columns = ROWS,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = values,
                                   .type = type,
                                   .tuning = tuning};
    const uint64_t bytes = ROWS * (uint64_t)wf_type_size(type);
    wf_plan *plan = NULL;
    wf_check check;
    if (!made(wf_spmv_plan(device, &params, &plan), tuning->variant))
        return false;
    wf_buffer *in = upload(device, x, bytes), *out = upload(device, NULL, bytes);
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {[WF_SPMV_X] = {.buffer = in}, [WF_SPMV_Y] = {.buffer = out}}};
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(out, 0, y, bytes), WF_SUCCESS);
    assert_int_equal(wf_spmv_check(&params, x, y, &check), WF_SUCCESS);
    check_holds("spmv", tuning->variant, type, &check);
    wf_plan_destroy(&plan);
    wf_buffer_destroy(&in);
    wf_buffer_destroy(&out);
    return true;
}

static bool run_stencil(wf_device *device, const wf_tuning *tuning)
{
    enum { NI = 19, NJ = 12, NK = 9, ITERATIONS = 5 };
    static float p[NI * NJ * NK];
    const wf_himeno_params params = {
        .size = sizeof params, .ni = NI, .nj = NJ, .nk = NK, .tuning = tuning};
    wf_himeno *himeno = NULL;
    float gosa = 0;
    double seconds, gosa_error = 0;
    bool gpu_clock;
    wf_check check;
    if (!made(wf_himeno_create(device, &params, &himeno), tuning->variant))
        return false;
    assert_int_equal(wf_himeno_start(himeno), WF_SUCCESS);
    assert_int_equal(wf_himeno_run(himeno, ITERATIONS, &gosa, &seconds, &gpu_clock), WF_SUCCESS);
    assert_int_equal(wf_himeno_read(himeno, p), WF_SUCCESS);
    assert_int_equal(wf_himeno_check(&params, NULL, ITERATIONS, p, gosa, 0, 1, &check, &gosa_error),
                     WF_SUCCESS);
    check_holds("himeno", tuning->variant, WF_TYPE_F32, &check);
    assert_true(gosa_error <= 1);
    wf_himeno_destroy(&himeno);
    return true;
}

/* A dot product: |error| <= gamma_n |x||y|, and one rounding for the factor. */
static bool run_vector(wf_device *device, const wf_tuning *tuning)
{
    enum { COUNT = 1013 };
    static float x[COUNT], y[COUNT];
    test_random random = {test_seed()};
    double sum = 0, size = 0;
    float out = NAN;
    const wf_vector_params params = {
        .size = sizeof params, .operation = WF_VECTOR_DOT, .count = COUNT, .tuning = tuning};
    wf_plan *plan = NULL;
    if (!made(wf_vector_plan(device, &params, &plan), tuning->variant))
        return false;
    for (size_t i = 0; i < COUNT; i++) {
        x[i] = (float)test_random_uniform(&random);
        y[i] = (float)test_random_uniform(&random);
        sum += (double)x[i] * y[i];
        size += fabs((double)x[i] * y[i]);
    }
    wf_buffer *buffers[] = {upload(device, x, sizeof x), upload(device, y, sizeof y),
                            upload(device, NULL, sizeof out),
                            upload(device, NULL, wf_plan_workspace(plan))};
    const wf_bindings bindings = {.size = sizeof bindings,
                                  .items = {[WF_VECTOR_X] = {.buffer = buffers[0]},
                                            [WF_VECTOR_Y] = {.buffer = buffers[1]},
                                            [WF_VECTOR_SCALARS] = {.buffer = buffers[2]}},
                                  .workspace = {.buffer = buffers[3]}};
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(buffers[2], 0, &out, sizeof out), WF_SUCCESS);
    const double nu = (COUNT + 1) * 0x1p-24, bound = nu / (1 - nu) * size;
    const wf_check check = {.error_over_bound = fabs(out - sum) / bound};
    check_holds("vector", tuning->variant, WF_TYPE_F32, &check);
    wf_plan_destroy(&plan);
    for (int i = 0; i < 4; i++)
        wf_buffer_destroy(&buffers[i]);
    return true;
}

static bool run_grid(wf_device *device, const wf_tuning *tuning)
{
    enum { NX = 45, NY = 23 };
    static const double coefficients[] = {0.5, 0.125, 0.1, 0.2, 0.075};
    static float in[NX * NY], out[NX * NY];
    test_random random = {test_seed()};
    const wf_stencil_params params = {
        .size = sizeof params, .nx = NX, .ny = NY, .coefficients = coefficients, .tuning = tuning};
    wf_plan *plan = NULL;
    wf_check check;
    if (!made(wf_stencil_plan(device, &params, &plan), tuning->variant))
        return false;
    for (size_t i = 0; i < NX * NY; i++)
        in[i] = (float)test_random_uniform(&random);
    wf_buffer *from = upload(device, in, sizeof in), *to = upload(device, NULL, sizeof out);
    wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {[WF_STENCIL_IN] = {.buffer = from}, [WF_STENCIL_OUT] = {.buffer = to}}};
    if (wf_plan_workspace(plan) > 0)
        bindings.workspace.buffer = upload(device, NULL, wf_plan_workspace(plan));
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(to, 0, out, sizeof out), WF_SUCCESS);
    assert_int_equal(wf_stencil_check(&params, in, out, 0, 1, &check), WF_SUCCESS);
    check_holds("stencil", tuning->variant, WF_TYPE_F32, &check);
    wf_plan_destroy(&plan);
    wf_buffer *workspace = (void *)bindings.workspace.buffer;
    wf_buffer_destroy(&workspace);
    wf_buffer_destroy(&from);
    wf_buffer_destroy(&to);
    return true;
}

static bool run_variant(wf_device *device, wf_family family, const wf_tuning *tuning, wf_type type)
{
    switch (family) {
    case WF_FAMILY_SPMV:
        return run_spmv(device, tuning, type);
    case WF_FAMILY_MATMUL:
        return run_matmul(device, tuning);
    case WF_FAMILY_HIMENO:
        return run_stencil(device, tuning);
    case WF_FAMILY_STENCIL:
        return run_grid(device, tuning);
    default:
        return run_vector(device, tuning);
    }
}

static void every_variant(wf_device *device, wf_family family)
{
    wf_variant_info info;
    uint32_t ran = 0, count = wf_family_variant_count(family);
    const uint32_t quick = family == WF_FAMILY_SPMV ? 3 : 1;
    if (test_emulated() && count > quick)
        count = quick;
    for (uint32_t v = 0; v < count; v++) {
        assert_int_equal(wf_family_variant(family, v, &info), WF_SUCCESS);
        if (getenv("WAVEFIT_TEST_SUBGROUPS") &&
            !wfi_family_get(family)->variants[v]->subgroup_operations)
            continue;
        const wf_tuning tuning = {.size = sizeof tuning, .variant = info.name};
        const int last = family == WF_FAMILY_SPMV ? WF_TYPE_F64 : WF_TYPE_F32;
        for (int type = WF_TYPE_F32; type <= last; type++)
            if (info.types & 1u << type) {
                const bool ok = run_variant(device, family, &tuning, (wf_type)type);
                printf("%s %s %s%s\n", wf_family_name(family), info.name,
                       wf_type_name((wf_type)type), ok ? "" : ": not on this device");
                ran += ok;
                used_subgroups += ok && wfi_family_get(family)->variants[v]->subgroup_operations;
            }
    }
    assert_true(ran > 0 || getenv("WAVEFIT_TEST_SUBGROUPS"));
}

static void stencil(void **state)
{
    every_variant(*state, WF_FAMILY_HIMENO);
}

static void spmv(void **state)
{
    every_variant(*state, WF_FAMILY_SPMV);
}

static void matmul(void **state)
{
    every_variant(*state, WF_FAMILY_MATMUL);
}

static void grid(void **state)
{
    every_variant(*state, WF_FAMILY_STENCIL);
}

static void vector(void **state)
{
    every_variant(*state, WF_FAMILY_VECTOR);
}

static void conjugate_gradients(void **state)
{
    if (test_emulated())
        skip();
    test_solve_tridiagonal(*state, ROWS);
}

static int setup(void **state)
{
    const char *subgroups = getenv("WAVEFIT_TEST_SUBGROUPS");
    if (test_device_setup(state))
        return -1;
    if (subgroups && strcmp(subgroups, "varying") == 0) {
        wf_caps *caps = &((wf_device *)*state)->caps;
        caps->subgroup_size = 32;
        caps->subgroup_min = 4;
        caps->subgroup_max = 128;
        caps->subgroup_size_control = caps->full_subgroups = false;
    }
    return 0;
}

/* The variants that use subgroups and work with any subgroup size. */
static void subgroups_were_used(void **state)
{
    (void)state;
    if (!getenv("WAVEFIT_TEST_SUBGROUPS"))
        skip();
    printf("%u variants used subgroups\n", used_subgroups);
    assert_true(used_subgroups >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stencil),
        cmocka_unit_test(spmv),
        cmocka_unit_test(matmul),
        cmocka_unit_test(grid),
        cmocka_unit_test(vector),
        cmocka_unit_test(conjugate_gradients),
        cmocka_unit_test(subgroups_were_used),
    };
    return cmocka_run_group_tests(tests, setup, test_device_teardown);
}
