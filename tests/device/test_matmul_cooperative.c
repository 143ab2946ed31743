/* The cooperative variant with plain code in place of matrix units, so that its tiles, edges,
 * packed copies and split-K are tested on devices without them, for subgroups of 4 to 128; and the
 * real variant at the same problems, on a device that has them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/families.h"
#include "core/bfloat16.h"
#include "core/device.h"
#include "kernels/matmul/matmul.h"
#include "points.h"

extern const wfi_spirv wfi_spv_matmul_emulated_f16x2, wfi_spv_matmul_stream_k_emulated_f16x2;

/* The modules of a kind, by type. */
#define MODULES(kind)                                                                              \
    {                                                                                              \
        [WF_TYPE_F16] = &wfi_spv_matmul_##kind##emulated_f16,                                      \
        [WF_TYPE_BF16] = &wfi_spv_matmul_##kind##emulated_bf16,                                    \
        [WF_TYPE_I8] = &wfi_spv_matmul_##kind##emulated_i8                                         \
    }
#define MODULES_OF_FEW_STEPS(kind)                                                                 \
    {                                                                                              \
        [WF_TYPE_F16] = &wfi_spv_matmul_##kind##few_steps_emulated_f16,                            \
        [WF_TYPE_BF16] = &wfi_spv_matmul_##kind##few_steps_emulated_bf16                           \
    }
#define DECLARE(kind)                                                                              \
    extern const wfi_spirv wfi_spv_matmul_##kind##emulated_f16,                                    \
        wfi_spv_matmul_##kind##emulated_bf16, wfi_spv_matmul_##kind##emulated_i8;
DECLARE()
DECLARE(stream_k_)
DECLARE(any_rows_)
DECLARE(any_rows_stream_k_)
extern const wfi_spirv wfi_spv_matmul_few_steps_emulated_f16,
    wfi_spv_matmul_few_steps_emulated_bf16, wfi_spv_matmul_any_rows_few_steps_emulated_f16,
    wfi_spv_matmul_any_rows_few_steps_emulated_bf16;

#define PARAMETERS 14 /* of both variants; `pretend` checks the number */

static const wf_type types[] = {WF_TYPE_F16, WF_TYPE_BF16, WF_TYPE_I8};

/* One product, whose sums are f32 or i32. */
typedef struct product {
    wf_device *device;
    wf_matmul_params params;
    double alpha;
    uint64_t bytes[WF_MATMUL_BINDINGS];
    void *host[WF_MATMUL_BINDINGS];
    void *result;
    wf_buffer *buffers[WF_MATMUL_BINDINGS];
} product;

static void fill(product *p, int binding, test_random *random)
{
    const wf_type type = p->params.type;
    const bool sums = binding == WF_MATMUL_BIAS ||
                      (binding == WF_MATMUL_C &&
                       (type == WF_TYPE_I8 || p->params.output == WF_MATMUL_OUTPUT_SUMS));
    const size_t size = sums ? 4 : wf_type_size(type);
    for (size_t i = 0; i < p->bytes[binding] / size; i++) {
        const double value = type == WF_TYPE_I8 ? (double)test_random_below(random, 255) - 127
                                                : test_random_uniform(random);
        if (sums && type == WF_TYPE_I8)
            ((int32_t *)p->host[binding])[i] = (int32_t)value;
        else
            wf_element_set(sums ? WF_TYPE_F32 : type, p->host[binding], i, value);
    }
}

static void make_product(product *p, wf_device *device, const wf_matmul_params *params,
                         test_random *random)
{
    *p = (product){.device = device, .params = *params};
    p->params.size = sizeof p->params;
    assert_int_equal(wf_matmul_bytes(&p->params, p->bytes), WF_SUCCESS);
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++) {
        if (p->bytes[i] == 0)
            continue;
        p->host[i] = malloc(p->bytes[i]);
        assert_non_null(p->host[i]);
        fill(p, i, random);
        assert_int_equal(wf_buffer_create(device, p->bytes[i], WF_MEMORY_DEVICE, &p->buffers[i]),
                         WF_SUCCESS);
        assert_int_equal(wf_buffer_write(p->buffers[i], 0, p->host[i], p->bytes[i]), WF_SUCCESS);
    }
    p->result = malloc(p->bytes[WF_MATMUL_C]);
    assert_non_null(p->result);
}

static void free_product(product *p)
{
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++) {
        wf_buffer_destroy(&p->buffers[i]);
        free(p->host[i]);
    }
    free(p->result);
}

static wfi_problem problem_of(const product *p)
{
    wfi_problem problem = {.family = WF_FAMILY_MATMUL, .type = p->params.type};
    assert_int_equal(wfi_matmul_problem_of(NULL, &p->params, &problem.matmul), WF_SUCCESS);
    return problem;
}

/* Runs the point on a C that is poisoned, or holds what beta takes, and compares; returns the
 * number of dispatches. */
static uint32_t run_point(product *p, const wfi_point *point)
{
    const wfi_choice choice = {*point, "forced", &wfi_family_matmul};
    wf_bindings bindings = {.size = sizeof bindings};
    wf_plan *plan = NULL;
    wf_plan_info info = {.size = sizeof info};
    wf_check check;
    char text[512];
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++)
        bindings.items[i].buffer = p->buffers[i];
    if (p->params.beta != 0)
        assert_int_equal(wf_buffer_write(p->buffers[WF_MATMUL_C], 0, p->host[WF_MATMUL_C],
                                         p->bytes[WF_MATMUL_C]),
                         WF_SUCCESS);
    else
        test_poison(p->buffers[WF_MATMUL_C]);
    assert_int_equal(wfi_plan_create(p->device, &choice, &p->params, &plan), WF_SUCCESS);
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    assert_int_equal(wf_plan_describe(plan, &info), WF_SUCCESS);
    wf_plan_destroy(&plan);
    assert_int_equal(wf_buffer_read(p->buffers[WF_MATMUL_C], 0, p->result, p->bytes[WF_MATMUL_C]),
                     WF_SUCCESS);
    const wf_matmul_inputs inputs = {.size = sizeof inputs,
                                     .a = p->host[WF_MATMUL_A],
                                     .b = p->host[WF_MATMUL_B],
                                     .bias = p->host[WF_MATMUL_BIAS],
                                     .c = p->params.beta != 0 ? p->host[WF_MATMUL_C] : NULL};
    assert_int_equal(wf_matmul_check(&p->params, &inputs, p->result, 0, 0, &check), WF_SUCCESS);
    test_point_text(point, text, sizeof text);
    if (!(check.error_over_bound <= 1))
        fail_msg("%s %s at %llux%llux%llu transposes %d %d: element %llu is %g bounds off; seed "
                 "%llu",
                 text, wf_type_name(p->params.type), (unsigned long long)p->params.m,
                 (unsigned long long)p->params.n, (unsigned long long)p->params.k,
                 p->params.transpose_a, p->params.transpose_b, (unsigned long long)check.worst,
                 check.error_over_bound, (unsigned long long)test_seed());
    return info.dispatches;
}

/* ------------------------------------------------------------------------------------ emulation */

static wfi_variant emulated, emulated_f16x2;

/* The row without its needs, and a device that claims matrix units of the shapes tested. */
static int pretend(void **state)
{
    static const uint32_t shapes[][3] = {{8, 8, 16}, {16, 16, 16}, {16, 8, 16}, {16, 16, 32}};
    if (test_device_setup(state))
        return -1;
    wf_caps *caps = &((wf_device *)*state)->caps;
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    emulated = *family->variants[wfi_variant_find(family, "cooperative")];
    if (emulated.parameter_count != PARAMETERS)
        return -1;
    static const wfi_variant kernels = {
        .modules = MODULES(),
        .second = MODULES(stream_k_),
        .few_steps = MODULES_OF_FEW_STEPS(),
        .any_rows = {MODULES(any_rows_), MODULES(any_rows_stream_k_),
                     MODULES_OF_FEW_STEPS(any_rows_)},
    };
    memcpy(emulated.modules, kernels.modules, sizeof kernels.modules);
    memcpy(emulated.second, kernels.second, sizeof kernels.second);
    memcpy(emulated.few_steps, kernels.few_steps, sizeof kernels.few_steps);
    memcpy(emulated.any_rows, kernels.any_rows, sizeof kernels.any_rows);
    emulated_f16x2 = *family->variants[wfi_variant_find(family, "f16x2")];
    emulated_f16x2.modules[WF_TYPE_F32] = &wfi_spv_matmul_emulated_f16x2;
    emulated_f16x2.second[WF_TYPE_F32] = &wfi_spv_matmul_stream_k_emulated_f16x2;
    emulated.needs = emulated_f16x2.needs = 0;
    emulated.subgroup_size = emulated_f16x2.subgroup_size = NULL;
    caps->cooperative_shape_count = 0;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            const bool whole = types[t] == WF_TYPE_I8;
            const uint32_t factor = whole                      ? VK_COMPONENT_TYPE_SINT8_KHR
                                    : types[t] == WF_TYPE_BF16 ? WFI_COMPONENT_BFLOAT16
                                                               : VK_COMPONENT_TYPE_FLOAT16_KHR;
            const uint32_t sum =
                whole ? VK_COMPONENT_TYPE_SINT32_KHR : VK_COMPONENT_TYPE_FLOAT32_KHR;
            caps->cooperative_shapes[caps->cooperative_shape_count++] = (wf_cooperative_shape){
                shapes[s][0], shapes[s][1], shapes[s][2],          factor, factor,
                sum,          sum,          VK_SCOPE_SUBGROUP_KHR, false};
        }
    caps->f16_arithmetic = caps->int8_arithmetic = caps->bf16 = caps->bf16_cooperative = true;
    caps->subgroup_size_control = true;
    caps->subgroup_min = 4;
    caps->subgroup_max = 128;
    return 0;
}

static wfi_point emulated_point(const product *p, const wfi_problem *problem,
                                const uint32_t *values)
{
    wfi_point point = {.caps = &p->device->caps,
                       .problem = problem,
                       .variant = problem->type == WF_TYPE_F32 ? &emulated_f16x2 : &emulated};
    for (uint32_t i = 0; i < PARAMETERS; i++)
        wfi_point_put(&point, i, values[i]);
    return point;
}

/* Tile, depth, block, fragment, subgroup, swizzle, splits, copies, subgroups a block, stream_k
 * groups. */
static const uint32_t points[][PARAMETERS] = {
    {32, 32, 32, 16, 16, 16, 16, 16, 32, 8, 1, 0, 1, 0},
    {64, 32, 32, 32, 32, 16, 16, 32, 64, 1, 3, 0, 1, 0},
    {32, 64, 32, 16, 32, 8, 8, 16, 8, 2, 1, 3, 2, 0},
    {32, 32, 64, 32, 16, 16, 8, 16, 16, 4, 2, 1, 4, 0},
    {80, 96, 16, 80, 48, 16, 16, 16, 32, 8, 5, 2, 1, 0},
    {32, 48, 48, 16, 16, 16, 16, 16, 4, 3, 1, 3, 3, 0},
    {32, 32, 32, 16, 16, 16, 16, 32, 128, 8, 2, 3, 1, 0},
};

#define POINTS (sizeof points / sizeof *points)

/* Runs every `step`-th of them: CPU drivers compile each for most of a second. */
static uint32_t walk_points(product *p, size_t first, size_t step)
{
    const wfi_problem problem = problem_of(p);
    uint32_t count = 0;
    for (size_t i = first; i < POINTS; i += step) {
        const wfi_point point = emulated_point(p, &problem, points[i]);
        if (!wfi_point_legal(&point, NULL))
            continue;
        run_point(p, &point);
        count++;
    }
    return count;
}

static const wf_matmul_params problems[] = {
    {.m = 37, .n = 129, .k = 71},
    {.m = 64, .n = 64, .k = 96},
    {.m = 1, .n = 1, .k = 1},
    {.m = 80, .n = 48, .k = 16, .lda = 24, .ldb = 64, .ldc = 56},
    {.m = 33, .n = 100, .k = 65, .beta = -0.5, .bias = true, .activation = WF_ACTIVATION_RELU},
    {.m = 48,
     .n = 40,
     .k = 40,
     .batch = 3,
     .stride_b = WF_STRIDE_SHARED,
     .output = WF_MATMUL_OUTPUT_SUMS},
    {.m = 67, .n = 35, .k = 97, .batch = 2}, /* whose rows are no multiples of a chunk */
};

#define PROBLEMS (sizeof problems / sizeof *problems)

/* Every type with either transpose of A and of B, every pair of transposes, every point and every
 * problem; not all of them with all: compiling takes CPU drivers a second or more each. */
static const struct {
    wf_type type;
    bool transpose_a, transpose_b;
    size_t problem, point;
} products[] = {
    {WF_TYPE_F16, false, false, 0, 0}, {WF_TYPE_F16, true, true, 4, 1},
    {WF_TYPE_BF16, true, false, 1, 2}, {WF_TYPE_BF16, false, true, 5, 3},
    {WF_TYPE_I8, false, false, 3, 4},  {WF_TYPE_I8, true, true, 4, 6},
    {WF_TYPE_F16, false, true, 2, 5},  {WF_TYPE_I8, true, true, 0, 1},
    {WF_TYPE_BF16, true, false, 0, 2}, {WF_TYPE_I8, false, true, 6, 0},
};

static void tiles_edges_and_copies_are_right(void **state)
{
    test_random random = {test_seed()};
    uint32_t count = 0;
    /* An emulator compiles each for a minute, so that it runs every second problem. */
    const size_t step = test_emulated() ? 2 : 1;
    for (size_t i = 0; i < sizeof products / sizeof *products; i += step) {
        product p;
        wf_matmul_params params = problems[products[i].problem];
        params.type = products[i].type;
        params.transpose_a = products[i].transpose_a;
        params.transpose_b = products[i].transpose_b;
        if (params.type == WF_TYPE_I8 && params.beta != 0)
            params.beta = -3;
        make_product(&p, *state, &params, &random);
        count += walk_points(&p, products[i].point, POINTS);
        free_product(&p);
    }
    printf("%u products\n", count);
    if (wf_device_caps(*state)->f16_storage)
        assert_int_equal(count, (sizeof products / sizeof *products + step - 1) / step);
}

/* Runs a point whose two tiles three stream-K work-groups share, if it is legal; returns how many
 * were run. */
static uint32_t share_tiles(product *p, const uint32_t *values)
{
    wf_caps *caps = &p->device->caps;
    const uint32_t units = caps->compute_units;
    const wfi_problem problem = problem_of(p);
    wfi_point point = emulated_point(p, &problem, values);
    wfi_point_set(&point, MATMUL_ID_STREAM_K, 1);
    caps->compute_units = 3;
    const bool legal = wfi_point_legal(&point, NULL);
    if (legal) /* two dispatches an operand, the partial tiles, the fixup */
        assert_int_equal(run_point(p, &point), 6);
    caps->compute_units = units;
    return legal;
}

/* f32 in pairs of f16, rows and columns of all magnitudes; what is small beside its row's largest
 * is lost only as far as the bound says. */
static void f16x2_products_are_right(void **state)
{
    static const wf_matmul_params cases[] = {
        {.m = 37, .n = 45, .k = 71},
        {.m = 33,
         .n = 20,
         .k = 65,
         .transpose_a = true,
         .transpose_b = true,
         .beta = 2,
         .bias = true},
    };
    test_random random = {test_seed()};
    uint32_t count = 0;
    for (size_t n = 0; n < 2; n++) {
        product p;
        wf_matmul_params params = cases[n];
        params.math = WF_MATH_FAST;
        make_product(&p, *state, &params, &random);
        for (int operand = 0; operand < 2; operand++) {
            float *values = p.host[operand];
            for (size_t i = 0; i < p.bytes[operand] / sizeof *values; i++)
                values[i] = ldexpf(values[i], (int)(i / 71 % 7) * 15 - 45 -
                                                  (int)test_random_below(&random, 12));
            assert_int_equal(wf_buffer_write(p.buffers[operand], 0, values, p.bytes[operand]),
                             WF_SUCCESS);
        }
        count += walk_points(&p, 2 + 3 * n, POINTS);
        count += share_tiles(&p, points[2 + 3 * n]);
        free_product(&p);
    }
    if (wf_device_caps(*state)->f16_storage)
        assert_int_equal(count, 4);
}

/* Stream-K with two or four work-groups: they share all tiles, the last alone, those behind whole
 * waves, or none; fewer steps of the sum than work-groups; packed copies; subgroups that sum
 * different slices of k. */
static void shared_tiles_are_right(void **state)
{
    static const double two = 2;
    static const struct {
        wf_matmul_params params;
        uint32_t values[PARAMETERS], dispatches;
    } cases[] = {
        {{.m = 13, .n = 90, .k = 75, .type = WF_TYPE_F16},
         {32, 32, 32, 16, 16, 16, 16, 16, 32, 8, 1, 0, 1, 2},
         2},
        {{.m = 70,
          .n = 150,
          .k = 71,
          .type = WF_TYPE_BF16,
          .transpose_a = true,
          .beta = -0.5,
          .bias = true,
          .activation = WF_ACTIVATION_RELU},
         {32, 32, 32, 16, 16, 16, 16, 16, 32, 1, 1, 0, 1, 1},
         3},
        {{.m = 37, .n = 132, .k = 7, .type = WF_TYPE_F16, .transpose_b = true, .beta = 2},
         {32, 32, 16, 16, 16, 16, 16, 16, 16, 2, 1, 0, 1, 2},
         3},
        {{.m = 70,
          .n = 72,
          .k = 130,
          .type = WF_TYPE_I8,
          .transpose_a = true,
          .transpose_b = true,
          .beta = -3,
          .alpha = &two},
         {32, 32, 32, 16, 16, 16, 16, 16, 32, 4, 1, 3, 2, 2},
         5},
        {{.m = 48, .n = 96, .k = 100, .type = WF_TYPE_F16, .output = WF_MATMUL_OUTPUT_SUMS},
         {48, 32, 48, 16, 16, 16, 16, 16, 16, 8, 1, 3, 3, 1},
         5},
        {{.m = 64, .n = 64, .k = 96, .type = WF_TYPE_F16},
         {32, 32, 32, 16, 16, 16, 16, 16, 32, 8, 1, 0, 1, 2},
         1},
    };
    wf_caps *caps = &((wf_device *)*state)->caps;
    const uint32_t units = caps->compute_units;
    test_random random = {test_seed()};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        product p;
        make_product(&p, *state, &cases[n].params, &random);
        const wfi_problem problem = problem_of(&p);
        const wfi_point point = emulated_point(&p, &problem, cases[n].values);
        caps->compute_units = 2;
        if (wfi_point_legal(&point, NULL))
            assert_int_equal(run_point(&p, &point), cases[n].dispatches);
        else
            assert_false(caps->f16_storage);
        caps->compute_units = units;
        free_product(&p);
    }
}

/* Sums of few tiles, of which the first is not whole: vectors of either operand or single elements,
 * parts of the sum, of which the last is less than a tile, or just whole. */
static void few_steps_are_right(void **state)
{
    static const struct {
        wf_matmul_params params;
        uint32_t values[PARAMETERS];
    } cases[] = {
        {{.m = 37, .n = 72, .k = 72, .type = WF_TYPE_F16},
         {32, 32, 32, 16, 16, 16, 16, 16, 32, 8, 1, 0, 1, 0}},
        {{.m = 45, .n = 33, .k = 152, .type = WF_TYPE_BF16, .transpose_a = true, .batch = 2},
         {32, 32, 64, 16, 16, 16, 16, 16, 32, 8, 1, 0, 1, 0}},
        {{.m = 40, .n = 50, .k = 72, .type = WF_TYPE_F16, .transpose_b = true},
         {32, 32, 32, 16, 16, 16, 16, 16, 32, 8, 2, 0, 1, 0}},
        {{.m = 48, .n = 56, .k = 72, .type = WF_TYPE_BF16, .transpose_a = true, .beta = 2},
         {32, 32, 16, 16, 16, 16, 16, 16, 32, 8, 2, 0, 1, 0}},
        {{.m = 37, .n = 43, .k = 75, .type = WF_TYPE_F16},
         {32, 32, 32, 16, 16, 16, 16, 16, 32, 8, 1, 0, 1, 0}},
        {{.m = 45, .n = 72, .k = 37, .type = WF_TYPE_BF16, .transpose_a = true},
         {32, 32, 16, 16, 16, 16, 16, 16, 32, 8, 2, 0, 1, 0}},
        {{.m = 48,
          .n = 56,
          .k = 75,
          .type = WF_TYPE_F16,
          .transpose_b = true,
          .lda = 80,
          .ldb = 80},
         {32, 32, 32, 16, 16, 16, 16, 16, 32, 8, 1, 0, 1, 0}},
    };
    test_random random = {test_seed()};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        product p;
        make_product(&p, *state, &cases[n].params, &random);
        const wfi_problem problem = problem_of(&p);
        const wfi_point point = emulated_point(&p, &problem, cases[n].values);
        if (wfi_point_legal(&point, NULL))
            run_point(&p, &point);
        else
            assert_false(p.device->caps.f16_storage);
        free_product(&p);
    }
}

static void small_integers_are_exact(void **state)
{
    test_random random = {test_seed()};
    product p;
    const wf_matmul_params params = {
        .m = 45, .n = 83, .k = 130, .type = WF_TYPE_F16, .output = WF_MATMUL_OUTPUT_SUMS};
    make_product(&p, *state, &params, &random);
    for (size_t i = 0; i < 45 * 130; i++)
        wf_element_set(WF_TYPE_F16, p.host[0], i, (double)test_random_below(&random, 17) - 8);
    for (size_t i = 0; i < 130 * 83; i++)
        wf_element_set(WF_TYPE_F16, p.host[1], i, (double)test_random_below(&random, 17) - 8);
    for (int i = 0; i < 2; i++)
        assert_int_equal(wf_buffer_write(p.buffers[i], 0, p.host[i], p.bytes[i]), WF_SUCCESS);
    if (walk_points(&p, 0, 4) > 0)
        for (size_t i = 0; i < 45 * 83; i++) {
            double sum = 0;
            for (size_t k = 0; k < 130; k++)
                sum += wf_element_get(WF_TYPE_F16, p.host[0], i / 83 * 130 + k) *
                       wf_element_get(WF_TYPE_F16, p.host[1], k * 83 + i % 83);
            assert_true(((float *)p.result)[i] == (float)sum);
        }
    free_product(&p);
}

/* NaN in a row of A and infinity in a column of B fill that row and column of C and nothing else:
 * neither the tile's edge nor the zeros of packed copies spread them. */
static void nan_and_infinity_propagate(void **state)
{
    static const struct {
        size_t point;
        uint32_t stream_k;
    } runs[] = {{2, 0}, {2, 1}, {6, 0}, {0, 0}};
    test_random random = {test_seed()};
    product p;
    const wf_matmul_params params = {
        .m = 21, .n = 26, .k = 43, .type = WF_TYPE_F16, .output = WF_MATMUL_OUTPUT_SUMS};
    make_product(&p, *state, &params, &random);
    wf_element_set(WF_TYPE_F16, p.host[0], 20 * 43, NAN); /* right behind the row before */
    wf_element_set(WF_TYPE_F16, p.host[0], 20 * 43 + 42, NAN);
    wf_element_set(WF_TYPE_F16, p.host[1], 42 * 26 + 25, INFINITY);
    for (int i = 0; i < 2; i++)
        assert_int_equal(wf_buffer_write(p.buffers[i], 0, p.host[i], p.bytes[i]), WF_SUCCESS);
    const wfi_problem problem = problem_of(&p);
    for (size_t n = 0; n < sizeof runs / sizeof *runs; n++) {
        wfi_point point = emulated_point(&p, &problem, points[runs[n].point]);
        wfi_point_set(&point, MATMUL_ID_STREAM_K, runs[n].stream_k);
        if (!wfi_point_legal(&point, NULL))
            continue;
        run_point(&p, &point);
        for (size_t i = 0; i < 21 * 26; i++) {
            const float value = ((float *)p.result)[i];
            assert_true(i / 26 == 20   ? isnan(value)
                        : i % 26 == 25 ? isinf(value)
                                       : isfinite(value));
        }
    }
    free_product(&p);
}

/* What is put together from whole chunks of 16 bytes needs one. */
static void matrices_of_less_than_a_chunk_are_refused(void **state)
{
    static const struct {
        wf_matmul_params params;
        size_t point;
        bool legal;
    } cases[] = {
        {{.m = 1, .n = 8, .k = 8, .type = WF_TYPE_F16}, 0, true},
        {{.m = 1, .n = 9, .k = 7, .type = WF_TYPE_F16}, 0, false},
        {{.m = 9, .n = 1, .k = 7, .type = WF_TYPE_F16}, 0, false},
        {{.m = 2, .n = 2, .k = 4, .type = WF_TYPE_F16}, 0, true},
        {{.m = 3, .n = 6, .k = 5, .type = WF_TYPE_I8}, 4, false},
        {{.m = 1, .n = 1, .k = 1, .type = WF_TYPE_F16}, 5, true}, /* both are copied */
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        product p = {.device = *state, .params = cases[n].params};
        p.params.size = sizeof p.params;
        const wfi_problem problem = problem_of(&p);
        const wfi_point point = emulated_point(&p, &problem, points[cases[n].point]);
        if (wf_device_caps(p.device)->f16_storage)
            assert_int_equal(wfi_point_legal(&point, NULL), cases[n].legal);
    }
}

static bool has_kernel(const wf_plan *plan, const char *name)
{
    for (uint32_t i = 0; i < wf_plan_kernel_count(plan); i++) {
        wf_plan_kernel kernel = {.size = sizeof kernel};
        assert_int_equal(wf_plan_describe_kernel(plan, i, &kernel), WF_SUCCESS);
        if (kernel.main && strcmp(kernel.name, name) == 0)
            return true;
    }
    return false;
}

/* Vectors keep modules of their own, beside those of rows that begin at any element, of stream-K
 * and of few steps. */
static void modules_follow_rows_and_steps(void **state)
{
    static const struct {
        wf_matmul_params params;
        uint32_t stream_k;
        const char *kernel;
    } cases[] = {
        {{.m = 64, .n = 64, .k = 96}, 0, "matmul_emulated_f16"},
        {{.m = 64, .n = 64, .k = 95}, 0, "matmul_any_rows_few_steps_emulated_f16"},
        {{.m = 64, .n = 64, .k = 289}, 0, "matmul_any_rows_emulated_f16"},
        {{.m = 64, .n = 33, .k = 96, .transpose_b = true}, 0, "matmul_any_rows_emulated_f16"},
        {{.m = 64, .n = 64, .k = 72}, 0, "matmul_few_steps_emulated_f16"},
        {{.m = 32, .n = 96, .k = 96}, 1, "matmul_stream_k_emulated_f16"},
        {{.m = 32, .n = 96, .k = 96}, 1, "matmul_emulated_f16"}, /* of whole waves */
        {{.m = 32, .n = 90, .k = 75}, 1, "matmul_any_rows_stream_k_emulated_f16"},
    };
    wf_device *device = *state;
    const uint32_t units = device->caps.compute_units;
    device->caps.compute_units = 2;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        product p = {.device = device, .params = cases[n].params};
        p.params.size = sizeof p.params;
        p.params.type = WF_TYPE_F16;
        const wfi_problem problem = problem_of(&p);
        wf_plan *plan = NULL;
        wfi_point point = emulated_point(&p, &problem, points[0]);
        wfi_point_set(&point, MATMUL_ID_STREAM_K, cases[n].stream_k);
        const wfi_choice choice = {point, "forced", &wfi_family_matmul};
        if (!wfi_point_legal(&point, NULL)) {
            assert_false(device->caps.f16_storage);
            continue;
        }
        assert_int_equal(wfi_plan_create(device, &choice, &p.params, &plan), WF_SUCCESS);
        if (!has_kernel(plan, cases[n].kernel))
            fail_msg("case %zu: there is no kernel %s", n, cases[n].kernel);
        wf_plan_destroy(&plan);
    }
    device->caps.compute_units = units;
}

/* --------------------------------------------------------------------------------- real devices */

/* Where the device has matrix units: the model's values, without and with stream-K, and drawn
 * values of a variant. */
static uint32_t real_points(product *p, const wfi_variant *variant, test_random *random)
{
    const wfi_problem problem = problem_of(p);
    wfi_point point = {.caps = wf_device_caps(p->device), .problem = &problem, .variant = variant};
    uint32_t count = 0;
    wfi_point_defaults(&point);
    variant->fit(&point);
    for (uint32_t drawn = 0; count < 5 && drawn < 2000; drawn++) {
        if (drawn == 1) {
            wfi_point_set(&point, MATMUL_ID_SPLIT_K, 1);
            wfi_point_set(&point, MATMUL_ID_STREAM_K, 1);
        }
        for (uint32_t i = 0; drawn > 1 && i < variant->parameter_count; i++)
            wfi_point_put(
                &point, i,
                variant->parameters[i]
                    .candidates[test_random_below(random, variant->parameters[i].candidate_count)]);
        if (!wfi_point_legal(&point, NULL))
            continue;
        run_point(p, &point);
        count++;
    }
    return count;
}

static void real_variant_is_right(void **state)
{
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    test_random random = {test_seed()};
    uint32_t count = 0;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t n = 0; n < PROBLEMS; n++) {
            product p;
            wf_matmul_params params = problems[n];
            params.type = types[t];
            params.transpose_a = n % 2 != 0;
            params.transpose_b = n % 3 != 0;
            if (params.lda)
                params.lda = params.ldb = 104;
            if (types[t] == WF_TYPE_I8 && params.beta != 0)
                params.beta = -3;
            make_product(&p, *state, &params, &random);
            count +=
                real_points(&p, family->variants[wfi_variant_find(family, "cooperative")], &random);
            free_product(&p);
        }
    product p;
    const wf_matmul_params fast = {
        .m = 100, .n = 75, .k = 300, .transpose_b = true, .math = WF_MATH_FAST};
    make_product(&p, *state, &fast, &random);
    count += real_points(&p, family->variants[wfi_variant_find(family, "f16x2")], &random);
    free_product(&p);
    printf("%u products on matrix units\n", count);
}

int main(void)
{
    const struct CMUnitTest pretended[] = {
        cmocka_unit_test(tiles_edges_and_copies_are_right),
        cmocka_unit_test(f16x2_products_are_right),
        cmocka_unit_test(shared_tiles_are_right),
        cmocka_unit_test(few_steps_are_right),
        cmocka_unit_test(small_integers_are_exact),
        cmocka_unit_test(nan_and_infinity_propagate),
        cmocka_unit_test(matrices_of_less_than_a_chunk_are_refused),
        cmocka_unit_test(modules_follow_rows_and_steps),
    };
    const struct CMUnitTest real[] = {cmocka_unit_test(real_variant_is_right)};
    const int failed = cmocka_run_group_tests(pretended, pretend, test_device_teardown);
    return failed + cmocka_run_group_tests(real, test_device_setup, test_device_teardown);
}
