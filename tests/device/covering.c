#include "covering.h"

#include <string.h>

#define VALUE_DRAWS 50000 /* for one value: with many factors few rows are legal */
#define PAIR_DRAWS 10000  /* for one pair */
#define CHOICE 12         /* legal rows, of which the one with the most new pairs is taken */

/* Values of all factors are numbered together; a value is a pair with itself. */
typedef struct cover {
    const test_factors *factors;
    test_random *random;
    uint32_t first[TEST_MOST_FACTORS + 1];
    bool covered[TEST_MOST_VALUES][TEST_MOST_VALUES];
} cover;

static uint32_t factor_of(const cover *c, uint32_t value)
{
    uint32_t factor = 0;
    while (value >= c->first[factor + 1])
        factor++;
    return factor;
}

/* A row with the values `a` and `b`. */
static void draw(const cover *c, uint32_t a, uint32_t b, uint32_t *row)
{
    for (uint32_t f = 0; f < c->factors->count; f++)
        row[f] = test_random_below(c->random, c->factors->values[f]);
    const uint32_t fa = factor_of(c, a), fb = factor_of(c, b);
    row[fa] = a - c->first[fa];
    row[fb] = b - c->first[fb];
}

static uint32_t count_new(const cover *c, const uint32_t *row)
{
    uint32_t count = 0;
    for (uint32_t f = 0; f < c->factors->count; f++)
        for (uint32_t g = f; g < c->factors->count; g++)
            count += !c->covered[c->first[f] + row[f]][c->first[g] + row[g]];
    return count;
}

static void mark(cover *c, const uint32_t *row)
{
    for (uint32_t f = 0; f < c->factors->count; f++)
        for (uint32_t g = f; g < c->factors->count; g++)
            c->covered[c->first[f] + row[f]][c->first[g] + row[g]] = true;
}

/* The best of some legal rows with the values `a` and `b`; false: none was drawn. */
static bool find_row(cover *c, uint32_t a, uint32_t b, uint32_t *best)
{
    const uint32_t draws = a == b ? VALUE_DRAWS : PAIR_DRAWS;
    uint32_t row[TEST_MOST_FACTORS], found = 0, most = 0;
    for (uint32_t n = 0; n < draws && found < CHOICE; n++) {
        draw(c, a, b, row);
        if (!c->factors->legal(c->factors->user, row))
            continue;
        const uint32_t count = count_new(c, row);
        if (found++ == 0 || count > most) {
            most = count;
            memcpy(best, row, sizeof row);
        }
    }
    return found > 0;
}

static void cover_pair(cover *c, uint32_t a, uint32_t b, test_coverage *coverage,
                       void (*fn)(void *user, const uint32_t *row))
{
    uint32_t row[TEST_MOST_FACTORS];
    if (c->covered[a][b] || !find_row(c, a, b, row))
        return;
    mark(c, row);
    coverage->rows++;
    fn(c->factors->user, row);
}

static void count_covered(const cover *c, test_coverage *coverage)
{
    const uint32_t values = c->first[c->factors->count];
    for (uint32_t a = 0; a < values; a++) {
        coverage->values++;
        coverage->values_left += !c->covered[a][a];
        for (uint32_t b = c->first[factor_of(c, a) + 1]; b < values; b++) {
            coverage->pairs++;
            coverage->pairs_left += !c->covered[a][b];
        }
    }
}

test_coverage test_cover(const test_factors *factors, uint32_t most, test_random *random,
                         void (*fn)(void *user, const uint32_t *row))
{
    static cover c;
    test_coverage coverage = {0};
    c = (cover){.factors = factors, .random = random};
    for (uint32_t f = 0; f < factors->count; f++)
        c.first[f + 1] = c.first[f] + factors->values[f];
    const uint32_t values = c.first[factors->count];
    for (uint32_t a = 0; a < values; a++)
        cover_pair(&c, a, a, &coverage, fn);
    for (uint32_t a = 0; a < values; a++)
        for (uint32_t b = c.first[factor_of(&c, a) + 1]; b < values && coverage.rows < most; b++)
            cover_pair(&c, a, b, &coverage, fn);
    count_covered(&c, &coverage);
    return coverage;
}
