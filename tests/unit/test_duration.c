/* Durations as people read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "model/duration.h"

static void each_has_its_unit(void **state)
{
    static const struct {
        double us;
        const char *text;
    } cases[] = {{0, "0 us"},         {0.25, "0.25 us"},      {999.9, "999.9 us"},
                 {999.97, "1 ms"},    {28130, "28.13 ms"},    {999940, "999.9 ms"},
                 {999960, "1 s"},     {9e7, "90 s"},          {9.999e9, "9999 s"},
                 {1.2e10, "12000 s"}, {1.23456e4, "12.35 ms"}};
    char text[32];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wfi_format_time(cases[i].us, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_has_its_unit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
