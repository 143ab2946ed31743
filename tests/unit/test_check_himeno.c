/* The check of Himeno finds what is wrong in any part of a grid: right results are made here, by
 * plain loops, and then spoilt in one way at a time. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spoilt_grids.h"
#include "wavefit/wavefit.h"

static float relax(const int n[3], int iterations, float *p, float *start)
{
    const int plane = n[0] * n[1], cells = plane * n[2];
    float *next = malloc((size_t)cells * sizeof *next);
    double gosa = 0;
    assert_non_null(next);
    for (int at = 0; at < cells; at++) {
        const float k = (float)(at / plane), last = (float)(n[2] - 1);
        start[at] = p[at] = next[at] = k * k / (last * last);
    }
    for (int iteration = 0; iteration < iterations; iteration++) {
        gosa = 0;
        for (int k = 1; k < n[2] - 1; k++)
            for (int j = 1; j < n[1] - 1; j++)
                for (int i = 1; i < n[0] - 1; i++) {
                    const int at = k * plane + j * n[0] + i;
                    const float s = p[at + 1] + p[at + n[0]] + p[at + plane] + p[at - 1] +
                                    p[at - n[0]] + p[at - plane];
                    const float ss = s * (1.0f / 6.0f) - p[at];
                    gosa += (double)(ss * ss);
                    next[at] = p[at] + 0.8f * ss;
                }
        memcpy(p, next, (size_t)cells * sizeof *p);
    }
    free(next);
    return (float)gosa;
}

static bool himeno_holds(const int n[3], int iterations, const float *p, float gosa, uint64_t seed,
                         bool all_compared)
{
    const wf_himeno_params params = {
        .size = sizeof params, .ni = (uint32_t)n[0], .nj = (uint32_t)n[1], .nk = (uint32_t)n[2]};
    wf_check check;
    double gosa_error;
    assert_int_equal(wf_himeno_check(&params, NULL, (uint32_t)iterations, p, gosa, DRAWN, seed,
                                     &check, &gosa_error),
                     WF_SUCCESS);
    assert_int_equal(all_compared ? check.checked : check.ranged, check.total);
    assert_false(gosa_error < 0);
    return check.error_over_bound <= 1 && gosa_error <= 1;
}

static void himeno_faults(const int n[3], int iterations, bool all_compared)
{
    const size_t bytes = (size_t)(n[0] * n[1] * n[2]) * sizeof(float);
    float *p = malloc(bytes), *kept = malloc(bytes), *start = malloc(bytes);
    assert_true(p && kept && start);
    const float gosa = relax(n, iterations, kept, start);
    for (uint64_t seed = 0; seed < seeds(); seed++) {
        random_state = seed;
        assert_true(himeno_holds(n, iterations, kept, gosa, seed, all_compared));
        for (int f = 0; f < FAULTS; f++) {
            memcpy(p, kept, bytes);
            spoil(p, start, n, (fault)f);
            if (himeno_holds(n, iterations, p, gosa, seed, all_compared))
                fail_msg("%d iterations, seed %d: fault %d was not found", iterations, (int)seed,
                         f);
        }
        assert_false(himeno_holds(n, iterations, kept, gosa * 1.3f, seed, all_compared));
        assert_false(himeno_holds(n, iterations, kept, NAN, seed, all_compared));
    }
    free(p);
    free(kept);
    free(start);
}

static void wrong_relaxations_are_found(void **state)
{
    (void)state;
    const int few[3] = {48, 40, 36};
    himeno_faults(few, 3, true);
    himeno_faults(few, 9, true);
    himeno_faults((const int[3]){40, 33, 36}, 20, true); /* no cell is far from the ends */
}

/* A cell that is right but farther off than all others, amid cells that must hold the same. */
static void the_farthest_cell_is_told(void **state)
{
    enum { NI = 48, NJ = 40, NK = 36 };
    static const int cells[][3] = {{24, 20, 18}, {24, 2, 18}, {40, 20, 30}, {1, 20, 18}};
    const int n[3] = {NI, NJ, NK};
    static float p[NI * NJ * NK], start[NI * NJ * NK];
    const float gosa = relax(n, 3, p, start);
    const wf_himeno_params params = {.size = sizeof params, .ni = NI, .nj = NJ, .nk = NK};
    (void)state;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        const int at = (cells[i][2] * NJ + cells[i][1]) * NI + cells[i][0];
        const float right = p[at];
        wf_check check;
        double gosa_error;
        for (int ulp = 0; ulp < 6; ulp++)
            p[at] = nextafterf(p[at], 2);
        assert_int_equal(wf_himeno_check(&params, NULL, 3, p, gosa, DRAWN, 1, &check, &gosa_error),
                         WF_SUCCESS);
        assert_int_equal(check.worst, at);
        assert_true(check.error_over_bound > 0.1 && check.error_over_bound <= 1);
        assert_int_equal(check.checked, NI * NJ * NK);
        assert_int_equal(check.wrong, 0);
        p[at] = right;
    }
}

/* More iterations than the reference follows. */
static void wrong_long_relaxations_are_found(void **state)
{
    (void)state;
    const int n[3] = {64, 64, 64};
    himeno_faults(n, 60, false);
}

/* So many iterations that p stands still, that gosa is 0 in f32, and that bounds which grew by a
 * factor an iteration would overflow f64. */
static void relaxations_that_stand_still(void **state)
{
    (void)state;
    const int n[3] = {20, 10, 8}, inner = (4 * n[1] + 5) * n[0] + 9, iterations[] = {773, 2000};
    float p[20 * 10 * 8], start[20 * 10 * 8];
    for (int i = 0; i < 2; i++) {
        const float gosa = relax(n, iterations[i], p, start);
        assert_true(gosa < 1e-12f);
        assert_true(himeno_holds(n, iterations[i], p, 0, 1, true));
        assert_true(himeno_holds(n, iterations[i], p, gosa, 1, true));
        assert_false(himeno_holds(n, iterations[i], p, 1e-3f, 1, true));
        p[inner] += 0.01f;
        assert_false(himeno_holds(n, iterations[i], p, gosa, 1, true));
    }
}

enum { SMALL_NI = 6, SMALL_NJ = 5, SMALL_NK = 4, SMALL = SMALL_NI * SMALL_NJ * SMALL_NK };

/* A small grid whose cells depend on their neighbours along i alone. */
typedef struct small {
    float p[SMALL], a0[SMALL], a3[SMALL], c0[SMALL], zero[SMALL], bnd[SMALL];
} small;

static bool small_holds(const small *g, uint32_t iterations, const float *p, float gosa)
{
    const wf_himeno_params params = {
        .size = sizeof params, .ni = SMALL_NI, .nj = SMALL_NJ, .nk = SMALL_NK};
    const wf_himeno_arrays start = {.p = g->p,
                                    .a = {g->a0, g->zero, g->zero, g->a3},
                                    .b = {g->zero, g->zero, g->zero},
                                    .c = {g->c0, g->zero, g->zero},
                                    .bnd = g->bnd,
                                    .wrk1 = g->zero};
    wf_check check;
    double gosa_error;
    assert_int_equal(
        wf_himeno_check(&params, &start, iterations, p, gosa, 0, 1, &check, &gosa_error),
        WF_SUCCESS);
    assert_int_equal(check.checked, SMALL);
    return check.error_over_bound <= 1 && gosa_error >= 0 && gosa_error <= 1;
}

/* Squares of the residual that f32 cannot hold: gosa is 0, whatever the device does with subnormal
 * numbers. */
static void gosa_may_underflow(void **state)
{
    (void)state;
    small g = {.p = {0}};
    float after[SMALL];
    for (int i = 0; i < SMALL; i++) {
        const int at[3] = {i % SMALL_NI, i / SMALL_NI % SMALL_NJ, i / SMALL_NI / SMALL_NJ};
        const bool border = at[0] == 0 || at[0] == SMALL_NI - 1 || at[1] == 0 ||
                            at[1] == SMALL_NJ - 1 || at[2] == 0 || at[2] == SMALL_NK - 1;
        g.bnd[i] = 1; /* and ss = -p */
        g.p[i] = 0x1p-73f;
        after[i] = border ? g.p[i] : g.p[i] - 0.8f * g.p[i];
    }
    assert_true(small_holds(&g, 1, after, 0));
    assert_true(small_holds(&g, 1, after, 0x1p-140f)); /* (2^-73)^2 in 24 cells is 2^-141.4 */
    assert_false(small_holds(&g, 1, after, 0x1p-110f));
    assert_false(small_holds(&g, 1, after, NAN));
}

/* Terms that cancel, so that p stays 0 in one inner plane while its bounds grow to infinity; the
 * other keeps its p, since bnd is 0 there. */
static void bounds_may_overflow(void **state)
{
    (void)state;
    const int plane = SMALL_NI * SMALL_NJ, inner = plane + 2 * SMALL_NI + 3;
    small g = {.p = {0}};
    float after[SMALL];
    for (int i = 0; i < SMALL; i++) {
        g.a0[i] = 4;
        g.c0[i] = -4;
        g.a3[i] = 1;
        g.bnd[i] = i / plane == 2 ? 1 : 0;
        g.p[i] = i / plane == 1 ? 0.5f : 0;
    }
    memcpy(after, g.p, sizeof after);
    after[inner] += FLT_EPSILON;
    assert_true(small_holds(&g, 500, after, 0));
    after[inner] = 0.6f;
    assert_false(small_holds(&g, 500, after, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_relaxations_are_found),
        cmocka_unit_test(the_farthest_cell_is_told),
        cmocka_unit_test(wrong_long_relaxations_are_found),
        cmocka_unit_test(relaxations_that_stand_still),
        cmocka_unit_test(gosa_may_underflow),
        cmocka_unit_test(bounds_may_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
