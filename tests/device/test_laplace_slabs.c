/* A grid of Laplace's equation cut into slabs, whose halos the test carries, or which the slabs
 * read from each other's buffers: the cells have the bits of wf_laplace_solve after as many
 * iterations, and the residuals add up to that of the cells, in f64. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness.h"

#define ITERATIONS 11 /* which leaves a remainder for two, three and four a pass */
#define MOST_SLABS 3

typedef enum way { CARRIED, BOUND, FORGOTTEN } way; /* FORGOTTEN: a planted fault */

typedef struct problem {
    wf_laplace_params params;
    wf_tuning tuning;
    wf_constant steps;
    uint32_t iterations; /* a pass */
    size_t row_bytes;
    unsigned char *start, *expected, *out;
} problem;

static size_t cells_of(const problem *p)
{
    return p->params.nx * (size_t)p->params.ny;
}

static void make_problem(problem *p, wf_laplace_params params, uint32_t iterations)
{
    test_random random = {test_seed()};
    const bool jacobi = params.method == WF_LAPLACE_JACOBI;
    *p = (problem){.params = params, .steps = {"steps", iterations}, .iterations = iterations};
    p->tuning = (wf_tuning){.size = sizeof p->tuning,
                            .variant = iterations > 1 ? "time" : "naive",
                            .constants = &p->steps,
                            .constant_count = iterations > 1};
    p->params.size = sizeof p->params;
    p->params.tolerance = 1e-30; /* as many iterations as are asked for */
    p->params.max_iterations = ITERATIONS;
    p->params.check_every = ITERATIONS;
    p->params.tuning = jacobi ? &p->tuning : NULL;
    p->row_bytes = params.nx * wf_type_size(params.type);
    const size_t bytes = params.ny * p->row_bytes;
    p->start = malloc(bytes);
    p->expected = malloc(bytes);
    p->out = malloc(bytes);
    assert_true(p->start && p->expected && p->out);
    for (size_t i = 0; i < cells_of(p); i++)
        wf_element_set(params.type, p->start, i, test_random_uniform(&random));
    memcpy(p->expected, p->start, bytes);
}

static void free_problem(problem *p)
{
    free(p->start);
    free(p->expected);
    free(p->out);
}

static void run_whole(wf_device *device, problem *p)
{
    wf_laplace_result result = {.size = sizeof result};
    assert_int_equal(wf_laplace_solve(device, &p->params, p->expected, &result), WF_SUCCESS);
    assert_int_equal(result.iterations, ITERATIONS);
}

/* ---------------------------------------------------------------------------------------- slabs */

typedef struct slabs {
    uint32_t count, turn;
    way way;
    wf_laplace_slab *parts[MOST_SLABS];
    wf_halo halos[MOST_SLABS];
    wf_buffer *shared[MOST_SLABS][2][2]; /* BOUND: by turn and side, lower first */
} slabs;

/* Of either side, of which a slab at an end has one. */
static uint64_t halo_bytes(const wf_halo *halo)
{
    const uint64_t *bytes = halo->bytes;
    return bytes[WF_HALO_LOWER] ? bytes[WF_HALO_LOWER] : bytes[WF_HALO_UPPER];
}

static void carry(slabs *s)
{
    for (uint32_t i = 0; i + 1 < s->count && s->way != BOUND; i++) {
        if (s->way == FORGOTTEN && i == 0)
            continue;
        memcpy(s->halos[i + 1].from[WF_HALO_LOWER], s->halos[i].to[WF_HALO_UPPER],
               s->halos[i].bytes[WF_HALO_UPPER]);
        memcpy(s->halos[i].from[WF_HALO_UPPER], s->halos[i + 1].to[WF_HALO_LOWER],
               s->halos[i].bytes[WF_HALO_UPPER]);
    }
}

/* What is written in this turn is read in the next. */
static void bind_all(slabs *s)
{
    s->turn = 1 - s->turn;
    for (uint32_t i = 0; i < s->count && s->way == BOUND; i++) {
        const uint32_t was = 1 - s->turn;
        wf_halo_bindings halos = {.size = sizeof halos};
        if (i > 0) {
            halos.to[WF_HALO_LOWER].buffer = s->shared[i][s->turn][0];
            halos.from[WF_HALO_LOWER].buffer = s->shared[i - 1][was][1];
        }
        if (i + 1 < s->count) {
            halos.to[WF_HALO_UPPER].buffer = s->shared[i][s->turn][1];
            halos.from[WF_HALO_UPPER].buffer = s->shared[i + 1][was][0];
        }
        assert_int_equal(wf_laplace_slab_bind_halos(s->parts[i], &halos), WF_SUCCESS);
    }
}

static void open_slabs(wf_device *device, const problem *p, const uint32_t *begin, slabs *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const wf_laplace_slab_params params = {.size = sizeof params,
                                               .grid = &p->params,
                                               .first_row = begin[i],
                                               .rows = begin[i + 1] - begin[i],
                                               .iterations = p->iterations};
        assert_int_equal(wf_laplace_slab_create(device, &params, &s->parts[i]), WF_SUCCESS);
        s->halos[i].size = sizeof s->halos[i];
        assert_int_equal(wf_laplace_slab_halos(s->parts[i], &s->halos[i]), WF_SUCCESS);
        for (int n = 0; n < 4 && s->way == BOUND; n++)
            assert_int_equal(wf_buffer_create(device, halo_bytes(&s->halos[i]), WF_MEMORY_READBACK,
                                              &s->shared[i][n / 2][n % 2]),
                             WF_SUCCESS);
    }
}

static void close_slabs(slabs *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        wf_laplace_slab_destroy(&s->parts[i]);
        for (int n = 0; n < 4; n++)
            wf_buffer_destroy(&s->shared[i][n / 2][n % 2]);
    }
}

static void run_passes(slabs *s, uint32_t most)
{
    for (uint32_t left = ITERATIONS; left > 0;) {
        const uint32_t count = left < most ? left : most;
        bind_all(s);
        for (uint32_t i = 0; i < s->count; i++)
            if (left == ITERATIONS)
                assert_int_equal(wf_laplace_slab_pass_begin(s->parts[i], count), WF_SUCCESS);
            else
                assert_int_equal(wf_laplace_slab_pass_next(s->parts[i], count, NULL), WF_SUCCESS);
        carry(s);
        left -= count;
    }
    for (uint32_t i = 0; i < s->count; i++)
        assert_int_equal(wf_laplace_slab_pass_end(s->parts[i], NULL), WF_SUCCESS);
}

/* The residual of p->out, by the test's own sum in f64. */
static double true_squares(const problem *p)
{
    const size_t nx = p->params.nx;
    const wf_type type = p->params.type;
    double squares = 0;
    for (size_t y = 1; y + 1 < p->params.ny; y++)
        for (size_t i = y * nx + 1; i < (y + 1) * nx - 1; i++) {
            const double r =
                wf_element_get(type, p->out, i - 1) + wf_element_get(type, p->out, i + 1) +
                wf_element_get(type, p->out, i - nx) + wf_element_get(type, p->out, i + nx) -
                4 * wf_element_get(type, p->out, i);
            squares += r * r;
        }
    return squares;
}

/* Squares on the device are of values divided by 2^exponent. Each cell has four differences and
 * three sums, whose terms are below 2 there, and the sum of n squares loses n roundings. */
static void check_residual(slabs *s, const problem *p, int exponent)
{
    double squares = 0;
    bind_all(s);
    for (uint32_t i = 0; i < s->count; i++) {
        double own = 0, scales = 0;
        assert_int_equal(wf_laplace_slab_residual(s->parts[i], &own, &scales), WF_SUCCESS);
        assert_true(scales >= own);
        squares += own;
    }
    const double u = p->params.type == WF_TYPE_F64 ? 0x1p-53 : 0x1p-24, n = (double)cells_of(p),
                 device = ldexp(sqrt(squares), exponent), host = sqrt(true_squares(p));
    assert_true(fabs(device - host) <= n * u * host + 8 * u * 16 * sqrt(n));
}

/* Whether the slabs give the cells that the whole gives. */
static bool run_cut(wf_device *device, problem *p, const uint32_t *begin, uint32_t count, way how)
{
    const int exponent = 1;
    slabs s = {.count = count, .way = how};
    open_slabs(device, p, begin, &s);
    bind_all(&s);
    memcpy(p->out, p->start, p->params.ny * p->row_bytes);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(
            wf_laplace_slab_write(s.parts[i], p->out + begin[i] * p->row_bytes, exponent),
            WF_SUCCESS);
    carry(&s);
    run_passes(&s, p->iterations);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(wf_laplace_slab_read(s.parts[i], p->out + begin[i] * p->row_bytes),
                         WF_SUCCESS);
    if (how != FORGOTTEN)
        check_residual(&s, p, exponent);
    close_slabs(&s);
    return memcmp(p->out, p->expected, p->params.ny * p->row_bytes) == 0;
}

static void check(wf_device *device, wf_laplace_params params, uint32_t iterations)
{
    problem p;
    make_problem(&p, params, iterations);
    const uint32_t ny = params.ny, begin[] = {0, ny / 2 / 2 * 2, (ny - ny / 4) / 2 * 2, ny},
                   two[] = {0, ny / 3 / 2 * 2, ny}, all[] = {0, ny};
    run_whole(device, &p);
    assert_true(run_cut(device, &p, begin, 3, CARRIED));
    assert_true(run_cut(device, &p, two, 2, BOUND));
    assert_true(run_cut(device, &p, all, 1, CARRIED));
    assert_false(run_cut(device, &p, begin, 3, FORGOTTEN));
    free_problem(&p);
}

/* What a cut says holds: parts of as many rows as a halo can be made, where it says that they
 * begin, and have halos of as many rows; thinner ones and such as begin elsewhere are refused. */
static void check_part(wf_device *device, const problem *p, const wf_laplace_cut *cut)
{
    wf_laplace_slab *slab = NULL;
    wf_halo halo = {.size = sizeof halo};
    wf_laplace_slab_params part = {.size = sizeof part,
                                   .grid = &p->params,
                                   .first_row = 2 * cut->halo,
                                   .rows = cut->halo,
                                   .iterations = cut->iterations};
    assert_int_equal(wf_laplace_slab_create(device, &part, &slab), WF_SUCCESS);
    assert_int_equal(wf_laplace_slab_halos(slab, &halo), WF_SUCCESS);
    assert_true(halo.bytes[WF_HALO_LOWER] >= cut->halo * (uint64_t)p->row_bytes);
    assert_true(halo.bytes[WF_HALO_LOWER] < (cut->halo + 1) * 2 * cut->row_bytes);
    wf_laplace_slab_destroy(&slab);
    test_expect_errors(true);
    part.rows = cut->halo - 1;
    assert_int_equal(wf_laplace_slab_create(device, &part, &slab), WF_ERROR_INVALID_ARGUMENT);
    part.rows = cut->halo;
    part.first_row++;
    assert_int_equal(wf_laplace_slab_create(device, &part, &slab),
                     cut->unit > 1 ? WF_ERROR_INVALID_ARGUMENT : WF_SUCCESS);
    test_expect_errors(false);
    wf_laplace_slab_destroy(&slab);
}

static void check_cuts(wf_device *device, wf_laplace_params params)
{
    problem p;
    uint32_t most = UINT32_MAX;
    make_problem(&p, params, 1);
    for (uint32_t parts = 1; parts < 8; parts++) {
        wf_laplace_cut cut = {.size = sizeof cut};
        assert_int_equal(wf_laplace_plan_cut(device, &p.params, parts, &cut), WF_SUCCESS);
        assert_int_equal(cut.max_iterations, ITERATIONS);
        assert_true(cut.tolerance > 0 && cut.check_every > 0 && cut.patience > 0);
        assert_true((cut.variant == NULL) == (params.method == WF_LAPLACE_SOR));
        assert_true(cut.iterations > 0 && cut.iterations <= cut.check_every);
        assert_true(cut.iterations <= most); /* of thinner parts */
        most = cut.iterations;
        if (parts > 1)
            check_part(device, &p, &cut);
    }
    free_problem(&p);
}

static void cuts_hold(void **state)
{
    wf_laplace_cut cut = {.size = sizeof cut};
    check_cuts(*state, (wf_laplace_params){.nx = 8, .ny = 4100});
    check_cuts(*state, (wf_laplace_params){.nx = 19, .ny = 33, .method = WF_LAPLACE_JACOBI});
    test_expect_errors(true);
    assert_int_equal(wf_laplace_plan_cut(
                         *state, &(wf_laplace_params){.size = sizeof(wf_laplace_params)}, 2, &cut),
                     WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
}

static void slabs_are_the_whole(void **state)
{
    check(*state, (wf_laplace_params){.nx = 37, .ny = 71}, 2);
    check(*state, (wf_laplace_params){.nx = 300, .ny = 44, .omega = 1.5}, 4); /* whole passes */
    check(*state, (wf_laplace_params){.nx = 5, .ny = 9}, 1);
    check(*state, (wf_laplace_params){.nx = 23, .ny = 31, .method = WF_LAPLACE_JACOBI}, 1);
    check(*state, (wf_laplace_params){.nx = 23, .ny = 41, .method = WF_LAPLACE_JACOBI}, 3);
    if (test_has_type(*state, WF_TYPE_F64))
        check(*state, (wf_laplace_params){.nx = 18, .ny = 90, .type = WF_TYPE_F64}, 3);
}

static void bad_requests(void **state)
{
    problem p;
    wf_laplace_slab *s = NULL;
    make_problem(&p, (wf_laplace_params){.nx = 16, .ny = 30}, 2);
    wf_laplace_slab_params params = {
        .size = sizeof params, .grid = &p.params, .first_row = 3, .rows = 8, .iterations = 2};
    test_expect_errors(true);
    assert_int_equal(wf_laplace_slab_create(*state, &params, &s), WF_ERROR_INVALID_ARGUMENT);
    params.first_row = 4;
    params.rows = 3;
    assert_int_equal(wf_laplace_slab_create(*state, &params, &s), WF_ERROR_INVALID_ARGUMENT);
    params.rows = 27;
    assert_int_equal(wf_laplace_slab_create(*state, &params, &s), WF_ERROR_INVALID_ARGUMENT);
    params.rows = 24; /* of the two behind it no part can be made */
    assert_int_equal(wf_laplace_slab_create(*state, &params, &s), WF_ERROR_INVALID_ARGUMENT);
    params.first_row = 2;
    params.rows = 8;
    assert_int_equal(wf_laplace_slab_create(*state, &params, &s), WF_ERROR_INVALID_ARGUMENT);
    params.first_row = 4;
    params.iterations = UINT32_C(0x80000001); /* twice as many are 2 in 32 bits */
    assert_int_equal(wf_laplace_slab_create(*state, &params, &s), WF_ERROR_INVALID_ARGUMENT);
    params.iterations = 2;
    assert_int_equal(wf_laplace_slab_create(*state, &params, &s), WF_SUCCESS);
    assert_int_equal(wf_laplace_slab_pass_begin(s, 3), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_laplace_slab_pass_next(s, 1, NULL), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_laplace_slab_pass_end(s, NULL), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_laplace_slab_write(s, p.start, 0), WF_SUCCESS);
    assert_int_equal(wf_laplace_slab_pass_begin(s, 2), WF_SUCCESS);
    assert_int_equal(wf_laplace_slab_read(s, p.out), WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
    wf_laplace_slab_destroy(&s); /* with a pass under way */
    free_problem(&p);
}

/* Inner rows beside a border, whose cells the caller has or has not; rows further in need none. */
static void borders_are_needed(void **state)
{
    problem p;
    wf_laplace_rows_found found = {.size = sizeof found};
    make_problem(&p, (wf_laplace_params){.nx = 16, .ny = 30}, 1);
    const unsigned char *rows = p.start, *last = rows + 29 * p.row_bytes;
    const struct {
        uint32_t first, count;
        const void *lower, *upper;
        double unit;
        wf_result result;
    } cases[] = {{1, 9, NULL, NULL, 1, WF_ERROR_INVALID_ARGUMENT},
                 {1, 9, rows, NULL, 1, WF_SUCCESS},
                 {20, 9, NULL, NULL, 1, WF_ERROR_INVALID_ARGUMENT},
                 {20, 9, NULL, last, 1, WF_SUCCESS},
                 {1, 28, rows, NULL, 1, WF_ERROR_INVALID_ARGUMENT},
                 {1, 28, NULL, NULL, 0, WF_SUCCESS},
                 {2, 26, NULL, NULL, 1, WF_SUCCESS},
                 {1, 0, NULL, NULL, 1, WF_SUCCESS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_expect_errors(cases[i].result != WF_SUCCESS);
        assert_int_equal(wf_laplace_rows_look(*state, &p.params, cases[i].first, cases[i].count,
                                              rows + cases[i].first * p.row_bytes, cases[i].lower,
                                              cases[i].upper, cases[i].unit, &found),
                         cases[i].result);
    }
    test_expect_errors(false);
    free_problem(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slabs_are_the_whole),
        cmocka_unit_test(cuts_hold),
        cmocka_unit_test(borders_are_needed),
        cmocka_unit_test(bad_requests),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
