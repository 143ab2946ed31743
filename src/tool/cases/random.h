/* Random inputs, the same for the same seed everywhere. */
#ifndef WFI_TOOL_CASES_RANDOM_H
#define WFI_TOOL_CASES_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wavefit/wavefit.h"

/* splitmix64 (Steele, Lea, Flood 2014). */
uint64_t wfi_random_bits(uint64_t *state);
/* Fills with values in [-1, 1), or of I8 in [-127, 127), by all of the machine's threads. */
void wfi_random_fill(void *data, wf_type type, size_t count, uint64_t seed);
/* Likewise with 1 and -1. */
void wfi_random_signs(void *data, wf_type type, size_t count, uint64_t seed);

/* A whole number from 0 to n - 1. */
uint64_t wfi_random_below(uint64_t *state, uint64_t n);
bool wfi_random_chance(uint64_t *state, uint32_t percent);
/* A whole number from low to high, whose logarithm is uniform. */
uint64_t wfi_random_log(uint64_t *state, uint64_t low, uint64_t high);

#endif
