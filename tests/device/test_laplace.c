/* Laplace's equation against solutions of the difference equation that are known in closed form. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/device.h"
#include "harness.h"

#define PI 3.14159265358979323846
#define MODES 3    /* waves along each edge */
#define MOST 20000 /* iterations: none of the grids here needs as many */

typedef struct grid {
    uint32_t nx, ny;
    wf_type type;
    double *exact, *solved;
    void *u;
} grid;

static size_t cells_of(const grid *g)
{
    return g->nx * (size_t)g->ny;
}

/* sinh(k j) / sinh(k n) without overflow, 0 <= j <= n. */
static double decay(double k, double j, double n)
{
    return exp(k * (j - n)) * (1 - exp(-2 * k * j)) / (1 - exp(-2 * k * n));
}

/* Adds amplitude sin(p pi a / m) decay(n - b): a solution of the difference equation that is 0 on
 * three edges, where cosh k = 2 - cos(p pi / m). `b` counts from the fourth. */
static double mode(double amplitude, uint32_t p, double a, double m, double b, double n)
{
    return amplitude * sin(p * PI * a / m) * decay(acosh(2 - cos(p * PI / m)), n - b, n);
}

static void make_grid(grid *g, uint32_t nx, uint32_t ny, wf_type type, test_random *random)
{
    *g = (grid){.nx = nx, .ny = ny, .type = type};
    g->exact = calloc(cells_of(g), sizeof *g->exact);
    g->solved = calloc(cells_of(g), sizeof *g->solved);
    g->u = calloc(cells_of(g), wf_type_size(type));
    assert_true(g->exact && g->solved && g->u);
    const double m = nx - 1, n = ny - 1;
    for (int edge = 0; edge < 4; edge++)
        for (int i = 0; i < MODES; i++) {
            const double amplitude = test_random_uniform(random);
            const uint32_t most = (edge < 2 ? nx : ny) - 2;
            const uint32_t p = 1 + test_random_below(random, most < 5 ? most : 5);
            for (uint32_t y = 0; y < ny; y++)
                for (uint32_t x = 0; x < nx; x++)
                    g->exact[y * nx + x] += edge == 0   ? mode(amplitude, p, x, m, y, n)
                                            : edge == 1 ? mode(amplitude, p, x, m, n - y, n)
                                            : edge == 2 ? mode(amplitude, p, y, n, x, m)
                                                        : mode(amplitude, p, y, n, m - x, m);
        }
    for (uint32_t y = 0; y < ny; y++) /* inner cells begin with random values */
        for (uint32_t x = 0; x < nx; x++) {
            const bool border = x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
            wf_element_set(type, g->u, y * nx + x,
                           border ? g->exact[y * nx + x] : test_random_uniform(random));
        }
}

static void free_grid(grid *g)
{
    free(g->exact);
    free(g->solved);
    free(g->u);
}

static double border_norm(const grid *g)
{
    double squares = 0;
    for (uint32_t y = 1; y < g->ny - 1; y++)
        for (uint32_t x = 1; x < g->nx - 1; x++) {
            double sum = 0;
            if (x == 1)
                sum += wf_element_get(g->type, g->u, y * g->nx);
            if (x == g->nx - 2)
                sum += wf_element_get(g->type, g->u, y * g->nx + x + 1);
            if (y == 1)
                sum += wf_element_get(g->type, g->u, x);
            if (y == g->ny - 2)
                sum += wf_element_get(g->type, g->u, (y + 1) * g->nx + x);
            squares += sum * sum;
        }
    return sqrt(squares);
}

/* |u - exact| <= |r| / (least eigenvalue). By the maximum principle the border's rounding to the
 * type changes no cell by more than the border: u max|border|, twice that for f64, whose exact
 * solution is itself computed in f64 from `12 MODES` terms. */
static void assert_solved(const grid *g, const wf_laplace_result *result)
{
    const double least = 4 - 2 * cos(PI / (g->nx - 1)) - 2 * cos(PI / (g->ny - 1));
    const double u = g->type == WF_TYPE_F64 ? 100 * 12 * MODES * 0x1p-53 : 0x1p-24 * 12 * MODES;
    double squares = 0;
    for (size_t i = 0; i < cells_of(g); i++) {
        const double error = wf_element_get(g->type, g->u, i) - g->exact[i];
        squares += error * error;
    }
    const double bound =
        result->true_residual * border_norm(g) / least + u * sqrt((double)cells_of(g));
    if (!(sqrt(squares) <= bound))
        fail_msg("%ux%u %s: off by %g, bound %g, seed %llu", g->nx, g->ny, wf_type_name(g->type),
                 sqrt(squares), bound, (unsigned long long)test_seed());
}

/* The most that the device's own residual may be off: gamma_8 of the type times |neighbours| + 4
 * |u| for each cell, where u is at most 12 MODES; twice that, since u is not exact either. */
static double residual_rounding(const grid *g)
{
    const double u = g->type == WF_TYPE_F64 ? 0x1p-53 : 0x1p-24;
    return 2 * 8 * u * 8 * 12 * MODES * sqrt((double)cells_of(g)) / border_norm(g);
}

static void agrees_with_exact_solutions(void **state)
{
    static const uint32_t sizes[][2] = {{3, 3}, {4, 3}, {3, 9}, {17, 12}, {25, 30}, {70, 5}};
    test_random random = {test_seed()};
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
        for (int type = WF_TYPE_F32; type <= WF_TYPE_F64; type++)
            for (int method = WF_LAPLACE_SOR; method <= WF_LAPLACE_JACOBI; method++) {
                if (!test_has_type(*state, (wf_type)type))
                    continue;
                grid g;
                make_grid(&g, sizes[n][0], sizes[n][1], (wf_type)type, &random);
                const double tolerance = type == WF_TYPE_F64 ? 1e-11 : 1e-4;
                const wf_laplace_params params = {.size = sizeof params,
                                                  .nx = g.nx,
                                                  .ny = g.ny,
                                                  .type = g.type,
                                                  .method = (wf_laplace_method)method,
                                                  .tolerance = tolerance,
                                                  .max_iterations = MOST,
                                                  .check_every = n % 2 ? 7 : 0};
                wf_laplace_result result = {.size = sizeof result};
                assert_int_equal(wf_laplace_solve(*state, &params, g.u, &result), WF_SUCCESS);
                if (result.status != WF_LAPLACE_CONVERGED)
                    fail_msg("%ux%u %s method %d: status %d, residual %g after %u, seed %llu", g.nx,
                             g.ny, wf_type_name(g.type), method, result.status, result.residual,
                             result.iterations, (unsigned long long)test_seed());
                assert_true(result.residual <= tolerance);
                assert_true(result.true_residual <= tolerance + residual_rounding(&g));
                assert_solved(&g, &result);
                free_grid(&g);
            }
}

/* The iteration itself, in f64, as the method is written down. */
static void iterate(grid *g, wf_laplace_method method, double omega)
{
    for (int colour = 0; colour < 2; colour++)
        for (uint32_t y = 1; y < g->ny - 1; y++)
            for (uint32_t x = 1; x < g->nx - 1; x++) {
                const size_t i = y * (size_t)g->nx + x;
                double *u = g->solved;
                const double mean = (u[i - 1] + u[i + 1] + u[i - g->nx] + u[i + g->nx]) / 4;
                if (method == WF_LAPLACE_JACOBI)
                    g->exact[i] = mean;
                else if (((x + y) & 1) == (unsigned)colour)
                    u[i] += omega * (mean - u[i]);
            }
    if (method == WF_LAPLACE_JACOBI)
        for (size_t i = 0; i < cells_of(g); i++)
            g->solved[i] = g->exact[i];
}

/* A number of iterations that is no multiple of those between checks gives the method's iterates,
 * by all variants and windows of the stencil; errors of one iteration are at most 8 u and do not
 * grow. */
static void iterates_as_the_method_says(void **state)
{
    static const char *const variants[] = {NULL, "naive", "march", "time"};
    const uint32_t iterations = 23;
    test_random random = {test_seed() + 1};
    for (size_t n = 0; n < sizeof variants / sizeof *variants; n++) {
        const wf_laplace_method method = n == 0 ? WF_LAPLACE_SOR : WF_LAPLACE_JACOBI;
        const wf_tuning tuning = {.size = sizeof tuning, .variant = variants[n]};
        grid g;
        double history[3] = {-1, -1, -1};
        make_grid(&g, 41, 30, WF_TYPE_F32, &random);
        for (size_t i = 0; i < cells_of(&g); i++)
            g.exact[i] = g.solved[i] = wf_element_get(g.type, g.u, i);
        const wf_laplace_params params = {.size = sizeof params,
                                          .nx = g.nx,
                                          .ny = g.ny,
                                          .method = method,
                                          .tolerance = 1e-30,
                                          .omega = 1.25,
                                          .max_iterations = iterations,
                                          .check_every = 9,
                                          .history = history,
                                          .history_room = 2,
                                          .tuning = n ? &tuning : NULL};
        wf_laplace_result result = {.size = sizeof result};
        assert_int_equal(wf_laplace_solve(*state, &params, g.u, &result), WF_SUCCESS);
        assert_int_equal(result.status, WF_LAPLACE_MAX_ITERATIONS);
        assert_int_equal(result.iterations, iterations);
        assert_int_equal(result.checks, 3);
        assert_true(history[0] > history[1] && history[1] > result.residual && history[2] < 0);
        for (uint32_t i = 0; i < iterations; i++)
            iterate(&g, method, 1.25);
        for (size_t i = 0; i < cells_of(&g); i++)
            if (!(fabs(wf_element_get(g.type, g.u, i) - g.solved[i]) <=
                  iterations * 8 * 0x1p-24 * 12 * MODES))
                fail_msg("%s: cell %zu is %g, not %g, seed %llu", n ? variants[n] : "sor", i,
                         wf_element_get(g.type, g.u, i), g.solved[i],
                         (unsigned long long)test_seed());
        free_grid(&g);
    }
}

/* Grids that are larger than a binding are solved in slabs, with the same bits. */
static void slabs_change_nothing(void **state)
{
    wf_device *device = *state;
    const uint64_t range = device->caps.max_storage_range;
    test_random random = {test_seed() + 3};
    for (int method = WF_LAPLACE_SOR; method <= WF_LAPLACE_JACOBI; method++) {
        const wf_laplace_params params = {.size = sizeof params,
                                          .nx = 131,
                                          .ny = 61,
                                          .method = (wf_laplace_method)method,
                                          .max_iterations = 40,
                                          .check_every = 20};
        wf_laplace_result whole = {.size = sizeof whole}, split = whole;
        grid g;
        make_grid(&g, params.nx, params.ny, WF_TYPE_F32, &random);
        const size_t bytes = cells_of(&g) * sizeof(float);
        float *copy = malloc(bytes);
        assert_non_null(copy);
        memcpy(copy, g.u, bytes);
        assert_int_equal(wf_laplace_solve(device, &params, g.u, &whole), WF_SUCCESS);
        device->caps.max_storage_range = 16384; /* 26 rows of one array, 50 of a colour's */
        const wf_result result = wf_laplace_solve(device, &params, copy, &split);
        device->caps.max_storage_range = range;
        assert_int_equal(result, WF_SUCCESS);
        assert_memory_equal(copy, g.u, bytes);
        assert_true(fabs(whole.residual - split.residual) <= 1e-5 * whole.residual);
        free(copy);
        free_grid(&g);
    }
}

static bool stop_at_once(void *user, uint32_t iterations, double residual)
{
    uint32_t *seen = user;
    *seen = residual > 0 ? iterations : 0;
    return false;
}

static void says_how_it_ends(void **state)
{
    test_random random = {test_seed() + 2};
    uint32_t seen = 0;
    grid g;
    for (int method = WF_LAPLACE_SOR; method <= WF_LAPLACE_JACOBI; method++) {
        wf_laplace_params params = {.size = sizeof params,
                                    .nx = 15,
                                    .ny = 11,
                                    .method = (wf_laplace_method)method,
                                    .tolerance = 1e-12,
                                    .max_iterations = MOST};
        wf_laplace_result result = {.size = sizeof result};
        make_grid(&g, params.nx, params.ny, WF_TYPE_F32, &random);
        assert_int_equal(wf_laplace_solve(*state, &params, g.u, &result), WF_SUCCESS);
        assert_int_equal(result.status, WF_LAPLACE_STAGNATED);
        assert_solved(&g, &result);

        for (size_t i = 0; i < cells_of(&g); i++) /* numbers whose squares overflow f32 */
            wf_element_set(g.type, g.u, i, g.exact[i] * 1e30);
        params.tolerance = 1e-4;
        wf_solve_stages stages = {.size = sizeof stages};
        params.stages = &stages;
        assert_int_equal(wf_laplace_solve(*state, &params, g.u, &result), WF_SUCCESS);
        assert_int_equal(result.status, WF_LAPLACE_CONVERGED);
        assert_true(stages.analysis > 0 && stages.upload > 0 && stages.run > 0 &&
                    stages.download > 0 && stages.check > 0);

        params.progress = stop_at_once;
        params.user = &seen;
        params.check_every = 1;
        params.tolerance = 1e-12;
        memset(g.u, 0, cells_of(&g) * sizeof(float));
        ((float *)g.u)[5] = 1;
        assert_int_equal(wf_laplace_solve(*state, &params, g.u, &result), WF_ERROR_CANCELLED);
        assert_int_equal(result.status, WF_LAPLACE_CANCELLED);
        assert_true(seen > 0 && result.iterations >= seen);
        assert_true(fabs(result.residual - result.true_residual) <= 1e-5);

        memset(g.u, 0, cells_of(&g) * sizeof(float)); /* a border of zeros: u is 0 at once */
        ((float *)g.u)[params.nx + 3] = 5;
        assert_int_equal(wf_laplace_solve(*state, &params, g.u, &result), WF_SUCCESS);
        assert_int_equal(result.iterations, 0);
        assert_true(((float *)g.u)[params.nx + 3] <= 0);
        free_grid(&g);
    }
}

static void refuses(wf_device *device, const wf_laplace_params *params, void *u,
                    wf_laplace_result *result, wf_result code)
{
    assert_int_equal(wf_laplace_solve(device, params, u, result), code);
    assert_true(*test_last_error());
}

static void refuses_what_it_cannot_do(void **state)
{
    float u[9] = {0, 1, 0, 0, 0, 0, 0, 0, 0};
    wf_laplace_result result = {.size = sizeof result};
    const wf_laplace_params good = {.size = sizeof good, .nx = 3, .ny = 3};
    wf_laplace_params bad = good;
    test_expect_errors(true);
    refuses(*state, &good, NULL, &result, WF_ERROR_INVALID_ARGUMENT);
    bad.nx = 2;
    refuses(*state, &bad, u, &result, WF_ERROR_INVALID_ARGUMENT);
    bad = good;
    bad.omega = 2;
    refuses(*state, &bad, u, &result, WF_ERROR_INVALID_ARGUMENT);
    bad = good;
    bad.type = WF_TYPE_F16;
    refuses(*state, &bad, u, &result, WF_ERROR_UNSUPPORTED);
    bad.type = WF_TYPE_F64;
    if (!test_has_type(*state, WF_TYPE_F64))
        refuses(*state, &bad, u, &result, WF_ERROR_UNSUPPORTED);
    u[3] = NAN;
    refuses(*state, &good, u, &result, WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_exact_solutions),
        cmocka_unit_test(iterates_as_the_method_says),
        cmocka_unit_test(slabs_change_nothing),
        cmocka_unit_test(says_how_it_ends),
        cmocka_unit_test(refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
