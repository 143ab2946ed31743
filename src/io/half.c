#include "io/half.h"

#include <math.h>

double wfi_half_to_double(uint16_t half)
{
    const int exponent = (half >> 10) & 0x1f;
    const double fraction = half & 0x3ff, sign = half & 0x8000 ? -1.0 : 1.0;
    if (exponent == 0x1f)
        return fraction != 0 ? (double)NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, -24);
    return sign * ldexp(1024 + fraction, exponent - 25);
}

uint16_t wfi_double_to_half(double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double magnitude = fabs(value);
    int exponent;
    if (isnan(value))
        return sign | 0x7e00;
    if (magnitude >= 65520) /* half way to the next after 65504 */
        return sign | 0x7c00;
    frexp(magnitude, &exponent); /* magnitude in [2^(exponent-1), 2^exponent) */
    /* The last place: 2^-24 for subnormals, else 10 bits below the leading one. */
    const int last = exponent - 11 < -24 || magnitude == 0 ? -24 : exponent - 11;
    const uint32_t units = (uint32_t)nearbyint(ldexp(magnitude, -last));
    /* Units that round up to the next power of two carry into the exponent by themselves. */
    return (uint16_t)(sign + units + ((uint32_t)(last + 24) << 10));
}
