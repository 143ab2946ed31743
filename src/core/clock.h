/* Time: the host's clock, and ticks of GPU timestamps. */
#ifndef WFI_CORE_CLOCK_H
#define WFI_CORE_CLOCK_H

#include <stdint.h>

#include "core/platform.h"

/* Adds the seconds since *at to *to, and sets *at to now. */
void wfi_lap(double *at, double *to);

/* Ticks from `begin` to `end` on a counter of `valid_bits` bits that may have wrapped once. */
uint64_t wfi_ticks_between(uint64_t begin, uint64_t end, uint32_t valid_bits);

#endif
