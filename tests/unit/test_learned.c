/* What a search learns of points from others, on made-up variants whose times are known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/family.h"
#include "tune/learn.h"

enum { A, B, C, D, PARAMETERS, POINTS = 5 * 4 * 6 * 2, LEAST_POINTS = 8 };

static const uint32_t a_values[] = {1, 2, 4, 8, 16}, b_values[] = {0, 3, 5, 7},
                      c_values[] = {10, 20, 30, 40, 50, 60}, d_values[] = {0, 1};

#define VALUES(values) sizeof values / sizeof *values, values
static const wfi_parameter parameters[PARAMETERS] = {
    {"a", A, 1, VALUES(a_values), ""},
    {"b", B, 0, VALUES(b_values), ""},
    {"c", C, 10, VALUES(c_values), ""},
    {"d", D, 0, VALUES(d_values), ""},
};

/* In a unit of its own, and wrong of most values. */
static double model(const wfi_point *point)
{
    return 700.0 * (10 + point->values[A]) * (200 - point->values[C]);
}

static const wfi_variant with_model = {.name = "with",
                                       .parameter_count = PARAMETERS,
                                       .parameters = parameters,
                                       .expect = model},
                         without = {.name = "without",
                                    .parameter_count = PARAMETERS,
                                    .parameters = parameters};
static const wfi_variant *const variants[] = {&without, &with_model};
static const wfi_family family = {.variant_count = 2, .variants = variants};

/* Point n of all. */
static wfi_point point_of(const wfi_variant *variant, uint32_t n)
{
    wfi_point point = {.variant = variant};
    for (uint32_t p = 0; p < PARAMETERS; p++) {
        point.values[p] = parameters[p].candidates[n % parameters[p].candidate_count];
        n /= parameters[p].candidate_count;
    }
    return point;
}

/* Seconds, by numbers that the model does not have. */
static double truth(const wfi_point *point)
{
    const double base = point->variant->expect ? model(point) * 1e-11 : 20e-6;
    return base * (point->values[A] == 4 ? 0.5 : 1) * (1 + 0.1 * point->values[B]) *
           (point->values[C] >= 40 ? 2.2 : 1) * (point->values[D] ? 0.8 : 1);
}

/* Points are taken in in an order in which neighbours lie far apart. */
static uint32_t nth(uint32_t n)
{
    return n * 97 % POINTS;
}

static wfi_learned *learn_of(const wfi_variant *variant, uint32_t count)
{
    wfi_learned *learned = wfi_learned_open(&family);
    assert_non_null(learned);
    for (uint32_t n = 0; n < count; n++) {
        const wfi_point point = point_of(variant, nth(n));
        wfi_learned_add(learned, &point, truth(&point));
    }
    wfi_learned_fit(learned);
    return learned;
}

/* Of the points that were not taken in, pairs that differ by `least` and are expected the other way
 * round; learned NULL: by the model. */
static uint32_t inversions(const wfi_learned *learned, const wfi_variant *variant, uint32_t from,
                           double least)
{
    uint32_t count = 0;
    for (uint32_t i = from; i < POINTS; i++)
        for (uint32_t j = from; j < POINTS; j++) {
            const wfi_point x = point_of(variant, nth(i)), y = point_of(variant, nth(j));
            if (truth(&x) * least > truth(&y))
                continue;
            count += learned ? wfi_learned_expect(learned, &x) >= wfi_learned_expect(learned, &y)
                             : model(&x) >= model(&y);
        }
    return count;
}

static void values_are_learned(void **state)
{
    (void)state;
    for (int v = 0; v < 2; v++) {
        const uint32_t taken = 150;
        wfi_learned *learned = learn_of(variants[v], taken);
        assert_int_equal(wfi_learned_count(learned, (uint32_t)v), taken);
        assert_int_equal(wfi_learned_count(learned, 1 - (uint32_t)v), 0);
        assert_int_equal(inversions(learned, variants[v], taken, 1.25), 0);
        double best = INFINITY;
        for (uint32_t n = 0; n < POINTS; n++) {
            const wfi_point point = point_of(variants[v], n);
            best = fmin(best, truth(&point));
        }
        for (uint32_t n = taken; n < POINTS; n++) {
            const wfi_point point = point_of(variants[v], nth(n));
            const double ratio = wfi_learned_expect(learned, &point) / truth(&point);
            assert_true(fabs(ratio - 1) < (truth(&point) < 2 * best ? 0.1 : 0.25));
        }
        wfi_learned_free(learned);
    }
    assert_true(inversions(NULL, &with_model, 150, 1.25) > 100);
}

/* Before there are enough points of a variant, the model has the word, in seconds by the fastest
 * point that it knows; of what it does not know nothing is. */
static void little_is_learned_of_few(void **state)
{
    (void)state;
    wfi_learned *learned = learn_of(&with_model, LEAST_POINTS - 1);
    double least = INFINITY, unit = 0;
    for (uint32_t n = 0; n < LEAST_POINTS - 1; n++) {
        const wfi_point point = point_of(&with_model, nth(n));
        unit = truth(&point) < least ? truth(&point) / model(&point) : unit;
        least = fmin(least, truth(&point));
    }
    for (uint32_t n = 0; n < POINTS; n++) {
        const wfi_point point = point_of(&with_model, n), other = point_of(&without, n);
        assert_float_equal(wfi_learned_expect(learned, &point) / (unit * model(&point)), 1, 1e-9);
        assert_true(wfi_learned_expect(learned, &other) < 0);
    }
    wfi_learned_free(learned);
    learned = learn_of(&with_model, 0);
    const wfi_point point = point_of(&with_model, 3);
    assert_true(wfi_learned_expect(learned, &point) > 0);
    wfi_learned_free(learned);
}

/* Points that spill have no time; others with what they have in common are expected to be slow. */
static void spilling_points_are_slow(void **state)
{
    (void)state;
    wfi_learned *learned = wfi_learned_open(&family);
    for (uint32_t n = 0; n < 120; n++) {
        const wfi_point point = point_of(&with_model, nth(n));
        wfi_learned_add(learned, &point, point.values[B] == 7 ? 0 : model(&point) * 1e-9);
    }
    wfi_learned_fit(learned);
    for (uint32_t n = 120; n < POINTS; n++) {
        const wfi_point point = point_of(&with_model, nth(n));
        wfi_point other = point;
        other.values[B] = 5;
        if (point.values[B] == 7)
            assert_true(wfi_learned_expect(learned, &point) >
                        1.5 * wfi_learned_expect(learned, &other));
    }
    wfi_learned_free(learned);
}

/* A value that helps fast points and harms slow ones, of which there are as many, is a good one. */
static void fast_points_count_more(void **state)
{
    (void)state;
    wfi_learned *learned = wfi_learned_open(&family);
    for (uint32_t n = 0; n < POINTS; n++) {
        const wfi_point point = point_of(&without, n);
        const bool fast = point.values[B] < 5;
        wfi_learned_add(learned, &point,
                        (fast ? 1e-5 : 2e-4) * (!point.values[D] ? 1
                                                : fast           ? 0.8
                                                                 : 2));
    }
    wfi_learned_fit(learned);
    wfi_point with = point_of(&without, 0), other = with;
    with.values[D] = 1;
    assert_true(wfi_learned_expect(learned, &with) < 0.9 * wfi_learned_expect(learned, &other));
    wfi_learned_free(learned);
}

/* Of two values that are alike the one that was seen less may be better. */
static void what_is_not_known_may_be_better(void **state)
{
    (void)state;
    wfi_learned *learned = wfi_learned_open(&family);
    uint32_t rare = 0;
    for (uint32_t n = 0; n < POINTS; n++) {
        const wfi_point point = point_of(&with_model, nth(n));
        if (point.values[A] != 16 || rare++ < 2)
            wfi_learned_add(learned, &point, model(&point) * 1e-9);
    }
    wfi_learned_fit(learned);
    wfi_point seldom = point_of(&with_model, 3), often = seldom;
    seldom.values[A] = 16;
    often.values[A] = 2;
    const double hope_of_one = wfi_learned_expect(learned, &seldom) / model(&seldom),
                 hope_of_other = wfi_learned_expect(learned, &often) / model(&often);
    assert_true(hope_of_one < 0.99 * hope_of_other);
    assert_true(hope_of_one > 0.9 * hope_of_other);
    /* A value beside the candidates says nothing. */
    seldom.values[A] = 3;
    assert_true(wfi_learned_expect(learned, &seldom) > 0);
    wfi_learned_free(learned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_learned),
        cmocka_unit_test(little_is_learned_of_few),
        cmocka_unit_test(spilling_points_are_slow),
        cmocka_unit_test(fast_points_count_more),
        cmocka_unit_test(what_is_not_known_may_be_better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
