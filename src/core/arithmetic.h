/* Whole numbers that sizes are made of. */
#ifndef WFI_CORE_ARITHMETIC_H
#define WFI_CORE_ARITHMETIC_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t wfi_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The first multiple of `unit`, which is not 0, from value on. */
static inline uint64_t wfi_round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* The first power of two from value on, at most the first from `most` on. */
static inline uint32_t wfi_power_at_least(uint64_t value, uint32_t most)
{
    uint32_t power = 1;
    while (power < value && power < most)
        power *= 2;
    return power;
}

/* Of a power of two. */
static inline uint32_t wfi_log2(uint32_t power)
{
    uint32_t log = 0;
    while (power >> (log + 1))
        log++;
    return log;
}

/* How many elements an array has. */
#define WFI_COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The length of each of as few columns of `planes` as are no longer than `longest`, where all but
 * the last are alike; `longest` where one column has them all, so that grids share a kernel. */
static inline uint32_t wfi_even_column(uint64_t planes, uint32_t longest)
{
    const uint64_t columns = (planes + longest - 1) / longest;
    return columns > 1 ? (uint32_t)((planes + columns - 1) / columns) : longest;
}

/* Whether `fewer` is at most nine tenths of `many`. */
static inline bool wfi_saves_a_tenth(uint64_t fewer, uint64_t many)
{
    return 10 * fewer <= 9 * many;
}

#endif
