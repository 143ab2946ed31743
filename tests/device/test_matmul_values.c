/* Elements of products that must come out as they are: small integers exactly, NaN and infinity,
 * and bf16 rounded to the nearest. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core/element.h"
#include "matmul_case.h"

static void write_operands(matmul_case *p)
{
    matmul_case_write(p, WF_MATMUL_A);
    matmul_case_write(p, WF_MATMUL_B);
}

static void small_integers_are_exact(void **state)
{
    test_random random = {test_seed()};
    matmul_case p = {.params = {.m = 45, .n = 83, .k = 130, .tuning = matmul_any_variant()}};
    matmul_case_make(&p, *state, &random);
    float *a = p.host[WF_MATMUL_A], *b = p.host[WF_MATMUL_B];
    for (size_t i = 0; i < 45 * 130; i++)
        a[i] = (float)((int)test_random_below(&random, 17) - 8);
    for (size_t i = 0; i < 130 * 83; i++)
        b[i] = (float)((int)test_random_below(&random, 17) - 8);
    write_operands(&p);
    matmul_case_run(&p, "small integers");
    const float *c = p.result;
    for (uint32_t row = 0; row < 45; row++)
        for (uint32_t column = 0; column < 83; column++) {
            long sum = 0;
            for (uint32_t i = 0; i < 130; i++)
                sum += (long)a[row * 130 + i] * (long)b[i * 83 + column];
            assert_true(c[row * 83 + column] == (float)sum);
        }
    matmul_case_free(&p);
}

static void nan_and_infinity_propagate(void **state)
{
    test_random random = {test_seed()};
    matmul_case p = {.params = {.m = 20, .n = 24, .k = 40, .tuning = matmul_any_variant()}};
    matmul_case_make(&p, *state, &random);
    matmul_case_plant(&p, WF_MATMUL_A, 3, 7, NAN);
    matmul_case_plant(&p, WF_MATMUL_B, 11, 5, INFINITY);
    matmul_case_run(&p, "NaN and infinity");
    const float *c = p.result;
    for (uint32_t column = 0; column < 24; column++)
        assert_true(isnan(c[3 * 24 + column]));
    assert_true(isinf(c[0 * 24 + 5]));
    assert_true(isfinite(c[0 * 24 + 6]) && isfinite(c[4 * 24 + 6]));
    matmul_case_free(&p);
}

static double result_at(const matmul_case *p, size_t at)
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
        matmul_case p = {
            .params = {
                .type = types[t], .m = 12, .n = 16, .k = 20, .activation = WF_ACTIVATION_RELU}};
        matmul_case_make(&p, *state, &random);
        matmul_case_plant(&p, WF_MATMUL_A, 3, 7, NAN);
        matmul_case_plant(&p, WF_MATMUL_A, 5, 7, -NAN);
        matmul_case_plant(&p, WF_MATMUL_B, 11, 5, INFINITY);
        matmul_case_run(&p, "infinities");
        assert_true(isnan(result_at(&p, 3 * 16 + 1)) && isnan(result_at(&p, 5 * 16 + 1)));
        matmul_case_free(&p);
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
        matmul_case p = {
            .params = {.tuning = &tuning, .m = 64, .n = n, .k = 1, .type = WF_TYPE_BF16}};
        uint32_t ties = 0;
        matmul_case_make(&p, *state, &random);
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
        write_operands(&p);
        matmul_case_run(&p, "rounded");
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
        matmul_case_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_integers_are_exact),
        cmocka_unit_test(nan_and_infinity_propagate),
        cmocka_unit_test(infinities_pass_through),
        cmocka_unit_test(bf16_is_rounded_to_nearest_even),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
