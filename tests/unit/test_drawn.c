/* Problems drawn at random: the same on every machine, and spread as they are said to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tool/cases/drawn.h"
#include "tool/cases/random.h"

static wfi_case_problem problems[WFI_MOST_DRAWN];

static uint32_t draw(uint64_t seed, wf_family family, const wf_type *type, uint32_t count)
{
    const wfi_drawn_request request = {
        .seed = seed, .family = family, .type = type, .count = count};
    return wfi_drawn_suite(&request, problems);
}

/* What was reported for a seed must be repeatable by anybody with any later wavefit. */
static void a_seed_names_its_problems(void **state)
{
    static const char *const expected[] = {
        "himeno f32 himeno 382x23x336",  "spmv f64 uniform 208892 x 6",
        "matmul f32 9398x8146x2192 B^T", "stencil f64 498x19x213 star 3 periodic, 7 steps",
        "himeno f32 himeno 443x52x200",  "spmv f64 poisson27:13",
        "matmul f32 1060x3523x68",       "stencil f16 910x631 star 2 dirichlet, 7 steps",
    };
    enum { COUNT = sizeof expected / sizeof *expected };
    (void)state;
    assert_int_equal(draw(1, WF_FAMILY_COUNT, NULL, COUNT), COUNT);
    for (int i = 0; i < COUNT; i++) {
        char text[160];
        snprintf(text, sizeof text, "%s %s %s", wf_family_name(problems[i].family),
                 wf_type_name(problems[i].type), problems[i].name);
        assert_string_equal(text, expected[i]);
    }
}

/* More problems begin with the same ones, a family by itself has those that it has among all, and
 * with a type given the sizes stay. */
static void a_problem_depends_on_its_number_alone(void **state)
{
    static wfi_case_problem mixed[WFI_MOST_DRAWN];
    const wf_type type = WF_TYPE_F64;
    (void)state;
    assert_int_equal(draw(9, WF_FAMILY_COUNT, NULL, 40), 40);
    memcpy(mixed, problems, sizeof mixed);
    assert_int_equal(draw(9, WF_FAMILY_COUNT, NULL, 150), 150);
    for (int i = 0; i < 40; i++)
        assert_string_equal(problems[i].name, mixed[i].name);
    for (int typed = 0; typed < 2; typed++) {
        assert_int_equal(draw(9, WF_FAMILY_MATMUL, typed ? &type : NULL, 10), 10);
        for (int i = 0, at = 0; i < 40; i++)
            if (mixed[i].family == WF_FAMILY_MATMUL) {
                assert_string_equal(problems[at].name, mixed[i].name);
                assert_int_equal(problems[at++].type, typed ? type : mixed[i].type);
            }
    }
    assert_int_equal(draw(9, WF_FAMILY_HIMENO, &type, 10), 0); /* Himeno is f32 */
    assert_int_equal(draw(10, WF_FAMILY_MATMUL, NULL, 1), 1);
    assert_string_not_equal(problems[0].name, mixed[2].name);
}

/* Each of the 14 octaves from 1 to 16384 gets its part of the numbers, within five standard
 * deviations, and none is outside. */
static void logarithms_are_uniform(void **state)
{
    enum { DRAWS = 140000, OCTAVES = 14 };
    uint64_t random = 5;
    int counts[OCTAVES + 1] = {0};
    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        const uint64_t n = wfi_random_log(&random, 1, 16383);
        int octave = 0;
        assert_true(n >= 1 && n <= 16383);
        while (n >> (octave + 1))
            octave++;
        counts[octave]++;
    }
    for (int i = 0; i < OCTAVES; i++)
        assert_in_range(counts[i], 9500, 10500);
    for (uint64_t n = 3; n < 6; n++)
        assert_int_equal(wfi_random_log(&random, n, n), n);
}

static int percent(int part)
{
    return (part * 100 + WFI_MOST_DRAWN * 5) / (WFI_MOST_DRAWN * 10);
}

/* Over 1,500 products: half have extents that are multiples of 16, a quarter are thin, a
 * tenth are batches, and all are of 1e7 to 1e12 operations. */
static void products_are_spread(void **state)
{
    int whole = 0, thin = 0, batches = 0, a = 0, b = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        assert_int_equal(draw(seed, WF_FAMILY_MATMUL, NULL, WFI_MOST_DRAWN), WFI_MOST_DRAWN);
        for (int i = 0; i < WFI_MOST_DRAWN; i++) {
            const wfi_case_problem *p = &problems[i];
            const double work = 2.0 * (double)p->a * (double)p->b * (double)p->c * (double)p->batch;
            assert_true(work >= 1e7 && work <= 1e12);
            assert_true(p->a <= 16384 && p->b <= 16384 && p->c <= 16384);
            assert_true(p->cpu == (work <= 1e9));
            whole += p->a % 16 == 0 && p->b % 16 == 0 && p->c % 16 == 0;
            thin += p->a < 64 || p->b < 64 || p->c < 64;
            batches += p->batch > 1;
            a += p->transpose_a;
            b += p->transpose_b;
        }
    }
    assert_in_range(percent(whole), 45, 56);
    assert_in_range(percent(thin), 20, 30);
    assert_in_range(percent(batches), 7, 13);
    assert_in_range(percent(a), 12, 18);
    assert_in_range(percent(b), 12, 18);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_seed_names_its_problems),
                                       cmocka_unit_test(a_problem_depends_on_its_number_alone),
                                       cmocka_unit_test(logarithms_are_uniform),
                                       cmocka_unit_test(products_are_spread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
