/* Rates from the times of a few products: planted rates are found again, whatever the guess, the
 * noise and single times that are far off, and what is chosen by them is as good. (The model that
 * plants the times is the one that is fitted: this is about the fit.) */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core/vendors.h"
#include "gpus.h"
#include "kernels/families.h"
#include "kernels/matmul/rates_fit.h"
#include "kernels/matmul/tile_time.h"
#include "profiles/matmul.h"

#define MOST_ERROR 0.2 /* of rates that are used (wavefit.h) */

enum { BLOCKS = 6, SIZES = 7, POINTS = BLOCKS * SIZES };

typedef struct planted {
    wf_caps caps;
    wfi_rates guess, rates;
    wfi_problem problems[POINTS];
    wfi_point points[POINTS];
    wfi_timed_point timed[POINTS];
} planted;

static uint64_t bits;

static double uniform(void)
{
    bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(bits >> 11) * 0x1p-53;
}

static double time_of(const wfi_point *point, const wfi_rates *rates)
{
    double terms[WFI_RATES], time = 0;
    wfi_matmul_tile_terms(point, rates, terms);
    for (int i = 0; i < WFI_RATES; i++)
        time += terms[i] * rates->of[i];
    return time;
}

static void make_points(planted *p)
{
    static const uint32_t blocks[BLOCKS][5] = {{64, 64, 16, 4, 4},  {64, 128, 8, 8, 8},
                                               {32, 32, 16, 4, 4},  {32, 64, 16, 4, 4},
                                               {128, 128, 8, 8, 8}, {64, 32, 16, 4, 4}};
    static const uint64_t sizes[SIZES][4] = {
        {64, 64, 256, 1},    {64, 64, 4096, 1},   {64, 64, 8192, 16}, {1024, 1024, 512, 1},
        {4096, 4096, 32, 1}, {512, 511, 1023, 1}, {2048, 2047, 31, 1}};
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    for (int i = 0; i < POINTS; i++) {
        const uint64_t *size = sizes[i / BLOCKS];
        const uint32_t *b = blocks[i % BLOCKS];
        wfi_point *point = &p->points[i];
        p->problems[i] = (wfi_problem){.family = WF_FAMILY_MATMUL,
                                       .type = i % 9 == 8 ? WF_TYPE_F64 : WF_TYPE_F32,
                                       .matmul = wfi_matmul_plain(size[0], size[1], size[2])};
        *point = (wfi_point){.caps = &p->caps,
                             .problem = &p->problems[i],
                             .variant = family->variants[wfi_variant_find(family, "vector")]};
        wfi_point_defaults(point);
        wfi_matmul_set_block(point, &(wfi_matmul_block){b[0], b[1], b[2], b[3], b[4]});
        point->values[MATMUL_ID_SPLIT_K] = (uint32_t)size[3];
        point->values[MATMUL_ID_VEC4] = size[1] % 4 ? 0 : 7;
    }
}

/* A device whose rates are off the guess by factors of 0.5 to 2, and all of them by `speed`. */
static void plant(planted *p, uint64_t seed, double speed, double noise)
{
    bits = seed;
    p->caps = gpu_card(WFI_AMD);
    p->guess = *wfi_matmul_profile_of(&p->caps)->rates;
    for (int i = 0; i < WFI_RATES; i++)
        p->rates.of[i] =
            p->guess.of[i] * exp2(2 * uniform() - 1) * (i == WFI_RATE_GAP_ITEMS ? 1 : speed);
    make_points(p);
    for (int i = 0; i < POINTS; i++)
        p->timed[i] = (wfi_timed_point){&p->points[i], time_of(&p->points[i], &p->rates) *
                                                           (1 + noise * (2 * uniform() - 1))};
}

/* The largest error of what found rates predict for sizes that were not among the points. */
static double worst_error(planted *p, const wfi_rates *found)
{
    double worst = 0;
    for (int i = 0; i < POINTS; i++) {
        p->problems[i].matmul =
            wfi_matmul_plain(200 + 40 * (uint64_t)i, 300, 100 + 90 * (uint64_t)i);
        p->points[i].values[MATMUL_ID_VEC4] = 7;
        worst = fmax(worst,
                     fabs(time_of(&p->points[i], found) / time_of(&p->points[i], &p->rates) - 1));
    }
    return worst;
}

static void planted_rates_are_found(void **state)
{
    (void)state;
    static planted p;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        wfi_rates found;
        plant(&p, seed, seed % 2 ? 40 : 0.2, 0);
        const double error = wfi_matmul_fit_rates(p.timed, POINTS, &p.guess, &found);
        const double worst = worst_error(&p, &found);
        if (error > 0.1 || worst > 0.25)
            fail_msg("seed %llu: error %.3f, worst %.3f", (unsigned long long)seed, error, worst);
    }
}

/* One time in seven is three times too long, and all have 5 % of noise. */
static void outliers_do_no_harm(void **state)
{
    (void)state;
    static planted p;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        wfi_rates found;
        plant(&p, seed, 1, 0.05);
        for (int i = 3; i < POINTS; i += 7)
            p.timed[i].us *= 3;
        const double error = wfi_matmul_fit_rates(p.timed, POINTS, &p.guess, &found);
        const double worst = worst_error(&p, &found);
        if (error > 0.12 || worst > 0.4)
            fail_msg("seed %llu: error %.3f, worst %.3f", (unsigned long long)seed, error, worst);
    }
}

/* What no point says anything of keeps its ratio to the others. */
static void rates_without_points_follow_the_others(void **state)
{
    (void)state;
    static planted p;
    wfi_rates found;
    plant(&p, 5, 1, 0);
    for (int i = 0; i < POINTS; i++)
        p.timed[i].us = 10 * time_of(&p.points[i], &p.guess);
    assert_true(wfi_matmul_fit_rates(p.timed, 4, &p.guess, &found) >= 0);
    assert_float_equal(found.of[WFI_RATE_SHARED_BYTE_F64] / p.guess.of[WFI_RATE_SHARED_BYTE_F64],
                       10, 0.5);
    assert_float_equal(found.of[WFI_RATE_PARTIAL_BYTE] / p.guess.of[WFI_RATE_PARTIAL_BYTE], 10,
                       0.5);
}

/* Times that no rates explain leave an error that is told from noise. */
static void times_of_nothing_are_told(void **state)
{
    (void)state;
    static planted p;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        wfi_rates found;
        plant(&p, seed, 1, 0.1);
        assert_true(wfi_matmul_fit_rates(p.timed, POINTS, &p.guess, &found) < MOST_ERROR);
        for (int i = 0; i < POINTS; i++)
            p.timed[i].us *= exp2(6 * uniform());
        assert_true(wfi_matmul_fit_rates(p.timed, POINTS, &p.guess, &found) > MOST_ERROR);
    }
}

static void few_points_are_refused(void **state)
{
    (void)state;
    static planted p;
    wfi_rates found = {{7}};
    plant(&p, 3, 1, 0);
    assert_true(wfi_matmul_fit_rates(p.timed, 3, &p.guess, &found) < 0);
    assert_true(wfi_matmul_fit_rates(NULL, 0, &p.guess, &found) < 0);
    assert_true(found.of[0] == 7);
}

/* A device whose dispatches take long splits sums less than one whose dispatches are short. */
static void choices_follow_rates(void **state)
{
    (void)state;
    static planted p;
    uint32_t split_k[2];
    plant(&p, 1, 1, 0);
    for (int slow = 0; slow < 2; slow++) {
        wfi_rates rates = p.guess;
        rates.of[WFI_RATE_DISPATCH] *= slow ? 1000 : 1;
        const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
        wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                               .type = WF_TYPE_F32,
                               .matmul = wfi_matmul_plain(64, 64, 16384)};
        wfi_point point = {.caps = &p.caps,
                           .problem = &problem,
                           .variant = family->variants[wfi_variant_find(family, "vector")],
                           .rates = &rates};
        wfi_point_defaults(&point);
        assert_true(point.variant->fit(&point) > 0);
        split_k[slow] = point.values[MATMUL_ID_SPLIT_K];
    }
    assert_true(split_k[0] >= 16);
    assert_int_equal(split_k[1], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_rates_are_found),
        cmocka_unit_test(outliers_do_no_harm),
        cmocka_unit_test(rates_without_points_follow_the_others),
        cmocka_unit_test(times_of_nothing_are_told),
        cmocka_unit_test(few_points_are_refused),
        cmocka_unit_test(choices_follow_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
