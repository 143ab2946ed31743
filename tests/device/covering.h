/* Covering arrays. A row has one value of every factor; rows are chosen so that every pair of
 * values of two factors is together in some row. The method is that of Cohen, Dalal, Fredman and
 * Patton, The AETG system, 1997. */
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

/* Counts of all values and pairs of values. Those in `…_left` are in no row, because no legal row
 * with them was found or because there may be no more rows. */
typedef struct test_coverage {
    uint32_t rows, values, values_left, pairs, pairs_left;
} test_coverage;

/* Calls fn with each row. There are as many rows as it takes to have every value, and then more for
 * the pairs while there are fewer than `most`. The same state of `random` gives the same rows. */
test_coverage test_cover(const test_factors *factors, uint32_t most, test_random *random,
                         void (*fn)(void *user, const uint32_t *row));

#endif
