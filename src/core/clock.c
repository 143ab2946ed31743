#include "core/clock.h"

uint64_t wfi_ticks_between(uint64_t begin, uint64_t end, uint32_t valid_bits)
{
    const uint64_t mask = valid_bits >= 64 ? UINT64_MAX : (UINT64_C(1) << valid_bits) - 1;
    return (end - begin) & mask;
}

void wfi_lap(double *at, double *to)
{
    const double now = wfi_host_seconds();
    *to += now - *at;
    *at = now;
}
