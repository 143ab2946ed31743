#include "tool/cases/random.h"

#include <math.h>

#include "core/element.h"

uint64_t wfi_random_bits(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void wfi_random_fill(void *data, wf_type type, size_t count, uint64_t seed)
{
    const wfi_element *element = wfi_element_of(type);
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = wfi_random_bits(&seed);
        /* 24 bits make every f32 of the range exact: both types get the same numbers. */
        const double value = (double)(bits >> 40) * 0x1p-23 - 1.0;
        wf_element_set(type, data, i, element->whole ? value * element->largest : value);
    }
}

uint64_t wfi_random_below(uint64_t *state, uint64_t n)
{
    return (wfi_random_bits(state) >> 11) % n;
}

bool wfi_random_chance(uint64_t *state, uint32_t percent)
{
    return wfi_random_below(state, 100) < percent;
}

/* Halves the range of logarithms by a random bit at a time: products and square roots are rounded
 * the same everywhere, exp and log are not. */
uint64_t wfi_random_log(uint64_t *state, uint64_t low, uint64_t high)
{
    double from = (double)low, to = (double)high + 1;
    uint64_t bits = wfi_random_bits(state);
    for (int i = 0; i < 48; i++, bits >>= 1) {
        const double middle = sqrt(from * to);
        if (bits & 1)
            from = middle;
        else
            to = middle;
    }
    const uint64_t drawn = (uint64_t)from;
    return drawn < low ? low : drawn > high ? high : drawn;
}
