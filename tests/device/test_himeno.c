/* Himeno's relaxation against f64: every variant and many points on random coefficients, equal bits
 * from every variant, slab, block and number of iterations a pass. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/families.h"
#include "core/device.h"
#include "points.h"
#include "solve/himeno.h"

#define ITERATIONS 7 /* which leaves a remainder for every number of iterations a pass */
#define ARRAYS 13

/* A grid, its random start values, and what the reference variant makes of them. */
typedef struct grid {
    wf_device *device;
    wf_himeno_params params;
    size_t cells;
    float *values[ARRAYS]; /* p, a, b, c, bnd, wrk1 */
    wf_himeno_arrays arrays;
    float *p, *expected;
    float gosa[ITERATIONS], expected_gosa;
    uint32_t slabs, blocks;
} grid;

static void make_grid(grid *g, wf_device *device, uint32_t ni, uint32_t nj, uint32_t nk,
                      test_random *random)
{
    *g = (grid){.device = device,
                .params = {.size = sizeof g->params, .ni = ni, .nj = nj, .nk = nk},
                .cells = (size_t)ni * nj * nk};
    for (int n = 0; n < ARRAYS; n++) {
        g->values[n] = malloc(g->cells * sizeof(float));
        assert_non_null(g->values[n]);
        for (size_t i = 0; i < g->cells; i++)
            g->values[n][i] = (float)(n == 0 ? 1 : 0.4) * (float)test_random_uniform(random);
    }
    for (int n = 0; n < 4; n++)
        g->arrays.a[n] = g->values[1 + n];
    for (int n = 0; n < 3; n++) {
        g->arrays.b[n] = g->values[5 + n];
        g->arrays.c[n] = g->values[8 + n];
    }
    g->arrays.p = g->values[0];
    g->arrays.bnd = g->values[11];
    g->arrays.wrk1 = g->values[12];
    g->p = malloc(g->cells * sizeof(float));
    g->expected = malloc(g->cells * sizeof(float));
    assert_true(g->p && g->expected);
}

static void free_grid(grid *g)
{
    for (int n = 0; n < ARRAYS; n++)
        free(g->values[n]);
    free(g->p);
    free(g->expected);
}

/* Everything that the object allocated holds NaN, padding and partial sums included. */
static void poison_all(wf_himeno *h)
{
    for (uint32_t b = 0; b < h->block_count; b++)
        for (int n = 0; n < 2; n++)
            test_poison(h->blocks[b].p[n]);
    for (uint32_t i = 0; i < h->slab_count; i++)
        test_poison(h->slabs[i].cells);
    test_poison(h->partials);
    test_poison(h->gosa);
}

static void relax(grid *g, const wf_tuning *tuning, uint32_t iterations)
{
    wf_himeno *h = NULL;
    wf_himeno_params params = g->params;
    params.tuning = tuning;
    assert_int_equal(wf_himeno_create(g->device, &params, &h), WF_SUCCESS);
    poison_all(h);
    assert_int_equal(wf_himeno_write(h, &g->arrays), WF_SUCCESS);
    assert_int_equal(wf_himeno_run_each(h, iterations, g->gosa, NULL, NULL), WF_SUCCESS);
    memset(g->p, 0xff, g->cells * sizeof(float));
    assert_int_equal(wf_himeno_read(h, g->p), WF_SUCCESS);
    g->slabs = h->slab_count;
    g->blocks = h->block_count;
    wf_himeno_destroy(&h);
}

static void assert_right(const grid *g, uint32_t iterations, const char *what)
{
    wf_check check;
    double gosa = 0;
    assert_int_equal(wf_himeno_check(&g->params, &g->arrays, iterations, g->p,
                                     g->gosa[iterations - 1], 0, 0, &check, &gosa),
                     WF_SUCCESS);
    if (!(check.error_over_bound <= 1 && gosa <= 1 && gosa >= 0))
        fail_msg("%s at %ux%ux%u: cell %llu is %g bounds off, gosa %g; seed %llu", what,
                 g->params.ni, g->params.nj, g->params.nk, (unsigned long long)check.worst,
                 check.error_over_bound, gosa, (unsigned long long)test_seed());
}

/* The reference variant's result, checked against f64 after 1 and after all iterations. */
static void make_expected(grid *g)
{
    const wf_tuning reference = {.size = sizeof reference, .variant = "naive"};
    relax(g, &reference, 1);
    assert_right(g, 1, "naive");
    relax(g, &reference, ITERATIONS);
    assert_right(g, ITERATIONS, "naive");
    memcpy(g->expected, g->p, g->cells * sizeof(float));
    g->expected_gosa = g->gosa[ITERATIONS - 1];
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void assert_same(const grid *g, const char *what)
{
    for (size_t i = 0; i < g->cells; i++)
        if (bits_of(g->p[i]) != bits_of(g->expected[i]))
            fail_msg("%s at %ux%ux%u: cell %zu is %.9g, not %.9g; seed %llu", what, g->params.ni,
                     g->params.nj, g->params.nk, i, (double)g->p[i], (double)g->expected[i],
                     (unsigned long long)test_seed());
}

static void run_point(void *user, const wfi_point *point)
{
    grid *g = user;
    wf_constant constants[WF_MAX_PARAMETERS];
    char text[256];
    const wf_tuning tuning = test_point_tuning(point, constants);
    test_point_text(point, text, sizeof text);
    relax(g, &tuning, ITERATIONS);
    assert_same(g, text);
    assert_right(g, ITERATIONS, text);
}

/* Each row as it stands on grids down to a single inner cell. */
static void every_default_is_right(void **state)
{
    static const uint32_t sizes[][3] = {{3, 3, 3}, {37, 10, 19}};
    const wfi_family *family = wfi_family_get(WF_FAMILY_HIMENO);
    test_random random = {test_seed()};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        grid g;
        make_grid(&g, *state, sizes[s][0], sizes[s][1], sizes[s][2], &random);
        make_expected(&g);
        const wfi_problem problem = {.family = WF_FAMILY_HIMENO,
                                     .himeno = {g.params.ni, g.params.nj, g.params.nk}};
        for (uint32_t v = 0; v < family->variant_count; v++) {
            const wf_tuning tuning = {.size = sizeof tuning, .variant = family->variants[v]->name};
            wfi_point point = {.caps = wf_device_caps(*state),
                               .problem = &problem,
                               .variant = family->variants[v]};
            wfi_point_defaults(&point);
            if (!wfi_point_legal(&point, NULL))
                continue;
            relax(&g, &tuning, ITERATIONS);
            assert_same(&g, tuning.variant);
            assert_right(&g, ITERATIONS, tuning.variant);
        }
        free_grid(&g);
    }
}

/* Whether the variant's points run at minimum limits: those of every other variant do, of which
 * only the points that such limits forbid run at full ones. */
static bool is_of_minimum(const wfi_variant *variant)
{
    return wfi_variant_find(wfi_family_get(WF_FAMILY_HIMENO), variant->name) % 2 != 0;
}

static bool is_walked(const wfi_point *point)
{
    uint32_t size[3];
    point->variant->group_size(point, size);
    return point->caps->limits == WF_LIMITS_MINIMUM || !is_of_minimum(point->variant) ||
           size[0] * size[1] * size[2] > 128;
}

/* How many points to run: on the first grid as many as put every candidate of every parameter in
 * one, few of variants that are walked at the other limits, and one on smaller grids. */
static uint32_t most_points(const wf_caps *caps, const wfi_variant *variant, size_t size)
{
    const bool own = is_of_minimum(variant) == (caps->limits == WF_LIMITS_MINIMUM);
    return size > 0 ? 1 : own ? UINT32_MAX : 3;
}

static void every_point_is_right(void **state)
{
    static const uint32_t sizes[][3] = {{41, 15, 11}, {3, 3, 3}, {7, 4, 8}};
    const wfi_family *family = wfi_family_get(WF_FAMILY_HIMENO);
    test_random random = {test_seed()};
    uint32_t points = 0;
    if (test_quick()) /* another test runs the defaults */
        skip();
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        grid g;
        make_grid(&g, *state, sizes[s][0], sizes[s][1], sizes[s][2], &random);
        make_expected(&g);
        const wfi_problem problem = {.family = WF_FAMILY_HIMENO,
                                     .himeno = {g.params.ni, g.params.nj, g.params.nk}};
        for (uint32_t v = 0; v < family->variant_count; v++)
            points +=
                test_each_value(wf_device_caps(*state), &problem, family->variants[v], is_walked,
                                most_points(wf_device_caps(*state), family->variants[v], s),
                                &random, run_point, &g);
        free_grid(&g);
    }
    printf("%u points\n", points);
    assert_true(points >= 3 * family->variant_count);
}

static void model_choice_is_right(void **state)
{
    test_random random = {test_seed()};
    for (int n = 0; n < (test_emulated() ? 1 : 3); n++) {
        grid g;
        make_grid(&g, *state, 3 + test_random_below(&random, 90),
                  3 + test_random_below(&random, 50), 3 + test_random_below(&random, 40), &random);
        make_expected(&g);
        relax(&g, NULL, ITERATIONS);
        assert_same(&g, "the model's choice");
        assert_right(&g, ITERATIONS, "the model's choice");
        free_grid(&g);
    }
}

typedef struct split_case {
    uint64_t range, allocation; /* counted in padded planes of p; 0: the device's own */
    uint32_t least_slabs;
} split_case;

/* Runs the variants whose slabs differ, and the model's choice, under small limits; returns the
 * most blocks. */
static uint32_t relax_split(grid *g, const split_case *c)
{
    uint32_t most = 0;
    wf_device *device = g->device;
    const wf_caps caps = device->caps;
    const uint64_t plane = (uint64_t)(64 + g->params.ni) * g->params.nj * sizeof(float);
    static const char *const names[] = {"naive",  "moved",  "region_part", "region", "copy_back",
                                        "march4", "texels", "time",        NULL};
    for (size_t v = 0; v < sizeof names / sizeof *names; v++) {
        /* Less than the iterations of a run, so that data move in the middle of it. */
        static const wf_constant region = {"region", 2};
        /* Rows and models of some devices pad and interleave so far that these limits do not hold
         * the planes that a pass of several iterations reads. */
        static const wf_constant layout[] = {{"pad", 4}, {"interleave", 0}, {"steps", 2}};
        const bool moves = names[v] && strncmp(names[v], "region", 6) == 0,
                   several = names[v] && strcmp(names[v], "time") == 0;
        const wf_tuning tuning = {.size = sizeof tuning,
                                  .variant = names[v],
                                  .constants = several ? layout : &region,
                                  .constant_count = several ? 3 : moves};
        device->caps.max_storage_range = c->range * plane;
        if (c->allocation)
            device->caps.max_allocation = c->allocation * plane;
        relax(g, &tuning, ITERATIONS);
        device->caps = caps;
        assert_same(g, names[v] ? names[v] : "the model's choice, split");
        assert_right(g, ITERATIONS, "split");
        assert_true(g->slabs >= c->least_slabs);
        most = g->blocks > most ? g->blocks : most;
    }
    return most;
}

/* Slabs for small bindings and blocks for small allocations give the bits of one piece. */
static void splits_over_small_limits(void **state)
{
    static const split_case cases[] = {{20, 0, 4}, {40, 10, 4}};
    test_random random = {test_seed()};
    grid g;
    make_grid(&g, *state, 21, 18, 40, &random);
    make_expected(&g);
    uint32_t blocks = 0;
    /* The last limits force slabs and blocks. */
    const bool last = test_quick() || wf_device_caps(*state)->limits == WF_LIMITS_MINIMUM;
    for (size_t i = last ? 1 : 0; i < sizeof cases / sizeof *cases; i++)
        blocks = relax_split(&g, &cases[i]);
    assert_true(blocks > 1);
    free_grid(&g);
}

/* On a grid with few inner cells, p and not the coefficients is over the limit of an allocation. */
static void splits_p_into_blocks(void **state)
{
    test_random random = {test_seed()};
    const wf_caps caps = ((wf_device *)*state)->caps;
    wf_device *device = *state;
    const wf_tuning naive = {.size = sizeof naive, .variant = "naive"};
    grid g;
    make_grid(&g, device, 30, 3, 57, &random);
    make_expected(&g);
    for (uint64_t planes = 15; planes < 60; planes += 8) {
        device->caps.max_allocation = planes * 30 * 3 * sizeof(float);
        relax(&g, &naive, ITERATIONS);
        device->caps = caps;
        assert_same(&g, "blocks");
        assert_true(g.blocks > 1 || planes >= 57);
    }
    free_grid(&g);
}

static void iterations_add_up(void **state)
{
    test_random random = {test_seed()};
    wf_himeno *h = NULL;
    float each[ITERATIONS], gosa = 0;
    double seconds = -1;
    bool gpu_clock;
    grid g;
    make_grid(&g, *state, 33, 20, 17, &random);
    relax(&g, NULL, ITERATIONS);
    memcpy(each, g.gosa, sizeof each);
    memcpy(g.expected, g.p, g.cells * sizeof(float));
    assert_int_equal(wf_himeno_create(*state, &g.params, &h), WF_SUCCESS);
    assert_int_equal(wf_himeno_write(h, &g.arrays), WF_SUCCESS);
    for (int n = 0; n < ITERATIONS; n++) {
        assert_int_equal(wf_himeno_run(h, 1, &gosa, &seconds, &gpu_clock), WF_SUCCESS);
        /* Sums of different shapes; both are within their bound, which the f64 check looks at. */
        assert_true(fabsf(gosa - each[n]) <= 1e-5f * each[n]);
        assert_true(seconds >= 0);
    }
    assert_int_equal(wf_himeno_read(h, g.p), WF_SUCCESS);
    assert_same(&g, "one iteration at a time");
    wf_himeno_destroy(&h);
    free_grid(&g);
}

/* The benchmark's own start values on size M (256 x 128 x 128 cells, the ramp along the slowest
 * axis) give the published gosa to what f32 allows, and f64 agrees within the derived bound. */
static void published_gosa_on_m(void **state)
{
    const double published = 1.6939555e-3;
    const wf_himeno_params params = {.size = sizeof params, .ni = 256, .nj = 128, .nk = 128};
    const size_t cells = (size_t)256 * 128 * 128;
    wf_himeno *h = NULL;
    wf_check check;
    float gosa = 0;
    double gosa_error = 0;
    float *p = malloc(cells * sizeof *p);
    assert_non_null(p);
    assert_int_equal(wf_himeno_create(*state, &params, &h), WF_SUCCESS);
    assert_int_equal(wf_himeno_start(h), WF_SUCCESS);
    assert_int_equal(wf_himeno_run(h, 3, &gosa, NULL, NULL), WF_SUCCESS);
    assert_int_equal(wf_himeno_read(h, p), WF_SUCCESS);
    wf_himeno_destroy(&h);
    assert_int_equal(wf_himeno_check(&params, NULL, 3, p, gosa, 0, 0, &check, &gosa_error),
                     WF_SUCCESS);
    free(p);
    printf("gosa %.8e, published %.8e\n", (double)gosa, published);
    assert_true(check.error_over_bound <= 1 && check.checked == cells);
    assert_true(gosa_error >= 0 && gosa_error <= 1);
    assert_true(fabs((double)gosa - published) <= 2e-4 * published);
}

/* The check finds a planted wrong cell and a planted wrong sum. */
static void check_finds_errors(void **state)
{
    test_random random = {test_seed()};
    wf_check check;
    double gosa = 0;
    grid g;
    make_grid(&g, *state, 12, 9, 8, &random);
    relax(&g, NULL, 2);
    const size_t at = ((size_t)4 * 9 + 5) * 12 + 6;
    const float kept = g.p[at];
    g.p[at] += 1e-3f;
    assert_int_equal(wf_himeno_check(&g.params, &g.arrays, 2, g.p, g.gosa[1], 0, 0, &check, &gosa),
                     WF_SUCCESS);
    assert_true(check.error_over_bound > 1 && check.worst == at && gosa <= 1);
    g.p[at] = kept;
    assert_int_equal(
        wf_himeno_check(&g.params, &g.arrays, 2, g.p, g.gosa[1] * 1.01f, 0, 0, &check, &gosa),
        WF_SUCCESS);
    assert_true(check.error_over_bound <= 1 && gosa > 1);
    assert_int_equal(wf_himeno_check(&g.params, &g.arrays, 2, g.p, 0, 100, 7, &check, &gosa),
                     WF_SUCCESS);
    assert_true(check.error_over_bound <= 1 && check.checked >= 100 && gosa < 0);
    free_grid(&g);
}

static void refuses_bad_requests(void **state)
{
    wf_device *device = *state;
    const wf_caps caps = device->caps;
    wf_himeno *h = NULL;
    wf_himeno_params params = {.size = sizeof params, .ni = 2, .nj = 3, .nk = 3};
    const wf_constant odd = {"pad", 6}, march = {"march", 65};
    wf_tuning tuning = {.size = sizeof tuning, .variant = "nothing"};
    test_expect_errors(true);
    assert_int_equal(wf_himeno_create(device, &params, &h), WF_ERROR_INVALID_ARGUMENT);
    params = (wf_himeno_params){.size = sizeof params, .ni = 30, .nj = 30, .nk = 30};
    params.omega = NAN;
    assert_int_equal(wf_himeno_create(device, &params, &h), WF_ERROR_INVALID_ARGUMENT);
    params.omega = 0;
    params.tuning = &tuning;
    assert_int_equal(wf_himeno_create(device, &params, &h), WF_ERROR_UNKNOWN_VARIANT);
    tuning = (wf_tuning){sizeof tuning, "march4", &odd, 1, false, 0};
    assert_int_equal(wf_himeno_create(device, &params, &h), WF_ERROR_CONSTRAINT);
    assert_non_null(strstr(test_last_error(), "multiple of 4"));
    tuning = (wf_tuning){sizeof tuning, "march", &march, 1, false, 0};
    assert_int_equal(wf_himeno_create(device, &params, &h), WF_ERROR_CONSTRAINT);
    params.tuning = NULL;
    device->caps.available_bytes = 100000;
    assert_int_equal(wf_himeno_create(device, &params, &h), WF_ERROR_TOO_LARGE);
    assert_non_null(strstr(test_last_error(), "MiB"));
    device->caps = caps;
    device->caps.max_storage_range = 4096;
    assert_int_equal(wf_himeno_create(device, &params, &h), WF_ERROR_TOO_LARGE);
    assert_non_null(strstr(test_last_error(), "binding limit"));
    device->caps = caps;
    test_expect_errors(false);
    assert_null(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_is_right), cmocka_unit_test(every_point_is_right),
        cmocka_unit_test(model_choice_is_right),  cmocka_unit_test(splits_over_small_limits),
        cmocka_unit_test(splits_p_into_blocks),   cmocka_unit_test(iterations_add_up),
        cmocka_unit_test(published_gosa_on_m),    cmocka_unit_test(check_finds_errors),
        cmocka_unit_test(refuses_bad_requests),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
