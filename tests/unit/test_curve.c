/* What a sustained run's curve comes to. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tool/cli/curve.h"

static wfi_sustained summary(wfi_curve *curve)
{
    wfi_sustained out = {0};
    wfi_curve_summarise(curve, &out);
    return out;
}

static void throttling_shows(void **state)
{
    (void)state;
    wfi_curve curve = {0};
    /* 100 for 10 s, then falling to 60. */
    for (int i = 0; i < 40; i++)
        assert_true(wfi_curve_add(&curve, i, 1, i < 10 ? 100 : i < 20 ? 100 - 4 * (i - 9) : 60));
    const wfi_sustained s = summary(&curve);
    assert_true(s.first == 100 && s.best == 100 && s.settled == 60 && s.settled_spread == 0);
    assert_true(s.slower_at == 11); /* 92 there; 96 at 10 s is not yet slower */
    assert_int_equal(s.count, 40);
    wfi_curve_free(&curve);
}

static void steady_runs_are_not_slower(void **state)
{
    (void)state;
    wfi_curve curve = {0};
    for (int i = 0; i < 12; i++)
        assert_true(wfi_curve_add(&curve, i, 1, 100 + i % 2));
    const wfi_sustained s = summary(&curve);
    assert_true(isnan(s.slower_at));
    assert_true(s.settled >= 100 && s.settled <= 101);
    wfi_curve_free(&curve);
}

static void pauses_are_no_rates(void **state)
{
    (void)state;
    wfi_curve curve = {0};
    for (int i = 0; i < 10; i++) {
        assert_true(wfi_curve_add(&curve, i * 3, 1, 50));
        assert_true(wfi_curve_add(&curve, i * 3 + 1, 1, (double)NAN));
        assert_true(wfi_curve_add(&curve, i * 3 + 2, 1, (double)NAN));
    }
    assert_int_equal(curve.count, 20);
    assert_true(curve.windows[1].seconds == 2);
    const wfi_sustained s = summary(&curve);
    assert_true(s.settled == 50 && s.best == 50);
    wfi_curve_free(&curve);
}

static void short_runs_say_little(void **state)
{
    (void)state;
    wfi_curve curve = {0};
    wfi_sustained s = summary(&curve);
    assert_true(isnan(s.first) && isnan(s.settled));
    assert_true(wfi_curve_add(&curve, 0, 1, 7));
    s = summary(&curve);
    assert_true(s.first == 7 && s.best == 7 && isnan(s.settled));
    wfi_curve_free(&curve);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(throttling_shows),
        cmocka_unit_test(steady_runs_are_not_slower),
        cmocka_unit_test(pauses_are_no_rates),
        cmocka_unit_test(short_runs_say_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
