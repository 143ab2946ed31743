/* Conjugate gradients against direct solutions, and the states returned for systems that have no
 * solution. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "harness.h"

enum { MOST = 700, ROW_ENTRIES = 9 };

/* A symmetric matrix with a diagonal one larger than the rest of its row: positive definite, least
 * eigenvalue at least 1 (Gershgorin). */
typedef struct spd_system {
    uint32_t n;
    double dense[MOST][MOST], b[MOST], solution[MOST];
    uint32_t row_offsets[MOST + 1], column_indices[MOST * MOST];
    double values64[MOST * MOST], b64[MOST], x64[MOST];
    float values32[MOST * MOST], b32[MOST], x32[MOST];
    wf_spmv_params matrix;
} spd_system;

static spd_system s; /* too large for the stack */

static void make_dense(uint32_t n, double diagonal_sign, test_random *random)
{
    memset(&s, 0, sizeof s);
    s.n = n;
    for (uint32_t k = 0; k < n * ROW_ENTRIES / 2; k++) {
        const uint32_t i = test_random_below(random, n), j = test_random_below(random, n);
        if (i != j)
            s.dense[i][j] = s.dense[j][i] = (float)test_random_uniform(random);
    }
    for (uint32_t i = 0; i < n; i++) {
        double sum = 1;
        for (uint32_t j = 0; j < n; j++)
            sum += fabs(s.dense[i][j]);
        s.dense[i][i] = diagonal_sign * (float)(ceil(sum * 64) / 64);
        s.b[i] = (float)test_random_uniform(random);
    }
}

static void make_sparse(wf_type type)
{
    uint32_t entries = 0;
    for (uint32_t i = 0; i < s.n; i++) {
        for (uint32_t j = 0; j < s.n; j++)
            if (s.dense[i][j] < 0 || s.dense[i][j] > 0) {
                s.column_indices[entries] = j;
                s.values64[entries] = s.dense[i][j];
                s.values32[entries++] = (float)s.dense[i][j];
            }
        s.row_offsets[i + 1] = entries;
        s.b64[i] = s.b[i];
        s.b32[i] = (float)s.b[i];
    }
    s.matrix = (wf_spmv_params){.size = sizeof s.matrix,
                                .rows = s.n,
                                .columns = s.n,
                                .row_offsets = s.row_offsets,
                                .column_indices = s.column_indices,
                                .values = type == WF_TYPE_F64 ? (void *)s.values64 : s.values32,
                                .type = type};
}

/* Cholesky's factorisation, in place of the lower triangle; the matrix is small. */
static void solve_directly(void)
{
    static double l[MOST][MOST];
    for (uint32_t i = 0; i < s.n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            double sum = s.dense[i][j];
            for (uint32_t k = 0; k < j; k++)
                sum -= l[i][k] * l[j][k];
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
    for (uint32_t i = 0; i < s.n; i++) {
        double sum = s.b[i];
        for (uint32_t k = 0; k < i; k++)
            sum -= l[i][k] * s.solution[k];
        s.solution[i] = sum / l[i][i];
    }
    for (uint32_t i = s.n; i-- > 0;) {
        double sum = s.solution[i];
        for (uint32_t k = i + 1; k < s.n; k++)
            sum -= l[k][i] * s.solution[k];
        s.solution[i] = sum / l[i][i];
    }
}

static wf_result solve(wf_device *device, wf_cg_params *params, wf_cg_result *result)
{
    const bool wide = s.matrix.type == WF_TYPE_F64;
    params->size = sizeof *params;
    params->matrix = &s.matrix;
    memset(s.x64, 0xff, sizeof s.x64);
    memset(s.x32, 0xff, sizeof s.x32);
    return wf_cg_solve(device, params, wide ? (void *)s.b64 : s.b32, wide ? (void *)s.x64 : s.x32,
                       result);
}

/* |x - solution| <= |r| / (least eigenvalue), and the least eigenvalue is at least 1; the direct
 * solution's own error is far below the 1e-12 that is added for f64. */
static void assert_solved(const wf_cg_result *result, double tolerance)
{
    double error = 0, norm = 0;
    for (uint32_t i = 0; i < s.n; i++) {
        const double x = s.matrix.type == WF_TYPE_F64 ? s.x64[i] : (double)s.x32[i];
        error += (x - s.solution[i]) * (x - s.solution[i]);
        norm += s.b[i] * s.b[i];
    }
    assert_int_equal(result->status, WF_CG_CONVERGED);
    assert_true(result->residual <= tolerance);
    /* The rounding of x to f32 or f64 comes on top of the residual that the iteration reports. */
    const double u = s.matrix.type == WF_TYPE_F64 ? 0x1p-53 : 0x1p-24;
    assert_true(result->true_residual <= tolerance + 1000 * u);
    assert_true(sqrt(error) <= (result->true_residual + 1e-12) * sqrt(norm));
}

static void agrees_with_cholesky(void **state)
{
    static const uint32_t sizes[] = {1, 2, 33, 257, MOST};
    const size_t count = sizeof sizes / sizeof *sizes - (test_emulated() ? 1 : 0);
    test_random random = {test_seed()};
    for (size_t n = 0; n < count; n++)
        for (int type = WF_TYPE_F32; type <= WF_TYPE_F64; type++)
            for (int jacobi = 0; jacobi < 3; jacobi++) {
                if (type == WF_TYPE_F64 && !wf_device_caps(*state)->f64)
                    continue;
                wf_cg_params params = {.precondition = (wf_precondition)jacobi,
                                       .check_every = 7,
                                       .block = jacobi == 2 ? 1 + (uint32_t)n : 0};
                wf_cg_result result;
                make_dense(sizes[n], 1, &random);
                make_sparse((wf_type)type);
                solve_directly();
                for (int v = 0; v < 2; v++) { /* fused with the dot product, and not */
                    const wf_tuning tuning = {.size = sizeof tuning,
                                              .variant = v ? "row" : "sliced"};
                    const bool fused = v == 0 && wf_device_caps(*state)->max_storage_buffers >= 6;
                    if ((v == 0 && !fused) || (v == 1 && fused && n % 2 == 0))
                        continue;
                    s.matrix.tuning = &tuning;
                    assert_int_equal(solve(*state, &params, &result), WF_SUCCESS);
                    assert_int_equal(result.fused, fused);
                    assert_solved(&result, type == WF_TYPE_F64 ? 1e-10 : 1e-6);
                }
                s.matrix.tuning = NULL;
            }
}

/* A matrix whose f64 values are not exact in f32 is solved on devices without f64 too. */
static void refines_to_double_precision(void **state)
{
    test_random random = {test_seed()};
    for (uint32_t n = 1; n <= MOST; n = n * 5 + 2) {
        wf_cg_params params = {.mixed = true, .tolerance = 1e-12, .precondition = n > 1};
        wf_cg_result result;
        make_dense(n, 1, &random);
        for (uint32_t i = 0; i < n; i++) {
            s.dense[i][i] *= 1 + 1e-9 * test_random_uniform(&random);
            s.b[i] += 1e-10 * test_random_uniform(&random);
        }
        make_sparse(WF_TYPE_F64);
        solve_directly();
        assert_int_equal(solve(*state, &params, &result), WF_SUCCESS);
        assert_solved(&result, 1e-12);
        assert_true(result.true_residual <= 2e-12);
        assert_true(result.refinements >= 1);
    }
}

/* Numbers of f64 are rounded and split by several threads, in parts that each has a share of; the
 * first of those that f32 cannot hold is named, though parts end in any order. */
static void refines_a_matrix_of_several_parts(void **state)
{
    enum { N = 380, LATE = 70000, LATER = 140000 };
    test_random random = {test_seed()};
    wf_cg_params params = {.mixed = true, .tolerance = 1e-12};
    wf_cg_result result;
    memset(&s, 0, sizeof s);
    s.n = N;
    for (uint32_t i = 0; i < N; i++) {
        s.b[i] = test_random_uniform(&random);
        for (uint32_t j = 0; j < i; j++)
            s.dense[i][j] = s.dense[j][i] = test_random_uniform(&random) + 2;
        s.dense[i][i] = 3 * N + 1 + test_random_uniform(&random);
    }
    make_sparse(WF_TYPE_F64);
    solve_directly();
    assert_int_equal(solve(*state, &params, &result), WF_SUCCESS);
    assert_solved(&result, 1e-12);
    s.values64[LATER] = 1e300;
    s.values64[LATE] = 1e39;
    test_expect_errors(true);
    assert_int_equal(solve(*state, &params, &result), WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(test_last_error(), "the value 1e+39 is too large"));
    test_expect_errors(false);
}

static void gives_the_same_bits_and_a_falling_history(void **state)
{
    static float first[MOST];
    double history[100];
    test_random random = {test_seed()};
    wf_cg_params params = {.max_iterations = 100, .history = history};
    wf_cg_result result, again;
    make_dense(500, 1, &random);
    make_sparse(WF_TYPE_F32);
    assert_int_equal(solve(*state, &params, &result), WF_SUCCESS);
    memcpy(first, s.x32, sizeof first);
    params.check_every = 1; /* bits do not depend on how often the host checks */
    assert_int_equal(solve(*state, &params, &again), WF_SUCCESS);
    assert_memory_equal(first, s.x32, s.n * sizeof *first);
    assert_int_equal(result.iterations, again.iterations);
    assert_true(history[result.iterations - 1] <= 1e-6 && history[0] > 1e-6);
}

/* x is updated every second iteration: after an odd number of iterations no step is missing. */
static void x_is_whole_after_any_count(void **state)
{
    test_random random = {test_seed()};
    wf_cg_result result;
    make_dense(300, 1, &random);
    make_sparse(WF_TYPE_F32);
    for (uint32_t most = 1; most <= 4; most++)
        for (int block = 0; block < 3; block++) {
            wf_cg_params params = {.max_iterations = most,
                                   .check_every = 1 + most / 2,
                                   .block = block == 2 ? 3 : 0,
                                   .precondition = (wf_precondition)block};
            assert_int_equal(solve(*state, &params, &result), WF_SUCCESS);
            assert_int_equal(result.iterations, most);
            assert_true(fabs(result.true_residual - result.residual) <= 1e-5);
            assert_true(result.residual > 1e-4);
        }
}

static void says_what_is_wrong_with_a_system(void **state)
{
    test_random random = {test_seed()};
    wf_cg_params params = {.max_iterations = 50};
    wf_cg_result result;
    make_dense(100, -1, &random);
    make_sparse(WF_TYPE_F32);
    assert_int_equal(solve(*state, &params, &result), WF_SUCCESS);
    assert_int_equal(result.status, WF_CG_INDEFINITE);
    assert_int_equal(result.iterations, 0);
    for (uint32_t i = 0; i < s.n; i++)
        assert_true(s.x32[i] <= 0 && s.x32[i] >= 0); /* 0, the initial x, and not NaN */
    /* Neither a zero matrix nor a singular one with b outside its range has a solution. */
    make_dense(100, 1, &random);
    memset(s.dense, 0, sizeof s.dense);
    s.dense[3][4] = s.dense[4][3] = 1;
    make_sparse(WF_TYPE_F32);
    s.values32[0] = s.values32[1] = 0;
    assert_int_equal(solve(*state, &params, &result), WF_SUCCESS);
    assert_int_equal(result.status, WF_CG_BREAKDOWN);
    memset(&s, 0, sizeof s);
    s.n = 2;
    s.dense[0][0] = 1;
    s.b[0] = s.b[1] = 1;
    make_sparse(WF_TYPE_F32);
    assert_int_equal(solve(*state, &params, &result), WF_SUCCESS);
    assert_int_not_equal(result.status, WF_CG_CONVERGED);
    assert_true(isfinite(result.true_residual) && result.true_residual > 0.1);
    make_dense(300, 1, &random);
    make_sparse(WF_TYPE_F32);
    params.max_iterations = 2;
    assert_int_equal(solve(*state, &params, &result), WF_SUCCESS);
    assert_int_equal(result.status, WF_CG_MAX_ITERATIONS);
    assert_int_equal(result.iterations, 2);
    memset(s.b32, 0, sizeof s.b32);
    assert_int_equal(solve(*state, &params, &result), WF_SUCCESS);
    assert_int_equal(result.status, WF_CG_CONVERGED);
    assert_true(s.x32[7] <= 0 && s.x32[7] >= 0);
}

/* The stages' times add up to nearly the time of the whole call, and to no more. */
static void stages_fill_the_call(void **state)
{
    test_random random = {test_seed() + 5};
    for (int mixed = 0; mixed < 2; mixed++) {
        wf_solve_stages stages = {.size = sizeof stages, .run = -1, .check = -1};
        wf_cg_params params = {.mixed = mixed, .repeat = 2, .stages = &stages};
        wf_cg_result result;
        struct timespec begin, end;
        make_dense(40, 1, &random);
        make_sparse(mixed ? WF_TYPE_F64 : WF_TYPE_F32);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        assert_int_equal(solve(*state, &params, &result), WF_SUCCESS);
        clock_gettime(CLOCK_MONOTONIC, &end);
        const double seconds =
            (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
        assert_true(stages.analysis > 0 && stages.upload > 0 && stages.run > 0 &&
                    stages.download > 0 && stages.check > 0);
        assert_true(stages.run * 1e6 >= result.iteration_us * (result.iterations > 0) * 0.5);
        assert_true(stages.analysis + stages.upload + stages.run + stages.download + stages.check <=
                    seconds);
        stages.size = 0;
        test_expect_errors(true);
        assert_int_equal(solve(*state, &params, &result), WF_ERROR_INVALID_ARGUMENT);
        test_expect_errors(false);
    }
}

/* Batches overlap, and the host's clock sees only when each ends: no time may count twice. */
static void no_time_counts_twice(void **state)
{
    enum { BATCH = 4 };
    wf_cg_params params = {.max_iterations = 200, .check_every = BATCH};
    wf_cg_result result;
    struct timespec begin, end;
    memset(&s, 0, sizeof s);
    s.n = MOST;
    for (uint32_t i = 0; i < s.n; i++) {
        s.b[i] = i == 0;
        s.dense[i][i] = 2;
        if (i > 0)
            s.dense[i][i - 1] = s.dense[i - 1][i] = -1;
    }
    make_sparse(WF_TYPE_F32);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    assert_int_equal(solve(*state, &params, &result), WF_SUCCESS);
    clock_gettime(CLOCK_MONOTONIC, &end);
    const double seconds =
        (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
    assert_int_equal(result.iterations, 200);
    /* Every batch is timed, except perhaps the first and the last. */
    assert_true(result.iteration_us > 0);
    assert_true(result.iteration_us * (200 - 2 * BATCH) <= seconds * 1e6);
}

static void refuses_bad_parameters(void **state)
{
    test_random random = {test_seed()};
    wf_cg_params params = {.precondition = WF_PRECONDITION_JACOBI};
    wf_cg_result result;
    test_expect_errors(true);
    make_dense(20, 1, &random);
    s.dense[4][4] = 0;
    make_sparse(WF_TYPE_F32);
    assert_int_equal(solve(*state, &params, &result), WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(test_last_error(), "diagonal of row 4 is 0"));
    params.precondition = WF_PRECONDITION_BLOCK_JACOBI;
    assert_int_equal(solve(*state, &params, &result), WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(test_last_error(), "pivot of row 4"));
    params.precondition = WF_PRECONDITION_NONE;
    s.b32[3] = INFINITY;
    assert_int_equal(solve(*state, &params, &result), WF_ERROR_INVALID_ARGUMENT);
    s.matrix.columns = 30;
    assert_int_equal(solve(*state, &params, &result), WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(test_last_error(), "20 x 30, not square"));
    /* Kernels begin to compile before the matrix is looked at: none of such types may. */
    const wf_caps *caps = wf_device_caps(*state);
    s.matrix.columns = 20;
    s.matrix.values = s.dense;
    s.matrix.type = caps->f64 ? WF_TYPE_I8 : WF_TYPE_F64;
    assert_int_not_equal(solve(*state, &params, &result), WF_SUCCESS);
    s.matrix.type = (wf_type)99;
    assert_int_not_equal(solve(*state, &params, &result), WF_SUCCESS);
    test_expect_errors(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_cholesky),
        cmocka_unit_test(refines_to_double_precision),
        cmocka_unit_test(refines_a_matrix_of_several_parts),
        cmocka_unit_test(gives_the_same_bits_and_a_falling_history),
        cmocka_unit_test(x_is_whole_after_any_count),
        cmocka_unit_test(says_what_is_wrong_with_a_system),
        cmocka_unit_test(stages_fill_the_call),
        cmocka_unit_test(no_time_counts_twice),
        cmocka_unit_test(refuses_bad_parameters),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
