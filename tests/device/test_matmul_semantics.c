/* The whole of C = activation(alpha op(A) op(B) + beta C + bias): every variant, type and pair of
 * transposes, with drawn sizes, leading dimensions, batches and epilogues, against f64. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/element.h"
#include "kernels/families.h"
#include "kernels/matmul/thin.h"
#include "matmul_case.h"
#include "points.h"

/* NaN in A fills a row of C, infinity in B a column, and nothing else: what stands for elements
 * outside the matrices is 0 in both operands. One of the two is often at the end of the sum. */
static void plant_nan_and_infinity(matmul_case *p, test_random *random)
{
    const wf_matmul_params *q = &p->params;
    const uint64_t last = q->k - 1;
    matmul_case_plant(
        p, WF_MATMUL_A, test_random_below(random, (uint32_t)q->m),
        test_random_below(random, 2) ? last : test_random_below(random, (uint32_t)q->k), NAN);
    matmul_case_plant(p, WF_MATMUL_B,
                      test_random_below(random, 2) ? last
                                                   : test_random_below(random, (uint32_t)q->k),
                      test_random_below(random, (uint32_t)q->n),
                      test_random_below(random, 2) ? INFINITY : -INFINITY);
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

static void draw_params(matmul_case *p, wf_type type, int transposes, test_random *random)
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
    const bool minimum = wf_device_caps(*state)->limits == WF_LIMITS_MINIMUM;
    uint32_t count = 0, others = 0;
    char text[256];
    for (uint32_t v = 0; v < family->variant_count; v++)
        for (int type = 0; type < WF_TYPE_COUNT; type++)
            for (int transposes = 0; transposes < 4; transposes++) {
                matmul_case p = {0};
                wf_constant constants[WF_MAX_PARAMETERS];
                const bool repeated = has_earlier_module(family, v, type);
                /* Variant dot has different code for each transpose. */
                const bool narrow = type != WF_TYPE_F32 &&
                                    strcmp(family->variants[v]->name, "dot") != 0 &&
                                    strcmp(family->variants[v]->name, "panel") != 0;
                const bool own = transposes == (int)((v + (uint32_t)type) % 4);
                if (!family->variants[v]->modules[type] ||
                    (!own &&
                     (repeated || narrow || test_quick() || !(minimum || test_has_turn(others++)))))
                    continue;
                draw_params(&p, (wf_type)type, transposes, &random);
                p.params.size = sizeof p.params;
                if (strcmp(family->variants[v]->name, "matvec") == 0)
                    make_thin(&p.params, WFI_MOST_VECTORS, &random);
                if (strcmp(family->variants[v]->name, "panel") == 0)
                    make_thin(&p.params, WFI_MOST_PANEL, &random);
                const wfi_problem problem = matmul_case_problem(&p.params);
                wfi_point point = {.caps = wf_device_caps(*state),
                                   .problem = &problem,
                                   .variant = family->variants[v]};
                if (!small_point(&point, &random) &&
                    (point.variant->fit(&point) < 0 || !wfi_point_legal(&point, NULL)))
                    continue;
                const wf_tuning tuning = test_point_tuning(&point, constants);
                p.params.tuning = &tuning;
                p.offset = test_random_below(&random, 2) * point.caps->storage_alignment;
                matmul_case_make(&p, *state, &random);
                if (!wfi_element_of((wf_type)type)->whole && test_random_below(&random, 2))
                    plant_nan_and_infinity(&p, &random);
                test_point_text(&point, text, sizeof text);
                matmul_case_run(&p, text);
                matmul_case_free(&p);
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
        matmul_case p = {.params = {.m = 19, .n = 23, .k = 11, .beta = 0.5, .bias = true}};
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
        matmul_case_make(&p, *state, &random);
        if (n > 1)
            assert_null(p.buffers[WF_MATMUL_A]);
        matmul_case_run(&p, "empty");
        matmul_case_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant_does_everything),
        cmocka_unit_test(empty_extents_do_what_is_left),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
