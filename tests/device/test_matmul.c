/* Matrix products against f64: every variant and many points on edge-class sizes, and what the
 * model chooses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/device.h"
#include "kernels/families.h"
#include "kernels/matmul/model.h"
#include "kernels/matmul/tile.h"
#include "matmul_case.h"
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

static matmul_case of_shape(shape size)
{
    return (matmul_case){.params = {.m = size.m, .n = size.n, .k = size.k}};
}

static void run_point(void *user, const wfi_point *point)
{
    matmul_case *p = user;
    wf_constant constants[WF_MAX_PARAMETERS];
    char text[256];
    const wf_tuning tuning = test_point_tuning(point, constants);
    p->params.tuning = &tuning;
    test_point_text(point, text, sizeof text);
    matmul_case_run(p, text);
    p->params.tuning = NULL;
}

/* The model's values, or the defaults of a step of the ladder, which no model picks; an emulator
 * takes minutes to compile large tiles. */
static uint32_t run_model(matmul_case *p, const wfi_variant *variant, const wfi_problem *problem)
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

static uint32_t run_points(matmul_case *p, const wfi_variant *variant, const wfi_problem *problem,
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
        matmul_case p = of_shape(edge_shapes[s]);
        matmul_case_make(&p, *state, &random);
        const wfi_problem problem = matmul_case_problem(&p.params);
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
        matmul_case_free(&p);
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
        matmul_case p = of_shape(edge_shapes[n]);
        matmul_case_make(&p, *state, &random);
        const wfi_problem problem = matmul_case_problem(&p.params);
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
        matmul_case_free(&p);
    }
}

/* `vector` in tiles whose rows are swizzled in shared memory: A's, B's where it is transposed, at
 * places that a work-item finds by one address and by several. */
static void swizzled_tiles_are_right(void **state)
{
    static const wfi_matmul_block blocks[] = {
        {32, 32, 16, 4, 8}, {32, 32, 32, 4, 4}, {64, 64, 32, 4, 4}, {16, 32, 16, 8, 4}};
    static const shape sizes[] = {{37, 129, 72}, {64, 68, 60}};
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    const wf_caps *caps = wf_device_caps(*state);
    test_random random = {test_seed()};
    uint32_t points = 0;
    for (uint32_t n = 0; n < 4; n++) {
        matmul_case p = of_shape(sizes[n % 2]);
        p.params.transpose_b = n >= 2;
        matmul_case_make(&p, *state, &random);
        const wfi_problem problem = matmul_case_problem(&p.params);
        for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
            wfi_point point = {.caps = caps,
                               .problem = &problem,
                               .variant = family->variants[wfi_variant_find(family, "vector")]};
            wfi_point_defaults(&point);
            wfi_matmul_set_block(&point, &blocks[b]);
            point.values[MATMUL_ID_LANES_M] = 2;
            point.values[MATMUL_ID_LANES_N] = 4;
            point.values[MATMUL_ID_VEC4] = wfi_matmul_vec4_bits(&problem.matmul);
            point.values[MATMUL_ID_DOUBLE_BUFFER] = (n + b) % 2;
            if (!wfi_point_legal(&point, NULL))
                continue;
            assert_int_equal(wfi_matmul_swizzled(&point),
                             WFI_PADDED_A | (p.params.transpose_b ? WFI_PADDED_B : 0));
            run_point(&p, &point);
            points++;
        }
        matmul_case_free(&p);
    }
    assert_true(points >= 8); /* at minimum limits too */
}

static void model_choice_is_right(void **state)
{
    test_random random = {test_seed()};
    for (int n = 0; n < (test_emulated() ? 1 : 6); n++) {
        matmul_case p = of_shape((shape){1 + test_random_below(&random, 300),
                                         1 + test_random_below(&random, 300),
                                         1 + test_random_below(&random, 300)});
        matmul_case_make(&p, *state, &random);
        matmul_case_run(&p, "the model's choice");
        matmul_case_free(&p);
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
        matmul_case p = of_shape(shapes[n / 3]);
        wf_plan *plan = NULL;
        p.params.tuning = &tunings[n % 3];
        matmul_case_make(&p, *state, &random);
        const size_t bytes = p.bytes[WF_MATMUL_C];
        float *first = malloc(bytes);
        assert_non_null(first);
        assert_int_equal(wf_matmul_plan(p.device, &p.params, &plan), WF_SUCCESS);
        for (int turn = 0; turn < 2; turn++) {
            matmul_case_execute(&p, plan, tunings[n % 3].variant);
            if (turn == 0)
                memcpy(first, p.result, bytes);
        }
        assert_memory_equal(first, p.result, bytes);
        wf_plan_destroy(&plan);
        free(first);
        matmul_case_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_point_is_right),     cmocka_unit_test(slices_can_be_subgroups),
        cmocka_unit_test(swizzled_tiles_are_right), cmocka_unit_test(turned_executions_agree),
        cmocka_unit_test(model_choice_is_right),
    };
    const struct CMUnitTest of_subgroups[] = {
        cmocka_unit_test(every_point_is_right),
        cmocka_unit_test(slices_can_be_subgroups),
    };
    if (getenv("WAVEFIT_TEST_SUBGROUPS"))
        return cmocka_run_group_tests(of_subgroups, test_device_setup, test_device_teardown);
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
