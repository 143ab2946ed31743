/* Whole numbers that sizes are made of. */
#ifndef WFI_CORE_ARITHMETIC_H
#define WFI_CORE_ARITHMETIC_H

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

/* The length of each of as few pieces of `count` as are no longer than `longest`, where all but the
 * last are alike. */
static inline uint64_t wfi_even_length(uint64_t count, uint64_t longest)
{
    const uint64_t pieces = (count + longest - 1) / longest;
    return (count + pieces - 1) / pieces;
}

#endif
