/* Elements of every type as f64 and back. */
#include <math.h>
#include <string.h>

#include "wavefit/wavefit.h"

/* IEEE 754 binary16. */
static double half_to_double(uint16_t half)
{
    const int exponent = (half >> 10) & 0x1f;
    const double fraction = half & 0x3ff, sign = half & 0x8000 ? -1.0 : 1.0;
    if (exponent == 0x1f)
        return fraction != 0 ? (double)NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, -24);
    return sign * ldexp(1024 + fraction, exponent - 25);
}

static uint16_t double_to_half(double value)
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

/* bfloat16 is the upper half of an f32. */
static double bfloat_to_double(uint16_t bfloat)
{
    const uint32_t bits = (uint32_t)bfloat << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* The f64 is rounded to odd in f32 first, so that the second rounding, to bfloat16, gives what a
 * single one would. */
static uint16_t double_to_bfloat(double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    if (isnan(value))
        return (uint16_t)(bits >> 16 | 0x40);
    if ((double)single != value && isfinite(single)) {
        if (fabs((double)single) > fabs(value))
            bits--;
        bits |= 1;
    }
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static int8_t double_to_int8(double value)
{
    const double rounded = isnan(value) ? 0 : nearbyint(value);
    return rounded < -128 ? -128 : rounded > 127 ? 127 : (int8_t)rounded;
}

/* Elements are copied, since callers keep elements of several types in one array, whose declared
 * type need not be any of them. */
double wf_element_get(wf_type type, const void *data, uint64_t index)
{
    const char *at = (const char *)data + index * wf_type_size(type);
    float f32;
    double f64;
    uint16_t bits;
    int8_t i8;
    switch (type) {
    case WF_TYPE_F32:
        memcpy(&f32, at, sizeof f32);
        return (double)f32;
    case WF_TYPE_F64:
        memcpy(&f64, at, sizeof f64);
        return f64;
    case WF_TYPE_F16:
        memcpy(&bits, at, sizeof bits);
        return half_to_double(bits);
    case WF_TYPE_BF16:
        memcpy(&bits, at, sizeof bits);
        return bfloat_to_double(bits);
    case WF_TYPE_I8:
        memcpy(&i8, at, sizeof i8);
        return i8;
    default:
        return (double)NAN;
    }
}

void wf_element_set(wf_type type, void *data, uint64_t index, double value)
{
    char *at = (char *)data + index * wf_type_size(type);
    float f32;
    uint16_t bits;
    int8_t i8;
    switch (type) {
    case WF_TYPE_F32:
        f32 = (float)value;
        memcpy(at, &f32, sizeof f32);
        break;
    case WF_TYPE_F64:
        memcpy(at, &value, sizeof value);
        break;
    case WF_TYPE_F16:
        bits = double_to_half(value);
        memcpy(at, &bits, sizeof bits);
        break;
    case WF_TYPE_BF16:
        bits = double_to_bfloat(value);
        memcpy(at, &bits, sizeof bits);
        break;
    case WF_TYPE_I8:
        i8 = double_to_int8(value);
        memcpy(at, &i8, sizeof i8);
        break;
    default:
        break;
    }
}
