/* Covering arrays: rows that each have one value of every factor, so chosen that every pair of values of two
 * factors stands together in some row. After Cohen, Dalal, Fredman, Patton, The AETG system, 1997. */
#ifndef WFI_TESTS_COVERING_H
#define WFI_TESTS_COVERING_H

#include "harness.h"

#define TEST_MOST_FACTORS 32
#define TEST_MOST_VALUES 192 /* of all factors */

typedef struct test_factors {
    uint32_t count;
    uint32_t values[TEST_MOST_FACTORS]; /* how many each has */
    bool (*legal)(void *user, const uint32_t *row);
    void *user;
} test_factors;

/* All values and pairs of them, and those left out, since no legal row with them was found or rows are
 * few. */
typedef struct test_coverage {
    uint32_t rows, values, values_left, pairs, pairs_left;
} test_coverage;

/* Calls fn with each row: as many as it takes for every value, then more for the pairs while there are
 * less than `most`. The same rows for the same state of `random`. */
test_coverage test_cover(const test_factors *factors, uint32_t most, test_random *random,
                         void (*fn)(void *user, const uint32_t *row));

#endif
