/* The whole of C = activation(alpha op(A) op(B) + beta C + bias): every variant, type and pair of
 * transposes, with drawn sizes, leading dimensions, batches and epilogues, against f64. Whatever a
 * product must not read is poisoned; what it must not write is compared. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "choose/choose.h"
#include "kernels/families.h"
#include "core/device.h"
#include "core/element.h"
#include "core/vendors.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/thin.h"
#include "points.h"

/* One product: parameters, and host and device copies of its operands. */
typedef struct product {
    wf_device *device;
    wf_matmul_params params;
    double alpha;
    uint64_t bytes[WF_MATMUL_BINDINGS];
    void *host[WF_MATMUL_BINDINGS]; /* C: before */
    void *result;                   /* C: after */
    uint64_t offset; /* of every operand in its buffer, which is as much longer behind */
    wf_buffer *buffers[WF_MATMUL_BINDINGS];
} product;

static wf_type sum_type(wf_type type)
{
    return wfi_element_of(type)->real;
}

/* A drawn number; whole ones for integers. */
static void draw(test_random *random, wf_type type, bool sums, void *data, uint64_t index)
{
    const double value = test_random_uniform(random);
    const wfi_element *element = wfi_element_of(type);
    if (element->whole && sums)
        ((int32_t *)data)[index] = (int32_t)(value * 1000);
    else if (element->whole)
        wf_element_set(type, data, index, value * element->largest);
    else
        wf_element_set(sums ? sum_type(type) : type, data, index, value);
}

typedef struct matrix {
    uint64_t rows, columns, ld, stride;
} matrix;

static matrix matrix_of(const wf_matmul_params *p, int binding)
{
    matrix x;
    if (binding == WF_MATMUL_A)
        x = (matrix){p->transpose_a ? p->k : p->m, p->transpose_a ? p->m : p->k, p->lda,
                     p->stride_a};
    else if (binding == WF_MATMUL_B)
        x = (matrix){p->transpose_b ? p->n : p->k, p->transpose_b ? p->k : p->n, p->ldb,
                     p->stride_b};
    else
        x = (matrix){p->m, p->n, p->ldc, p->stride_c};
    x.ld = x.ld ? x.ld : x.columns;
    x.stride = x.stride == WF_STRIDE_SHARED ? 0 : x.stride ? x.stride : x.rows * x.ld;
    return x;
}

/* Draws the elements of a matrix; all else in its buffer stays poison. */
static void draw_matrix(product *p, int binding, test_random *random)
{
    const matrix x = matrix_of(&p->params, binding);
    const bool sums = binding == WF_MATMUL_C && (p->params.output == WF_MATMUL_OUTPUT_SUMS ||
                                                 wfi_element_of(p->params.type)->whole);
    const uint64_t batch = p->params.batch ? p->params.batch : 1;
    for (uint64_t z = 0; z < batch; z++)
        for (uint64_t row = 0; row < x.rows; row++)
            for (uint64_t column = 0; column < x.columns; column++)
                draw(random, p->params.type, sums, p->host[binding],
                     z * x.stride + row * x.ld + column);
}

static void make(product *p, wf_device *device, test_random *random)
{
    p->device = device;
    p->params.size = sizeof p->params;
    assert_int_equal(wf_matmul_bytes(&p->params, p->bytes), WF_SUCCESS);
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++) {
        if (!p->bytes[i])
            continue;
        const uint64_t room = (p->bytes[i] + 3) / 4 * 4;
        p->host[i] = malloc(room);
        assert_non_null(p->host[i]);
        memset(p->host[i], 0xff, room); /* NaN in every float type */
        if (i == WF_MATMUL_BIAS)
            for (uint64_t j = 0; j < p->params.n; j++)
                draw(random, p->params.type, true, p->host[i], j);
        else if (i != WF_MATMUL_C || p->params.beta != 0)
            draw_matrix(p, i, random);
        const uint64_t around = 2 * p->offset;
        assert_int_equal(wf_buffer_create(device, room + around, WF_MEMORY_DEVICE, &p->buffers[i]),
                         0);
        test_poison(p->buffers[i]);
        assert_int_equal(wf_buffer_write(p->buffers[i], p->offset, p->host[i], room), 0);
    }
    p->result = malloc(p->bytes[WF_MATMUL_C] + 4);
    assert_non_null(p->result);
}

/* Puts `value` where op(A) or op(B) of the batch's first product has row and column. */
static void plant(product *p, int binding, uint64_t row, uint64_t column, double value)
{
    const matrix x = matrix_of(&p->params, binding);
    const bool turned = binding == WF_MATMUL_A ? p->params.transpose_a : p->params.transpose_b;
    const uint64_t at = turned ? column * x.ld + row : row * x.ld + column;
    wf_element_set(p->params.type, p->host[binding], at, value);
    assert_int_equal(wf_buffer_write(p->buffers[binding], p->offset, p->host[binding],
                                     (p->bytes[binding] + 3) / 4 * 4),
                     WF_SUCCESS);
}

/* NaN in A fills a row of C, infinity in B a column, and nothing else: what stands for elements
 * outside the matrices is 0 in both operands. One of the two is often at the end of the sum. */
static void plant_nan_and_infinity(product *p, test_random *random)
{
    const wf_matmul_params *q = &p->params;
    const uint64_t last = q->k - 1;
    plant(p, WF_MATMUL_A, test_random_below(random, (uint32_t)q->m),
          test_random_below(random, 2) ? last : test_random_below(random, (uint32_t)q->k), NAN);
    plant(p, WF_MATMUL_B,
          test_random_below(random, 2) ? last : test_random_below(random, (uint32_t)q->k),
          test_random_below(random, (uint32_t)q->n),
          test_random_below(random, 2) ? INFINITY : -INFINITY);
}

static void discard(product *p)
{
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++) {
        wf_buffer_destroy(&p->buffers[i]);
        free(p->host[i]);
    }
    free(p->result);
}

static void say(const product *p, const char *what, char *text, size_t bytes)
{
    const wf_matmul_params *q = &p->params;
    snprintf(text, bytes,
             "%s %s %llux%llux%llu batch %llu ta %d tb %d lda %llu ldb %llu ldc %llu alpha %g beta "
             "%g bias %d activation %d output %d seed %llu",
             what, wf_type_name(q->type), (unsigned long long)q->m, (unsigned long long)q->n,
             (unsigned long long)q->k, (unsigned long long)q->batch, q->transpose_a, q->transpose_b,
             (unsigned long long)q->lda, (unsigned long long)q->ldb, (unsigned long long)q->ldc,
             q->alpha ? *q->alpha : 1, q->beta, q->bias, q->activation, q->output,
             (unsigned long long)test_seed());
}

/* The poison in front of C and behind it must be there. */
static void assert_outside_kept(const product *p, const char *text)
{
    unsigned char outside[2][256]; /* Vulkan's largest alignment */
    const uint64_t behind = p->offset + (p->bytes[WF_MATMUL_C] + 3) / 4 * 4;
    wf_buffer *c = p->buffers[WF_MATMUL_C];
    if (p->offset == 0)
        return;
    assert_true(p->offset <= sizeof *outside);
    assert_int_equal(wf_buffer_read(c, 0, outside[0], p->offset), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(c, behind, outside[1], p->offset), WF_SUCCESS);
    for (uint64_t i = 0; i < p->offset; i++)
        if (outside[0][i] != 0xff || outside[1][i] != 0xff)
            fail_msg("%s: byte %llu in front of C or behind it was written", text,
                     (unsigned long long)i);
}

/* Bytes of C that belong to no element must be as before. */
static void assert_padding_kept(const product *p, const char *text)
{
    const matrix x = matrix_of(&p->params, WF_MATMUL_C);
    const uint64_t batch = p->params.batch ? p->params.batch : 1;
    const uint64_t last = (batch - 1) * x.stride + (x.rows - 1) * x.ld + x.columns;
    const uint64_t size = last ? p->bytes[WF_MATMUL_C] / last : 1;
    const unsigned char *before = p->host[WF_MATMUL_C], *after = p->result;
    for (uint64_t z = 0; z < batch; z++)
        for (uint64_t row = 0; row < x.rows; row++) {
            const uint64_t end = z * x.stride + row * x.ld + x.columns;
            const uint64_t next = row + 1 < x.rows ? z * x.stride + (row + 1) * x.ld
                                  : z + 1 < batch  ? (z + 1) * x.stride
                                                   : end;
            if (memcmp(before + end * size, after + end * size, (next - end) * size) != 0)
                fail_msg("%s: padding behind row %llu was written", text, (unsigned long long)row);
        }
}

static uint32_t run(product *p, const char *what)
{
    wf_plan *plan = NULL;
    wf_check check;
    char text[768];
    wf_plan_info info = {.size = sizeof info};
    wf_bindings bindings = {.size = sizeof bindings};
    const wf_matmul_inputs inputs = {.size = sizeof inputs,
                                     .a = p->host[WF_MATMUL_A],
                                     .b = p->host[WF_MATMUL_B],
                                     .bias = p->host[WF_MATMUL_BIAS],
                                     .c = p->host[WF_MATMUL_C]};
    say(p, what, text, sizeof text);
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++)
        bindings.items[i] = (wf_binding){
            .buffer = p->buffers[i], .offset = p->offset, .bytes = (p->bytes[i] + 3) / 4 * 4};
    if (wf_matmul_plan(p->device, &p->params, &plan) != WF_SUCCESS ||
        wf_plan_describe(plan, &info) != WF_SUCCESS || wf_plan_run(plan, &bindings) != WF_SUCCESS)
        fail_msg("%s: did not run", text);
    if (p->bytes[WF_MATMUL_C])
        assert_int_equal(
            wf_buffer_read(p->buffers[WF_MATMUL_C], p->offset, p->result, p->bytes[WF_MATMUL_C]),
            WF_SUCCESS);
    wf_plan_destroy(&plan);
    assert_int_equal(wf_matmul_check(&p->params, &inputs, p->result, 0, 0, &check), WF_SUCCESS);
    if (!(check.error_over_bound <= 1))
        fail_msg("%s: element %llu is %g bounds off", text, (unsigned long long)check.worst,
                 check.error_over_bound);
    if (p->bytes[WF_MATMUL_C]) {
        assert_padding_kept(p, text);
        assert_outside_kept(p, text);
    }
    return info.dispatches;
}

/* 1, primes, multiples of four and others; `wide`: multiples of four only. */
static uint64_t draw_extent(test_random *random, bool wide)
{
    static const uint64_t edges[] = {1, 2, 7, 31, 64, 67};
    const uint64_t any = 1 + test_random_below(random, 90);
    const uint64_t extent =
        test_random_below(random, 2) ? edges[test_random_below(random, 6)] : any;
    return wide ? (extent + 3) / 4 * 4 : extent;
}

static void draw_params(product *p, wf_type type, int transposes, test_random *random)
{
    static const double alphas[] = {1, -2, 3}, betas[] = {0, 1, -3};
    wf_matmul_params *q = &p->params;
    const bool wide = test_random_below(random, 2);
    *q = (wf_matmul_params){.m = draw_extent(random, wide),
                            .n = draw_extent(random, wide),
                            .k = draw_extent(random, wide),
                            .type = type,
                            .transpose_a = transposes & 1,
                            .transpose_b = (transposes & 2) != 0,
                            .beta = betas[test_random_below(random, 3)],
                            .bias = test_random_below(random, 2)};
    const bool whole = wfi_element_of(type)->whole;
    const uint32_t most = whole ? 2 : 3;
    q->activation = (wf_activation)test_random_below(random, most);
    q->output = (wf_matmul_output)test_random_below(random, 2);
    p->alpha = alphas[test_random_below(random, 3)];
    q->alpha = test_random_below(random, 2) ? &p->alpha : NULL;
    if (!whole) {
        p->alpha *= 0.37;
        q->beta *= 0.61;
    }
    if (test_random_below(random, 2)) {
        const uint64_t pad = wide ? 4 : 3;
        q->lda = (q->transpose_a ? q->m : q->k) + pad;
        q->ldb = (q->transpose_b ? q->k : q->n) + pad;
        q->ldc = q->n + pad;
    }
    if (test_random_below(random, 3) == 0) {
        q->batch = 2 + test_random_below(random, 3);
        q->stride_b = test_random_below(random, 2) ? WF_STRIDE_SHARED : 0;
        q->stride_c = q->m * (q->ldc ? q->ldc : q->n) + (wide ? 8 : 5);
    }
}

/* Small tiles, which drivers compile fast; other tests run the large ones. */
static bool small_point(wfi_point *point, test_random *random)
{
    static const wf_constant small[] = {{"tile_m", 16},  {"tile_n", 32},  {"tile_k", 8},
                                        {"thread_m", 4}, {"thread_n", 4}, {"lanes_m", 2},
                                        {"lanes_n", 4},  {"vec4", 0},     {"swizzle", 2}};
    wfi_point_defaults(point);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        const uint32_t at = wfi_parameter_find(point->variant, small[i].name);
        if (at != UINT32_MAX)
            wfi_point_put(point, at, small[i].value);
    }
    wfi_point_set(point, MATMUL_ID_SPLIT_K, 1 + 2 * test_random_below(random, 2));
    wfi_point_set(point, MATMUL_ID_STREAM_K, test_random_below(random, 2));
    if (!wfi_point_legal(point, NULL))
        wfi_point_set(point, MATMUL_ID_STREAM_K, 0);
    if (wfi_variant_has(point->variant, MATMUL_ID_VEC4))
        for (point->values[MATMUL_ID_VEC4] = 7;
             !wfi_point_legal(point, NULL) && point->values[MATMUL_ID_VEC4] > 0;)
            point->values[MATMUL_ID_VEC4]--;
    return wfi_point_legal(point, NULL);
}

/* The problem as the planner sees it, as far as the legality of points goes. */
static wfi_problem problem_of(const wf_matmul_params *q)
{
    wfi_problem problem = {.family = WF_FAMILY_MATMUL, .type = q->type};
    wfi_matmul_problem_of(NULL, q, &problem.matmul);
    return problem;
}

/* A step of the ladder that shares its module is run once a type; other types than f32, whose
 * indexing they share, with one of the four pairs of transposes, another one for each variant; in
 * one of CI's turns f32 has that pair and a third of the others. */
static bool has_earlier_module(const wfi_family *family, uint32_t variant, int type)
{
    for (uint32_t v = 0; v < variant; v++)
        if (family->variants[v]->modules[type] == family->variants[variant]->modules[type])
            return true;
    return false;
}

/* Few rows or few columns of C. */
static void make_thin(wf_matmul_params *q, uint32_t most, test_random *random)
{
    uint64_t *thin = test_random_below(random, 2) ? &q->m : &q->n;
    *thin = 1 + test_random_below(random, most);
    q->lda = q->ldb = q->ldc = q->stride_c = 0;
}

static void every_variant_does_everything(void **state)
{
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    test_random random = {test_seed()};
    uint32_t count = 0, others = 0;
    char text[256];
    for (uint32_t v = 0; v < family->variant_count; v++)
        for (int type = 0; type < WF_TYPE_COUNT; type++)
            for (int transposes = 0; transposes < 4; transposes++) {
                product p = {0};
                wf_constant constants[WF_MAX_PARAMETERS];
                const bool repeated = has_earlier_module(family, v, type);
                /* Variant dot has different code for each transpose. */
                const bool narrow = type != WF_TYPE_F32 &&
                                    strcmp(family->variants[v]->name, "dot") != 0 &&
                                    strcmp(family->variants[v]->name, "panel") != 0;
                const bool own = transposes == (int)((v + (uint32_t)type) % 4);
                if (!family->variants[v]->modules[type] ||
                    (!own && (repeated || narrow || test_quick() ||
                              !test_has_turn(wf_device_caps(*state), others++))))
                    continue;
                draw_params(&p, (wf_type)type, transposes, &random);
                p.params.size = sizeof p.params;
                if (strcmp(family->variants[v]->name, "matvec") == 0)
                    make_thin(&p.params, WFI_MOST_VECTORS, &random);
                if (strcmp(family->variants[v]->name, "panel") == 0)
                    make_thin(&p.params, WFI_MOST_PANEL, &random);
                const wfi_problem problem = problem_of(&p.params);
                wfi_point point = {.caps = wf_device_caps(*state),
                                   .problem = &problem,
                                   .variant = family->variants[v]};
                if (!small_point(&point, &random) &&
                    (point.variant->fit(&point) < 0 || !wfi_point_legal(&point, NULL)))
                    continue;
                const wf_tuning tuning = test_point_tuning(&point, constants);
                p.params.tuning = &tuning;
                p.offset = test_random_below(&random, 2) * point.caps->storage_alignment;
                make(&p, *state, &random);
                if (!wfi_element_of((wf_type)type)->whole && test_random_below(&random, 2))
                    plant_nan_and_infinity(&p, &random);
                test_point_text(&point, text, sizeof text);
                run(&p, text);
                discard(&p);
                count++;
            }
    printf("%u products\n", count);
    /* With minimum limits too. A device may have f32 alone, and half of the variants are for matrix
     * units or other types: a quick walk has few of them. */
    assert_true(count >= family->variant_count / (test_quick() ? 3 : 1));
}

static void empty_extents_do_what_is_left(void **state)
{
    test_random random = {test_seed()};
    for (int n = 0; n < 5; n++) {
        product p = {.params = {.m = 19, .n = 23, .k = 11, .beta = 0.5, .bias = true}};
        if (n == 0)
            p.params.m = 0;
        else if (n == 1)
            p.params.n = 0;
        else if (n == 2)
            p.params.k = 0;
        else
            p.params.alpha = &p.alpha; /* 0 */
        if (n == 4) {                  /* C becomes 0 where it was poisoned */
            p.params.beta = 0;
            p.params.bias = false;
            p.params.batch = 3;
            p.params.ldc = 29;
        }
        make(&p, *state, &random);
        if (n > 1)
            assert_null(p.buffers[WF_MATMUL_A]);
        run(&p, "empty");
        discard(&p);
    }
}

/* Bindings that are too small for a matrix: slabs along every extent, and a few products of the
 * batch at a time. */
static void parts_keep_the_epilogue(void **state)
{
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F16, WF_TYPE_I8};
    wf_device *device = *state;
    const uint64_t range = device->caps.max_storage_range;
    test_random random = {test_seed()};
    const wf_constant small[] = {{"tile_m", 16}, {"tile_n", 32}, {"thread_m", 2}, {"thread_n", 2}};
    const wf_tuning tuning = {sizeof tuning, "register", small, 4, false, 0};
    for (int n = 0; n < 12; n++) {
        product p = {.params = {.tuning = &tuning,
                                .m = 93,
                                .n = 61,
                                .k = 77,
                                .type = types[n / 4],
                                .transpose_a = n & 1,
                                .transpose_b = (n & 2) != 0,
                                .beta = 2,
                                .bias = true,
                                .activation = WF_ACTIVATION_RELU}};
        const wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                                     .type = p.params.type,
                                     .matmul = wfi_matmul_plain(93, 61, 77)};
        wfi_choice choice;
        /* Types have pairs of transposes of their own. */
        if (test_emulated() ? n % 4 != n / 4 : n % 2 != n / 4 % 2)
            continue;
        test_expect_errors(true);
        const wf_result offered = wfi_choose(device, &problem, &tuning, &choice);
        test_expect_errors(false);
        if (offered != WF_SUCCESS)
            continue;
        make(&p, device, &random);
        device->caps.max_storage_range =
            2048 * wf_type_size(p.params.type) + device->caps.storage_alignment;
        assert_true(run(&p, "parts") >= 9);
        device->caps.max_storage_range = range;
        discard(&p);
    }
    product p = {.params = {.tuning = &tuning, .m = 20, .n = 20, .k = 20, .batch = 11, .beta = 1}};
    make(&p, device, &random);
    device->caps.max_storage_range = 3 * 1600 + device->caps.storage_alignment;
    assert_int_equal(run(&p, "batches"), 4);
    device->caps.max_storage_range = range;
    discard(&p);
}

/* As on NVIDIA's cards, where padding of A's tile would cost a work-group its place on a compute
 * unit, and A's elements move by fours. The tiles are small, which drivers compile fast, and so is
 * the shared memory: four work-groups fit into it. */
static void tiles_go_without_padding(void **state)
{
    static const wf_constant constants[] = {{"tile_m", 16},  {"tile_n", 32},       {"tile_k", 8},
                                            {"thread_m", 4}, {"thread_n", 4},      {"lanes_m", 2},
                                            {"lanes_n", 4},  {"double_buffer", 0}, {"pairs", 1},
                                            {"vec4", 1},     {"serpentine", 3}};
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F16, WF_TYPE_F64};
    const wf_tuning tuning = {sizeof tuning, "vector", constants, 11, false, 0};
    wf_device *device = *state;
    const wf_caps caps = device->caps;
    test_random random = {test_seed()};
    for (int n = 0; n < 6; n++) {
        product p = {.params = {.tuning = &tuning,
                                .m = 67 + test_random_below(&random, 64),
                                .n = 129 + test_random_below(&random, 64),
                                .k = 4 + 4 * test_random_below(&random, 13),
                                .type = types[n / 2],
                                .transpose_b = n % 2 != 0,
                                .beta = 2}};
        const wfi_problem problem = problem_of(&p.params);
        wfi_choice choice;
        device->caps.vendor_id = WFI_NVIDIA;
        device->caps.driver_id = VK_DRIVER_ID_NVIDIA_PROPRIETARY;
        device->caps.device_type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
        const uint32_t bare = 2 * 8 * (16 + 32) * (uint32_t)wfi_matmul_sum_size(p.params.type);
        device->caps.max_shared_bytes = 4 * bare;
        test_expect_errors(true);
        const wf_result offered = wfi_choose(device, &problem, &tuning, &choice);
        test_expect_errors(false);
        if (offered == WF_SUCCESS) {
            /* Two slices of 8 x 16 and 8 x 32 sums; B's padding, where it is transposed, stays. */
            if (!p.params.transpose_b)
                assert_int_equal(choice.point.variant->shared_bytes(&choice.point), bare);
            make(&p, device, &random);
            run(&p, "without padding");
            discard(&p);
        }
        device->caps = caps;
    }
}

/* Work-items exchange rows of C before they store them: two at a time, one where the memory of B's
 * tiles has no room for two, or none. */
static void elements_are_stored_side_by_side(void **state)
{
    static const uint32_t blocks[][7] = {{32, 64, 8, 4, 8, 4, 8},
                                         {64, 32, 4, 8, 4, 2, 4},
                                         {16, 32, 16, 4, 4, 4, 8},
                                         {64, 32, 4, 4, 8, 4, 4}};
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F16, WF_TYPE_F64, WF_TYPE_I8};
    test_random random = {test_seed()};
    for (int n = 0; n < 8; n++) {
        const uint32_t *b = blocks[n % 4];
        const wf_constant constants[] = {
            {"tile_m", b[0]},   {"tile_n", b[1]},   {"tile_k", b[2]},
            {"thread_m", b[3]}, {"thread_n", b[4]}, {"lanes_m", b[5]},
            {"lanes_n", b[6]},  {"gathered", 1},    {"split_k", n % 3 == 2 ? 2 : 1}};
        const wf_tuning tuning = {sizeof tuning, "vector", constants, 9, false, 0};
        product p = {.params = {.tuning = &tuning,
                                .m = 40 + test_random_below(&random, 64),
                                .n = 64 + 4 * test_random_below(&random, 20) +
                                     (n % 2 ? 1 : 2 + test_random_below(&random, 2)),
                                .k = 1 + test_random_below(&random, 50),
                                .type = types[(n + n / 4) % 4],
                                .batch = 1 + n % 2,
                                .transpose_b = n % 2 != 0,
                                .beta = n % 4 == 1 ? 2 : 0,
                                .bias = n % 4 == 3}};
        const wfi_problem problem = problem_of(&p.params);
        wfi_choice choice;
        test_expect_errors(true);
        const wf_result offered = wfi_choose(*state, &problem, &tuning, &choice);
        test_expect_errors(false);
        if (offered != WF_SUCCESS) { /* the device has no such type, or too little memory for it */
            assert_int_not_equal(p.params.type, WF_TYPE_F32);
            continue;
        }
        make(&p, *state, &random);
        run(&p, "side by side");
        discard(&p);
    }
}

/* f64 is copied as pairs of words: strided batches, in either order of rows, and tiles whose sums
 * work-groups share. */
static void f64_is_copied(void **state)
{
    test_random random = {test_seed()};
    for (uint32_t n = 0; n < 3 && wf_device_caps(*state)->f64; n++) {
        const wf_constant constants[] = {{"tile_m", 16},        {"tile_n", 32},
                                         {"tile_k", 8},         {"thread_m", 4},
                                         {"thread_n", 4},       {"lanes_m", 2},
                                         {"lanes_n", 4},        {"vec4", 3 - n},
                                         {"pack", 3 - n},       {"stream_k", n == 0 ? 2 : 0},
                                         {"split_k", 1 + n % 2}};
        const wf_tuning tuning = {sizeof tuning, "vector", constants, 11, false, 0};
        product p = {.params = {.tuning = &tuning,
                                .m = 33 + 2 * test_random_below(&random, 8),
                                .n = 65 + 2 * test_random_below(&random, 16),
                                .k = 4 * (5 + test_random_below(&random, 12)) + (n == 0),
                                .type = WF_TYPE_F64,
                                .batch = 1 + n,
                                .transpose_a = n == 2,
                                .transpose_b = n == 1}};
        make(&p, *state, &random);
        run(&p, "copies of f64");
        discard(&p);
    }
}

static void put(product *p, int binding, size_t at, double value)
{
    if (p->params.type == WF_TYPE_F64)
        ((double *)p->host[binding])[at] = value;
    else
        ((float *)p->host[binding])[at] = (float)value;
}

static double result_at(const product *p, size_t at)
{
    return p->params.type == WF_TYPE_F64 ? ((const double *)p->result)[at]
                                         : ((const float *)p->result)[at];
}

/* ReLU keeps NaN; a driver that compiled it to a maximum would give 0. */
static void infinities_pass_through(void **state)
{
    const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64};
    test_random random = {test_seed()};
    for (int t = 0; t < 2; t++) {
        if (types[t] == WF_TYPE_F64 && !wf_device_caps(*state)->f64)
            continue;
        product p = {
            .params = {
                .type = types[t], .m = 12, .n = 16, .k = 20, .activation = WF_ACTIVATION_RELU}};
        make(&p, *state, &random);
        put(&p, WF_MATMUL_A, 3 * 20 + 7, NAN);
        put(&p, WF_MATMUL_A, 5 * 20 + 7, -NAN);
        put(&p, WF_MATMUL_B, 11 * 16 + 5, INFINITY);
        for (int i = 0; i < WF_MATMUL_C; i++)
            assert_int_equal(wf_buffer_write(p.buffers[i], 0, p.host[i], p.bytes[i]), WF_SUCCESS);
        run(&p, "infinities");
        assert_true(isnan(result_at(&p, 3 * 16 + 1)) && isnan(result_at(&p, 5 * 16 + 1)));
        discard(&p);
    }
}

/* Products of two bf16, which f32 has exactly, are rounded to the nearest bf16, and those in the
 * middle to the even one, below 2^111; up to the largest, and infinity and NaN. Rows of C are
 * vectors, which are stored at once, or not. */
static void bf16_is_rounded_to_nearest_even(void **state)
{
    static const wf_constant constants[] = {{"tile_m", 32},  {"tile_n", 32},  {"tile_k", 8},
                                            {"thread_m", 4}, {"thread_n", 4}, {"lanes_m", 4},
                                            {"lanes_n", 8}};
    const wf_tuning tuning = {sizeof tuning, "vector", constants, 7, false, 0};
    test_random random = {test_seed()};
    if (!wfi_element_of(WF_TYPE_BF16)->stored(wf_device_caps(*state)))
        return;
    for (uint32_t n = 63; n <= 64; n++) {
        product p = {.params = {.tuning = &tuning, .m = 64, .n = n, .k = 1, .type = WF_TYPE_BF16}};
        uint32_t ties = 0;
        make(&p, *state, &random);
        uint16_t *a = p.host[WF_MATMUL_A], *b = p.host[WF_MATMUL_B];
        for (uint32_t i = 0; i < 64; i++)
            a[i] = (uint16_t)(test_random_below(&random, 2) << 15 |
                              (67 + test_random_below(&random, 124)) << 7 |
                              test_random_below(&random, 128));
        for (uint32_t i = 0; i < n; i++)
            b[i] = (uint16_t)((67 + test_random_below(&random, 124)) << 7 |
                              test_random_below(&random, 128));
        a[5] = 0x7f80; /* infinity */
        a[9] = 0x7fff; /* NaN */
        for (int i = 0; i < WF_MATMUL_C; i++)
            assert_int_equal(wf_buffer_write(p.buffers[i], 0, p.host[i], (p.bytes[i] + 3) / 4 * 4),
                             WF_SUCCESS);
        run(&p, "rounded");
        for (uint32_t i = 0; i < 64 * n; i++) {
            const double left = wf_element_get(WF_TYPE_BF16, a, i / n),
                         right = wf_element_get(WF_TYPE_BF16, b, i % n);
            const float exact = (float)(left * right);
            uint32_t bits;
            uint16_t wanted;
            memcpy(&bits, &exact, sizeof bits);
            const bool tie = (bits & 0xffff) == 0x8000, large = fabsf(exact) >= 0x1p111f;
            ties += tie && !large;
            wf_element_set(WF_TYPE_BF16, &wanted, 0, exact);
            if (isnan(exact))
                assert_true(isnan(wf_element_get(WF_TYPE_BF16, p.result, i)));
            else if (!tie || !large)
                assert_int_equal(((const uint16_t *)p.result)[i], wanted);
        }
        assert_true(ties > 0);
        discard(&p);
    }
}

static void refuse(wf_device *device, const wf_matmul_params *params, wf_result code,
                   const char *word)
{
    wf_plan *plan = NULL;
    test_expect_errors(true);
    assert_int_equal(wf_matmul_plan(device, params, &plan), code);
    test_expect_errors(false);
    assert_null(plan);
    assert_non_null(strstr(test_last_error(), word));
}

static void says_what_is_wrong(void **state)
{
    const double half = 0.5;
    const wf_matmul_params good = {.size = sizeof good, .m = 8, .n = 8, .k = 8};
    wf_matmul_params bad = good;
    bad.ldb = 7;
    refuse(*state, &bad, WF_ERROR_INVALID_ARGUMENT, "ldb is 7");
    bad = good;
    bad.batch = 2;
    bad.stride_c = 63;
    refuse(*state, &bad, WF_ERROR_INVALID_ARGUMENT, "overlap");
    bad.stride_c = WF_STRIDE_SHARED;
    refuse(*state, &bad, WF_ERROR_INVALID_ARGUMENT, "shared");
    bad = good;
    bad.type = WF_TYPE_I8;
    bad.alpha = &half;
    refuse(*state, &bad, WF_ERROR_INVALID_ARGUMENT, "whole numbers");
    bad = good;
    bad.batch = UINT64_C(1) << 31;
    bad.stride_a = UINT64_C(1) << 40;
    refuse(*state, &bad, WF_ERROR_TOO_LARGE, "matrix a");
    bad = good;
    bad.activation = (wf_activation)9;
    refuse(*state, &bad, WF_ERROR_INVALID_ARGUMENT, "activation");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant_does_everything),
        cmocka_unit_test(empty_extents_do_what_is_left),
        cmocka_unit_test(parts_keep_the_epilogue),
        cmocka_unit_test(tiles_go_without_padding),
        cmocka_unit_test(elements_are_stored_side_by_side),
        cmocka_unit_test(f64_is_copied),
        cmocka_unit_test(infinities_pass_through),
        cmocka_unit_test(bf16_is_rounded_to_nearest_even),
        cmocka_unit_test(says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
