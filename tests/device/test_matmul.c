/* Matrix products against f64: every variant and many points on edge-class sizes, splitting over
 * small bindings, exactness, NaN and infinity. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/families.h"
#include "core/device.h"
#include "kernels/matmul/tile.h"
#include "points.h"

typedef struct shape {
    uint32_t m, n, k;
} shape;

/* On the first shape, which is odd, every variant runs with every legal value of every parameter;
 * the second has whole vectors. */
static const shape edge_shapes[] = {{37, 129, 71}, {64, 68, 60}, {1, 1, 1},    {1, 67, 33},
                                    {67, 1, 33},   {13, 67, 71}, {68, 16, 60}, {37, 133, 19}};

#define FOR_PANELS 5     /* shapes from this one on test variants of thin products alone, */
#define FOR_SHORT_SUMS 7 /* and this one that of short sums, with as many columns as it has */

/* Device and host copies of one product's operands. */
typedef struct product {
    wf_device *device;
    shape size;
    bool transpose_a, transpose_b;
    float *a, *b, *c;
    wf_buffer *device_a, *device_b, *device_c;
} product;

static size_t elements(uint32_t rows, uint32_t columns)
{
    return (size_t)rows * columns;
}

static void make_product(product *p, wf_device *device, shape size)
{
    const size_t na = elements(size.m, size.k), nb = elements(size.k, size.n),
                 nc = elements(size.m, size.n);
    *p = (product){.device = device, .size = size};
    p->a = malloc(na * sizeof(float));
    p->b = malloc(nb * sizeof(float));
    p->c = malloc(nc * sizeof(float));
    assert_true(p->a && p->b && p->c);
    assert_int_equal(wf_buffer_create(device, na * 4, WF_MEMORY_DEVICE, &p->device_a), 0);
    assert_int_equal(wf_buffer_create(device, nb * 4, WF_MEMORY_DEVICE, &p->device_b), 0);
    assert_int_equal(wf_buffer_create(device, nc * 4, WF_MEMORY_DEVICE, &p->device_c), 0);
}

static void fill_random(product *p, test_random *random)
{
    for (size_t i = 0; i < elements(p->size.m, p->size.k); i++)
        p->a[i] = (float)test_random_uniform(random);
    for (size_t i = 0; i < elements(p->size.k, p->size.n); i++)
        p->b[i] = (float)test_random_uniform(random);
}

static void upload(product *p)
{
    assert_int_equal(wf_buffer_write(p->device_a, 0, p->a, elements(p->size.m, p->size.k) * 4), 0);
    assert_int_equal(wf_buffer_write(p->device_b, 0, p->b, elements(p->size.k, p->size.n) * 4), 0);
}

static void free_product(product *p)
{
    wf_buffer_destroy(&p->device_a);
    wf_buffer_destroy(&p->device_b);
    wf_buffer_destroy(&p->device_c);
    free(p->a);
    free(p->b);
    free(p->c);
}

static wf_matmul_params params_of(const product *p, const wf_tuning *tuning)
{
    return (wf_matmul_params){.size = sizeof(wf_matmul_params),
                              .m = p->size.m,
                              .n = p->size.n,
                              .k = p->size.k,
                              .transpose_a = p->transpose_a,
                              .transpose_b = p->transpose_b,
                              .tuning = tuning};
}

static wf_bindings bindings_of(const product *p)
{
    return (wf_bindings){
        .size = sizeof(wf_bindings),
        .items = {{.buffer = p->device_a}, {.buffer = p->device_b}, {.buffer = p->device_c}}};
}

/* Plans, runs on a poisoned C and reads C back; returns the number of dispatches. */
static uint32_t multiply(product *p, const wf_tuning *tuning)
{
    const wf_matmul_params params = params_of(p, tuning);
    const wf_bindings bindings = bindings_of(p);
    wf_plan_info info = {.size = sizeof info};
    wf_plan *plan = NULL;
    assert_int_equal(wf_matmul_plan(p->device, &params, &plan), WF_SUCCESS);
    test_poison(p->device_c);
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(p->device_c, 0, p->c, elements(p->size.m, p->size.n) * 4),
                     WF_SUCCESS);
    assert_int_equal(wf_plan_describe(plan, &info), WF_SUCCESS);
    wf_plan_destroy(&plan);
    return info.dispatches;
}

static void assert_right(const product *p, const char *what)
{
    const wf_matmul_params params = params_of(p, NULL);
    const wf_matmul_inputs inputs = {.size = sizeof inputs, .a = p->a, .b = p->b};
    wf_check check;
    assert_int_equal(wf_matmul_check(&params, &inputs, p->c, 0, 0, &check), WF_SUCCESS);
    if (!(check.error_over_bound <= 1))
        fail_msg("%s at %ux%ux%u: element %llu is %g bounds off; seed %llu", what, p->size.m,
                 p->size.n, p->size.k, (unsigned long long)check.worst, check.error_over_bound,
                 (unsigned long long)test_seed());
}

static void run_point(void *user, const wfi_point *point)
{
    product *p = user;
    wf_constant constants[WF_MAX_PARAMETERS];
    char text[256];
    const wf_tuning tuning = test_point_tuning(point, constants);
    multiply(p, &tuning);
    test_point_text(point, text, sizeof text);
    assert_right(p, text);
}

/* The model's values, or the defaults of a step of the ladder, which no model picks; an emulator
 * takes minutes to compile large tiles. */
static uint32_t run_model(product *p, const wfi_variant *variant, const wfi_problem *problem)
{
    wfi_point point = {.caps = wf_device_caps(p->device), .problem = problem, .variant = variant};
    wfi_point_defaults(&point);
    if (!test_emulated())
        variant->fit(&point);
    if (!wfi_point_legal(&point, NULL))
        return 0;
    run_point(p, &point);
    return 1;
}

/* Whether CPU drivers compile the kernel within a second: its unrolled part is small. */
static bool compiles_fast(const wfi_point *point)
{
    const uint32_t *v = point->values;
    if (strcmp(point->variant->name, "subgroup_k") == 0)
        return v[MATMUL_ID_THREAD_M] * v[MATMUL_ID_THREAD_N] * v[MATMUL_ID_TILE_K] <= 256;
    if (strcmp(point->variant->name, "vector") != 0)
        return true;
    const uint32_t unrolled = v[MATMUL_ID_TILE_K] % 8 == 0 ? 8 : 4;
    const uint32_t steps = v[MATMUL_ID_DOUBLE_BUFFER] ? v[MATMUL_ID_TILE_K] : unrolled;
    const uint32_t threads = wfi_matmul_tile_threads(v);
    return v[MATMUL_ID_THREAD_M] * v[MATMUL_ID_THREAD_N] * steps <= 128 &&
           v[MATMUL_ID_TILE_K] * (v[MATMUL_ID_TILE_M] + v[MATMUL_ID_TILE_N]) <= 8 * threads;
}

/* Variants blocked and kept run register's kernel with constants that are no parameters. */
static bool has_own_values(const wfi_variant *variant)
{
    return strcmp(variant->name, "blocked") != 0 && strcmp(variant->name, "kept") != 0;
}

/* At most so many points of a shape, where that is another case for the variant; of the others the
 * defaults are enough, which are compiled once for all of them. */
static uint32_t most_points(const wfi_variant *variant, size_t edge)
{
    if (strcmp(variant->name, "matvec") == 0)
        return edge == 3 ? UINT32_MAX : 1; /* the first that it takes with more than one output */
    if (strcmp(variant->name, "panel") == 0)
        return edge >= FOR_PANELS ? 3 : 1;
    if (strcmp(variant->name, "subgroup_k") == 0)
        return edge <= 1 ? 3 : 1;
    if (strcmp(variant->name, "outer") == 0)
        return edge == FOR_SHORT_SUMS ? UINT32_MAX : 1;
    return edge == 0 || (edge == 1 && strcmp(variant->name, "vector") == 0) ? UINT32_MAX : 1;
}

/* Whether a shape is another case for the variant. */
static bool has_use_for(const wfi_variant *variant, size_t edge)
{
    const bool thin = strcmp(variant->name, "matvec") == 0 || strcmp(variant->name, "panel") == 0;
    if (edge == FOR_SHORT_SUMS)
        return strcmp(variant->name, "outer") == 0;
    return edge < FOR_PANELS || thin;
}

#define FEW_POINTS 3 /* at minimum limits: at full ones every candidate is in a point */

static uint32_t run_points(product *p, const wfi_variant *variant, const wfi_problem *problem,
                           size_t edge, test_random *random)
{
    const wf_caps *caps = wf_device_caps(p->device);
    uint32_t most = most_points(variant, edge);
    if (caps->limits == WF_LIMITS_MINIMUM && most > FEW_POINTS)
        most = FEW_POINTS;
    wfi_point point = {.caps = caps, .problem = problem, .variant = variant};
    wfi_point_defaults(&point);
    if (most > 1 || test_quick() || !wfi_point_legal(&point, NULL) || !compiles_fast(&point))
        return test_each_value(caps, problem, variant, compiles_fast, most, random, run_point, p);
    run_point(p, &point);
    return 1;
}

static void every_point_is_right(void **state)
{
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    test_random random = {test_seed()};
    uint32_t points = 0, models = 0;
    for (size_t s = 0; s < sizeof edge_shapes / sizeof *edge_shapes; s++) {
        product p;
        make_product(&p, *state, edge_shapes[s]);
        fill_random(&p, &random);
        upload(&p);
        const wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                                     .matmul = wfi_matmul_plain(p.size.m, p.size.n, p.size.k)};
        for (uint32_t v = 0; v < family->variant_count; v++) {
            const wfi_variant *variant = family->variants[v];
            if (!variant->modules[WF_TYPE_F32] || !has_use_for(variant, s) ||
                test_is_left_out(variant))
                continue;
            if (s == 0 || s >= FOR_PANELS || strcmp(variant->name, "matvec") == 0)
                models += run_model(&p, variant, &problem);
            if (has_own_values(variant))
                points += run_points(&p, variant, &problem, s, &random);
        }
        free_product(&p);
    }
    printf("%u points, %u by the model\n", points, models);
    if (getenv("WAVEFIT_TEST_SUBGROUPS"))
        assert_true(models >= 1 && points >= 9);
    else
        assert_true(models >= 6 && (points > 30 || test_quick())); /* at minimum limits too */
}

/* Slices of k that are subgroups, of whatever size the device has them: with single elements and
 * vec4 loads, with split-K and without. */
static void slices_can_be_subgroups(void **state)
{
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    const wf_caps *caps = wf_device_caps(*state);
    const uint32_t size = caps->subgroup_size;
    test_random random = {test_seed()};
    for (uint32_t n = 0; n < 2 && caps->full_subgroups && size >= 4; n++) {
        product p;
        make_product(&p, *state, edge_shapes[n]);
        fill_random(&p, &random);
        upload(&p);
        const wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                                     .matmul = wfi_matmul_plain(p.size.m, p.size.n, p.size.k)};
        wfi_point point = {.caps = caps,
                           .problem = &problem,
                           .variant = family->variants[wfi_variant_find(family, "subgroup_k")]};
        const uint32_t values[] = {8,     2 * size,  8, 4, 4,     n ? 7 : 0, 2, size / 2,
                                   1 + n, n ? 2 : 4, n, 1, 1 + n, 1 - n,     0};
        assert_int_equal(sizeof values / sizeof *values, point.variant->parameter_count);
        for (uint32_t i = 0; i < point.variant->parameter_count; i++)
            wfi_point_put(&point, i, values[i]);
        char reason[256] = "";
        if (!wfi_point_legal(&point, reason))
            fail_msg("%s", reason);
        run_point(&p, &point);
        free_product(&p);
    }
}

static void model_choice_is_right(void **state)
{
    test_random random = {test_seed()};
    for (int n = 0; n < (test_emulated() ? 1 : 6); n++) {
        product p;
        const shape size = {1 + test_random_below(&random, 300),
                            1 + test_random_below(&random, 300),
                            1 + test_random_below(&random, 300)};
        make_product(&p, *state, size);
        fill_random(&p, &random);
        upload(&p);
        multiply(&p, NULL);
        assert_right(&p, "the model's choice");
        free_product(&p);
    }
}

/* Every second execution begins at the end of the sum and gives the same bits. */
static void turned_executions_agree(void **state)
{
    static const wf_constant four = {"chunks", 4}, two = {"lanes_o", 2},
                             turning[] = {{"reverse", 1}, {"split_k", 3}};
    static const wf_tuning tunings[] = {{sizeof *tunings, "matvec", &four, 1, false, 0},
                                        {sizeof *tunings, "panel", &two, 1, false, 0},
                                        {sizeof *tunings, "subgroup_k", turning, 2, false, 0}};
    static const shape shapes[] = {{1, 150, 203}, {150, 3, 204}};
    test_random random = {test_seed()};
    for (int n = 0; n < 6; n++) {
        product p;
        wf_plan *plan = NULL;
        make_product(&p, *state, shapes[n / 3]);
        fill_random(&p, &random);
        upload(&p);
        const size_t bytes = elements(p.size.m, p.size.n) * sizeof(float);
        const wf_matmul_params params = params_of(&p, &tunings[n % 3]);
        const wf_bindings bindings = bindings_of(&p);
        float *first = malloc(bytes);
        assert_non_null(first);
        assert_int_equal(wf_matmul_plan(p.device, &params, &plan), WF_SUCCESS);
        for (int turn = 0; turn < 2; turn++) {
            test_poison(p.device_c);
            assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
            assert_int_equal(wf_buffer_read(p.device_c, 0, p.c, bytes), WF_SUCCESS);
            assert_right(&p, tunings[n % 3].variant);
            if (turn == 0)
                memcpy(first, p.c, bytes);
        }
        assert_memory_equal(first, p.c, bytes);
        wf_plan_destroy(&plan);
        free(first);
        free_product(&p);
    }
}

/* Where it does not matter which variant runs: NULL, the model's choice; under an emulator, which
 * takes a minute to compile that, one with small tiles. */
static const wf_tuning *any_variant(void)
{
    static const wf_tuning small = {.size = sizeof small, .variant = "register"};
    return test_emulated() ? &small : NULL;
}

/* With tiny bindings the product is cut into slabs of rows and of the sum. */
static void splits_over_small_bindings(void **state)
{
    wf_device *device = *state;
    const uint64_t range = device->caps.max_storage_range;
    test_random random = {test_seed()};
    product p;
    make_product(&p, device, (shape){93, 61, 77});
    fill_random(&p, &random);
    upload(&p);
    device->caps.max_storage_range = 8192 + device->caps.storage_alignment;
    const uint32_t dispatches = multiply(&p, any_variant());
    device->caps.max_storage_range = range;
    assert_right(&p, "panels");
    assert_true(dispatches >= 9); /* 3 slabs of rows (93*77*4 bytes), 3 of the sum (77*61*4) */
    free_product(&p);
}

/* Stream-K with four work-groups: they share all tiles, the last alone, those behind whole waves,
 * or none, also where there are fewer steps of the sum than work-groups. */
static void shared_tiles_are_right(void **state)
{
    static const struct {
        shape size;
        uint32_t swizzle, dispatches;
    } cases[] = {{{13, 90, 75}, 1, 2}, {{16, 160, 40}, 1, 3}, {{37, 129, 71}, 2, 3},
                 {{37, 129, 7}, 2, 3}, {{32, 64, 30}, 1, 1},  {{48, 132, 64}, 1, 3}};
    wf_device *device = *state;
    const uint32_t units = device->caps.compute_units;
    test_random random = {test_seed()};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        product p;
        const wf_constant constants[] = {{"tile_m", 16},  {"tile_n", 32},
                                         {"tile_k", 8},   {"thread_m", 4},
                                         {"thread_n", 4}, {"lanes_m", 2},
                                         {"lanes_n", 4},  {"double_buffer", n % 2},
                                         {"split_k", 1},  {"vec4", n == 5 ? 7 : 0},
                                         {"pack", 0},     {"swizzle", cases[n].swizzle},
                                         {"stream_k", 2}};
        const wf_tuning tuning = {.size = sizeof tuning,
                                  .variant = "vector",
                                  .constants = constants,
                                  .constant_count = sizeof constants / sizeof *constants};
        make_product(&p, device, cases[n].size);
        fill_random(&p, &random);
        upload(&p);
        device->caps.compute_units = 2;
        const uint32_t dispatches = multiply(&p, &tuning);
        device->caps.compute_units = units;
        assert_right(&p, "shared tiles");
        assert_int_equal(dispatches, cases[n].dispatches);
        free_product(&p);
    }
}

/* A copy of one operand, whose rows run along the sum or across it, beside one that is read in
 * place; of rows along a sum of 71 steps one alone cannot be copied. */
static void one_operand_is_copied(void **state)
{
    static const struct {
        shape size;
        bool transpose_a, transpose_b;
        uint32_t pack, split_k, stream_k;
    } cases[] = {{{37, 129, 71}, false, false, 2, 1, 0}, {{37, 129, 71}, true, false, 1, 4, 0},
                 {{37, 129, 71}, true, true, 1, 1, 2},   {{37, 129, 72}, false, false, 1, 2, 0},
                 {{35, 130, 76}, true, true, 2, 1, 0},   {{35, 130, 71}, true, false, 2, 1, 2}};
    test_random random = {test_seed()};
    wf_plan *plan = NULL;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        product p;
        const uint32_t pack = cases[n].pack;
        const wf_constant constants[] = {
            {"tile_m", 16},     {"tile_n", 32},  {"tile_k", 8},
            {"thread_m", 4},    {"thread_n", 4}, {"lanes_m", 2},
            {"lanes_n", 4},     {"vec4", pack},  {"split_k", cases[n].split_k},
            {"pack", pack},     {"swizzle", 1},  {"stream_k", cases[n].stream_k},
            {"gathered", n % 2}};
        wf_tuning tuning = {.size = sizeof tuning,
                            .variant = "vector",
                            .constants = constants,
                            .constant_count = sizeof constants / sizeof *constants};
        make_product(&p, *state, cases[n].size);
        p.transpose_a = cases[n].transpose_a;
        p.transpose_b = cases[n].transpose_b;
        fill_random(&p, &random);
        upload(&p);
        assert_true(multiply(&p, &tuning) >= 2);
        assert_right(&p, "one operand copied");
        p.transpose_a = pack == 2;
        p.transpose_b = pack == 2;
        const wf_matmul_params params = params_of(&p, &tuning);
        test_expect_errors(true);
        if (p.size.k == 71)
            assert_int_equal(wf_matmul_plan(*state, &params, &plan), WF_ERROR_CONSTRAINT);
        test_expect_errors(false);
        free_product(&p);
    }
}

/* A copy of A is read as a whole, so that B, which is read in place, must be one slab. */
static void copies_stand_beside_whole_operands(void **state)
{
    wf_device *device = *state;
    const uint64_t range = device->caps.max_storage_range;
    static const wf_constant constants[] = {{"pack", 1},     {"vec4", 1},    {"tile_m", 16},
                                            {"tile_n", 32},  {"tile_k", 8},  {"thread_m", 4},
                                            {"thread_n", 4}, {"lanes_m", 2}, {"lanes_n", 4}};
    const wf_tuning tuning = {.size = sizeof tuning,
                              .variant = "vector",
                              .constants = constants,
                              .constant_count = sizeof constants / sizeof *constants};
    const wf_matmul_params params = {
        .size = sizeof params, .m = 16, .n = 200, .k = 77, .transpose_a = true, .tuning = &tuning};
    wf_plan *plan = NULL;
    device->caps.max_storage_range = 40000 + device->caps.storage_alignment; /* B: 77*200*4 */
    test_expect_errors(true);
    assert_int_equal(wf_matmul_plan(device, &params, &plan), WF_ERROR_CONSTRAINT);
    test_expect_errors(false);
    device->caps.max_storage_range = 61600 + device->caps.storage_alignment;
    assert_int_equal(wf_matmul_plan(device, &params, &plan), WF_SUCCESS);
    device->caps.max_storage_range = range;
    wf_plan_destroy(&plan);
}

static void folds_a_grid_over_small_limits(void **state)
{
    wf_device *device = *state;
    const uint32_t groups = device->caps.max_groups[0];
    const wf_tuning tuning = {.size = sizeof tuning, .variant = "naive"};
    test_random random = {test_seed()};
    product p;
    make_product(&p, device, (shape){150, 170, 5});
    fill_random(&p, &random);
    upload(&p);
    device->caps.max_groups[0] = 7;
    multiply(&p, &tuning);
    device->caps.max_groups[0] = groups;
    assert_right(&p, "folded grid");
    free_product(&p);
}

static void small_integers_are_exact(void **state)
{
    test_random random = {test_seed()};
    product p;
    make_product(&p, *state, (shape){45, 83, 130});
    for (size_t i = 0; i < elements(45, 130); i++)
        p.a[i] = (float)((int)test_random_below(&random, 17) - 8);
    for (size_t i = 0; i < elements(130, 83); i++)
        p.b[i] = (float)((int)test_random_below(&random, 17) - 8);
    upload(&p);
    multiply(&p, any_variant());
    for (uint32_t row = 0; row < 45; row++)
        for (uint32_t column = 0; column < 83; column++) {
            long sum = 0;
            for (uint32_t i = 0; i < 130; i++)
                sum += (long)p.a[row * 130 + i] * (long)p.b[i * 83 + column];
            assert_true(p.c[row * 83 + column] == (float)sum);
        }
    free_product(&p);
}

static void nan_and_infinity_propagate(void **state)
{
    test_random random = {test_seed()};
    product p;
    make_product(&p, *state, (shape){20, 24, 40});
    fill_random(&p, &random);
    p.a[3 * 40 + 7] = NAN;
    p.b[11 * 24 + 5] = INFINITY;
    upload(&p);
    multiply(&p, any_variant());
    for (uint32_t column = 0; column < 24; column++)
        assert_true(isnan(p.c[3 * 24 + column]));
    assert_true(isinf(p.c[0 * 24 + 5]));
    assert_true(isfinite(p.c[0 * 24 + 6]) && isfinite(p.c[4 * 24 + 6]));
    assert_right(&p, "NaN and infinity");
    free_product(&p);
}

static void refuses_bad_requests(void **state)
{
    wf_plan *plan = NULL;
    wf_matmul_params params = {.size = sizeof params, .m = 4, .n = 4, .k = 4, .lda = 3};
    const wf_constant odd[] = {{"tile_m", 30}, {"thread_m", 4}}, unknown = {"tile_q", 8};
    wf_tuning tuning = {.size = sizeof tuning, .variant = "nothing"};
    test_expect_errors(true);
    assert_int_equal(wf_matmul_plan(*state, &params, &plan), WF_ERROR_INVALID_ARGUMENT);
    params.lda = 0;
    params.type = WF_TYPE_I8;
    params.activation = WF_ACTIVATION_GELU;
    assert_int_equal(wf_matmul_plan(*state, &params, &plan), WF_ERROR_UNSUPPORTED);
    params.activation = WF_ACTIVATION_NONE;
    params.type = WF_TYPE_F32;
    params.tuning = &tuning;
    assert_int_equal(wf_matmul_plan(*state, &params, &plan), WF_ERROR_UNKNOWN_VARIANT);
    tuning = (wf_tuning){sizeof tuning, "register", &unknown, 1, false, 0};
    assert_int_equal(wf_matmul_plan(*state, &params, &plan), WF_ERROR_UNKNOWN_VARIANT);
    tuning = (wf_tuning){sizeof tuning, "register", odd, 2, false, 0};
    assert_int_equal(wf_matmul_plan(*state, &params, &plan), WF_ERROR_CONSTRAINT);
    assert_non_null(strstr(test_last_error(), "multiple of thread_m"));
    test_expect_errors(false);
    assert_null(plan);
}

static void refuses_bad_bindings(void **state)
{
    product p;
    wf_plan *plan = NULL;
    make_product(&p, *state, (shape){16, 16, 16});
    const wf_matmul_params params = params_of(&p, NULL);
    assert_int_equal(wf_matmul_plan(*state, &params, &plan), WF_SUCCESS);
    wf_bindings bindings = bindings_of(&p);
    test_expect_errors(true);
    bindings.items[1].buffer = NULL;
    assert_int_equal(wf_plan_run(plan, &bindings), WF_ERROR_BINDING);
    assert_non_null(strstr(test_last_error(), "B is missing"));
    bindings = bindings_of(&p);
    bindings.items[0].bytes = 100;
    assert_int_equal(wf_plan_run(plan, &bindings), WF_ERROR_BINDING);
    bindings = bindings_of(&p);
    bindings.items[0].offset = 4 * wf_device_caps(*state)->storage_alignment * 1024;
    assert_int_equal(wf_plan_run(plan, &bindings), WF_ERROR_BINDING);
    bindings = bindings_of(&p);
    bindings.items[0].offset = 2;
    assert_int_equal(wf_plan_run(plan, &bindings), WF_ERROR_BINDING);
    bindings = bindings_of(&p);
    bindings.items[2].buffer = p.device_a;
    assert_int_equal(wf_plan_run(plan, &bindings), WF_ERROR_BINDING);
    assert_non_null(strstr(test_last_error(), "overlap"));
    test_expect_errors(false);
    wf_plan_destroy(&plan);
    free_product(&p);
}

static void measures(void **state)
{
    product p;
    wf_plan *plan = NULL;
    wf_timing timing;
    test_random random = {test_seed()};
    make_product(&p, *state, (shape){64, 64, 64});
    fill_random(&p, &random);
    upload(&p);
    const wf_matmul_params params = params_of(&p, any_variant());
    const wf_bindings bindings = bindings_of(&p);
    wf_measure_params measure = {.size = sizeof measure, .repeat = 6};
    assert_int_equal(wf_matmul_plan(*state, &params, &plan), WF_SUCCESS);
    assert_int_equal(wf_plan_measure(plan, &bindings, &measure, &timing), WF_SUCCESS);
    assert_int_equal(timing.count, 6);
    assert_true(timing.median_us > 0 && timing.min_us <= timing.median_us);
    assert_int_equal(timing.gpu_clock, wf_device_caps(*state)->timestamp_valid_bits > 0);
    measure.cold = true;
    assert_int_equal(wf_plan_measure(plan, &bindings, &measure, &timing), WF_SUCCESS);
    assert_true(timing.cold && timing.batch == 1);
    wf_plan_destroy(&plan);
    free_product(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_point_is_right),
        cmocka_unit_test(slices_can_be_subgroups),
        cmocka_unit_test(turned_executions_agree),
        cmocka_unit_test(model_choice_is_right),
        cmocka_unit_test(splits_over_small_bindings),
        cmocka_unit_test(shared_tiles_are_right),
        cmocka_unit_test(one_operand_is_copied),
        cmocka_unit_test(copies_stand_beside_whole_operands),
        cmocka_unit_test(folds_a_grid_over_small_limits),
        cmocka_unit_test(small_integers_are_exact),
        cmocka_unit_test(nan_and_infinity_propagate),
        cmocka_unit_test(refuses_bad_requests),
        cmocka_unit_test(refuses_bad_bindings),
        cmocka_unit_test(measures),
    };
    const struct CMUnitTest of_subgroups[] = {
        cmocka_unit_test(every_point_is_right),
        cmocka_unit_test(slices_can_be_subgroups),
    };
    if (getenv("WAVEFIT_TEST_SUBGROUPS"))
        return cmocka_run_group_tests(of_subgroups, test_device_setup, test_device_teardown);
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
