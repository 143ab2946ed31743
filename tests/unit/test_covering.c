/* Covering arrays hold every pair of values that a legal row can have, by a walk over all rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "device/covering.h"

#define FACTORS 5

static const uint32_t counts[FACTORS] = {3, 2, 4, 1, 3};

typedef struct seen {
    bool limited;
    uint32_t rows;
    bool pairs[FACTORS][FACTORS][4][4];
} seen;

/* A limited space: neighbouring factors never both have their second value, and the last factor has
 * its third value only together with the first one's third. */
static bool legal(void *user, const uint32_t *row)
{
    const seen *s = user;
    if (!s->limited)
        return true;
    for (uint32_t f = 0; f + 1 < FACTORS; f++)
        if (row[f] == 1 && row[f + 1] == 1)
            return false;
    return row[4] != 2 || row[0] == 2;
}

static void note(void *user, const uint32_t *row)
{
    seen *s = user;
    assert_true(legal(s, row));
    for (uint32_t f = 0; f < FACTORS; f++)
        for (uint32_t g = f; g < FACTORS; g++)
            s->pairs[f][g][row[f]][row[g]] = true;
    s->rows++;
}

static uint32_t count(const seen *s, bool values)
{
    uint32_t found = 0;
    for (uint32_t f = 0; f < FACTORS; f++)
        for (uint32_t g = values ? f : f + 1; g < (values ? f + 1 : FACTORS); g++)
            for (uint32_t a = 0; a < counts[f]; a++)
                for (uint32_t b = 0; b < counts[g]; b++)
                    found += s->pairs[f][g][a][b];
    return found;
}

static void walk_all(seen *s)
{
    uint32_t row[FACTORS], rows = 1;
    for (uint32_t f = 0; f < FACTORS; f++)
        rows *= counts[f];
    for (uint32_t n = 0; n < rows; n++) {
        for (uint32_t f = 0, rest = n; f < FACTORS; rest /= counts[f++])
            row[f] = rest % counts[f];
        if (legal(s, row))
            note(s, row);
    }
}

static test_coverage cover(seen *s, uint32_t most)
{
    test_random random = {test_seed()};
    test_factors factors = {.count = FACTORS, .legal = legal, .user = s};
    for (uint32_t f = 0; f < FACTORS; f++)
        factors.values[f] = counts[f];
    return test_cover(&factors, most, &random, note);
}

static void every_legal_pair_is_in_a_row(void **state)
{
    (void)state;
    for (int limited = 0; limited < 2; limited++) {
        seen all = {.limited = limited}, some = {.limited = limited};
        walk_all(&all);
        const test_coverage c = cover(&some, UINT32_MAX);
        assert_int_equal(c.rows, some.rows);
        assert_true(c.rows >= 12 && c.rows < all.rows / 2); /* 12: the two largest factors' pairs */
        assert_int_equal(c.values, 13);
        assert_int_equal(c.pairs, 65);
        assert_int_equal(c.values - c.values_left, count(&all, true));
        assert_int_equal(c.pairs - c.pairs_left, count(&all, false));
        assert_int_equal(count(&some, false), count(&all, false));
        assert_memory_equal(all.pairs, some.pairs, sizeof all.pairs);
    }
}

static void every_value_is_in_few_rows(void **state)
{
    (void)state;
    seen all = {.limited = true}, some = {.limited = true};
    walk_all(&all);
    const test_coverage c = cover(&some, 0);
    assert_true(c.rows <= 8 && c.pairs_left > 0);
    assert_int_equal(count(&some, true), count(&all, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_legal_pair_is_in_a_row),
                                       cmocka_unit_test(every_value_is_in_few_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
