#include "tool/cases/random.h"

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
