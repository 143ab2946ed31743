/* What the model chooses on the device of WAVEFIT_TEST_PROFILE, for a problem of every family in
 * every type that the device has, runs and is right. The pretending driver sees to it that nothing
 * is asked of the device that it does not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness.h"
#include "sparse.h"

static void say(const wf_plan *plan, wf_type type)
{
    wf_plan_info info = {.size = sizeof info};
    assert_int_equal(wf_plan_describe(plan, &info), WF_SUCCESS);
    printf("%s %s: %s of %ux%ux%u, %s\n", info.family, wf_type_name(type), info.variant,
           info.kernel.group_size[0], info.kernel.group_size[1], info.kernel.group_size[2],
           info.chosen_by);
}

/* A refusal is right only in a type that the device lacks, and when it says so. */
static bool made(wf_result result, wf_type type)
{
    if (result == WF_SUCCESS)
        return true;
    const char *why = test_last_error();
    if (result != WF_ERROR_UNSUPPORTED || type == WF_TYPE_F32 || !strstr(why, "the device has no"))
        fail_msg("%s: %s: %s", wf_type_name(type), wf_result_string(result), why);
    printf("%s: %s\n", wf_type_name(type), why);
    return false;
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

static void *random_values(wf_type type, uint64_t count, test_random *random)
{
    void *values = calloc(count, sizeof(double));
    assert_non_null(values);
    for (uint64_t i = 0; i < count; i++)
        wf_element_set(type, values, i,
                       type == WF_TYPE_I8 ? (double)test_random_below(random, 255) - 127
                                          : test_random_uniform(random));
    return values;
}

/* Runs the plan on inputs of these bytes, the last of them the output, which is read back. */
static void run(wf_device *device, wf_plan *plan, const uint32_t *slots, void *const *host,
                const uint64_t *bytes, uint32_t count)
{
    wf_buffer *buffers[4] = {NULL}, *workspace = NULL;
    wf_bindings bindings = {.size = sizeof bindings};
    for (uint32_t i = 0; i < count; i++) {
        buffers[i] = upload(device, i + 1 < count ? host[i] : NULL, bytes[i]);
        bindings.items[slots[i]].buffer = buffers[i];
    }
    if (wf_plan_workspace(plan) > 0)
        bindings.workspace.buffer = workspace = upload(device, NULL, wf_plan_workspace(plan));
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(buffers[count - 1], 0, host[count - 1], bytes[count - 1]),
                     WF_SUCCESS);
    for (uint32_t i = 0; i < count; i++)
        wf_buffer_destroy(&buffers[i]);
    wf_buffer_destroy(&workspace);
}

static void multiply(wf_device *device, wf_type type, uint64_t m, uint64_t n, uint64_t k)
{
    static const uint32_t slots[] = {WF_MATMUL_A, WF_MATMUL_B, WF_MATMUL_C};
    test_random random = {test_seed()};
    const wf_matmul_params params = {.size = sizeof params, .m = m, .n = n, .k = k, .type = type};
    uint64_t bytes[WF_MATMUL_BINDINGS] = {0};
    wf_plan *plan = NULL;
    wf_check check;
    if (!made(wf_matmul_plan(device, &params, &plan), type))
        return;
    say(plan, type);
    assert_int_equal(wf_matmul_bytes(&params, bytes), WF_SUCCESS);
    const uint64_t three[] = {bytes[WF_MATMUL_A], bytes[WF_MATMUL_B], bytes[WF_MATMUL_C]};
    void *host[] = {random_values(type, m * k, &random), random_values(type, k * n, &random),
                    calloc(m * n, sizeof(double))};
    run(device, plan, slots, host, three, 3);
    const wf_matmul_inputs inputs = {.size = sizeof inputs, .a = host[0], .b = host[1]};
    assert_int_equal(wf_matmul_check(&params, &inputs, host[2], 0, 1, &check), WF_SUCCESS);
    assert_true(check.error_over_bound <= 1);
    wf_plan_destroy(&plan);
    for (int i = 0; i < 3; i++)
        free(host[i]);
}

static void products(void **state)
{
    for (int type = WF_TYPE_F32; type < WF_TYPE_COUNT; type++)
        multiply(*state, (wf_type)type, 150, 130, 70);
    multiply(*state, WF_TYPE_F32, 300, 1, 200);
}

/* Rows of 5 entries, and some that are long. */
static void sparse_products(void **state)
{
    enum { ROWS = 600 };
    static uint32_t lengths[ROWS];
    test_random random = {test_seed()};
    for (uint32_t i = 0; i < ROWS; i++)
        lengths[i] = i % 100 == 7 ? 300 : 5;
    for (int type = WF_TYPE_F32; type <= WF_TYPE_F16; type++) {
        sparse_system s;
        const sparse_options options = {.type = (wf_type)type};
        if (!test_has_type(*state, (wf_type)type))
            continue;
        test_sparse_make(&s, *state, &options, ROWS, ROWS, lengths, &random);
        assert_true(test_sparse_multiply(&s, NULL) > 0);
        test_sparse_right(&s, "the model's choice");
        test_sparse_free(&s);
    }
}

static void sweep(wf_device *device, wf_type type, uint32_t nx, uint32_t ny, uint32_t nz)
{
    static const uint32_t slots[] = {WF_STENCIL_IN, WF_STENCIL_OUT};
    static const double star[] = {0.25, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125};
    test_random random = {test_seed()};
    const wf_stencil_params params = {.size = sizeof params,
                                      .nx = nx,
                                      .ny = ny,
                                      .nz = nz,
                                      .type = type,
                                      .steps = 3,
                                      .coefficients = star};
    const uint64_t cells = (uint64_t)nx * ny * (nz ? nz : 1), bytes = cells * wf_type_size(type);
    wf_plan *plan = NULL;
    wf_check check;
    if (!made(wf_stencil_plan(device, &params, &plan), type))
        return;
    say(plan, type);
    void *host[] = {random_values(type, cells, &random), calloc(cells, sizeof(double))};
    run(device, plan, slots, host, (const uint64_t[]){bytes, bytes}, 2);
    assert_int_equal(wf_stencil_check(&params, host[0], host[1], 0, 1, &check), WF_SUCCESS);
    assert_true(check.error_over_bound <= 1);
    wf_plan_destroy(&plan);
    free(host[0]);
    free(host[1]);
}

static void stencils(void **state)
{
    for (int type = WF_TYPE_F32; type <= WF_TYPE_F16; type++)
        sweep(*state, (wf_type)type, 150, 90, 0);
    sweep(*state, WF_TYPE_F32, 40, 30, 20);
}

static void himeno(void **state)
{
    enum { NI = 35, NJ = 20, NK = 17, ITERATIONS = 3 };
    static float p[NI * NJ * NK];
    const wf_himeno_params params = {.size = sizeof params, .ni = NI, .nj = NJ, .nk = NK};
    wf_himeno *h = NULL;
    wf_check check;
    float gosa = 0;
    double seconds, gosa_error = 0;
    bool gpu_clock;
    assert_int_equal(wf_himeno_create(*state, &params, &h), WF_SUCCESS);
    assert_int_equal(wf_himeno_start(h), WF_SUCCESS);
    assert_int_equal(wf_himeno_run(h, ITERATIONS, &gosa, &seconds, &gpu_clock), WF_SUCCESS);
    assert_int_equal(wf_himeno_read(h, p), WF_SUCCESS);
    assert_int_equal(wf_himeno_check(&params, NULL, ITERATIONS, p, gosa, 0, 1, &check, &gosa_error),
                     WF_SUCCESS);
    assert_true(check.error_over_bound <= 1 && gosa_error <= 1);
    wf_himeno_destroy(&h);
}

static void laplace(void **state)
{
    enum { N = 40 };
    static float u[N * N];
    const wf_laplace_params params = {.size = sizeof params, .nx = N, .ny = N};
    wf_laplace_result result = {.size = sizeof result};
    for (int i = 0; i < N; i++)
        u[i] = 1;
    assert_int_equal(wf_laplace_solve(*state, &params, u, &result), WF_SUCCESS);
    assert_int_equal(result.status, WF_LAPLACE_CONVERGED);
    assert_true(u[N / 2 * N + N / 2] > 0.2f && u[N / 2 * N + N / 2] < 0.3f); /* 1/4 by symmetry */
}

static void conjugate_gradients(void **state)
{
    test_solve_tridiagonal(*state, 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products), cmocka_unit_test(sparse_products),
        cmocka_unit_test(stencils), cmocka_unit_test(himeno),
        cmocka_unit_test(laplace),  cmocka_unit_test(conjugate_gradients),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
