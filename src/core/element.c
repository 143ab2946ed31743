/* The element types: names, sizes, the features that they need, and conversion to f64 and back. */
#include "core/element.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/bfloat16.h"

/* IEEE 754 binary16. Exponent and fraction moved to where f32 has them are too small by 2^112;
 * infinity and NaN have another exponent there. */
static double half_to_double(uint16_t half)
{
    const uint32_t bits = (uint32_t)(half & 0x7fff) << 13;
    const double sign = half & 0x8000 ? -1.0 : 1.0;
    float value;
    if ((half & 0x7c00) == 0x7c00)
        return half & 0x3ff ? (double)NAN : sign * INFINITY;
    memcpy(&value, &bits, sizeof value);
    return sign * (double)value * 0x1p112;
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
#define CONVERSION(name, stored_type, to_double, from_double)                                      \
    static double get_##name(const void *at)                                                       \
    {                                                                                              \
        stored_type element;                                                                       \
        memcpy(&element, at, sizeof element);                                                      \
        return to_double(element);                                                                 \
    }                                                                                              \
    static void set_##name(void *at, double value)                                                 \
    {                                                                                              \
        const stored_type element = from_double(value);                                            \
        memcpy(at, &element, sizeof element);                                                      \
    }                                                                                              \
    static void read_##name(const void *data, uint64_t first, uint64_t step, uint64_t count,       \
                            double *out)                                                           \
    {                                                                                              \
        const char *at = (const char *)data + first * sizeof(stored_type);                         \
        for (uint64_t i = 0; i < count; i++, at += step * sizeof(stored_type))                     \
            out[i] = get_##name(at);                                                               \
    }

CONVERSION(f32, float, (double), (float))
CONVERSION(f64, double, , )
CONVERSION(f16, uint16_t, half_to_double, double_to_half)
CONVERSION(bf16, uint16_t, bfloat_to_double, double_to_bfloat)
CONVERSION(i8, int8_t, (double), double_to_int8)

static bool f64_stored(const wf_caps *caps)
{
    return caps->f64;
}

static bool f16_stored(const wf_caps *caps)
{
    return caps->f16_storage;
}

static bool i8_stored(const wf_caps *caps)
{
    return caps->int8_storage;
}

static bool f16_multiplied(const wf_caps *caps)
{
    return caps->f16_arithmetic && caps->f16_storage;
}

static bool bf16_multiplied(const wf_caps *caps)
{
    return caps->bf16 && caps->bf16_cooperative;
}

static bool i8_multiplied(const wf_caps *caps)
{
    return caps->int8_arithmetic;
}

#define ACCESS(type) .get = get_##type, .set = set_##type, .read = read_##type

static const wfi_element elements[WF_TYPE_COUNT] = {
    [WF_TYPE_F32] = {.name = "f32",
                     .size = 4,
                     ACCESS(f32),
                     .real = WF_TYPE_F32,
                     .sum_size = 4,
                     .largest = INFINITY,
                     .numpy = "<f4", /* two f16 on matrix units */
                     .component = VK_COMPONENT_TYPE_FLOAT16_KHR,
                     .multiplied = f16_multiplied},
    [WF_TYPE_F64] = {.name = "f64",
                     .size = 8,
                     .stored = f64_stored,
                     .feature = WF_WITHHELD_F64,
                     ACCESS(f64),
                     .real = WF_TYPE_F64,
                     .sum_size = 8,
                     .largest = INFINITY,
                     .numpy = "<f8"},
    [WF_TYPE_F16] = {.name = "f16",
                     .size = 2,
                     .stored = f16_stored,
                     .feature = WF_WITHHELD_F16_STORAGE,
                     ACCESS(f16),
                     .real = WF_TYPE_F32,
                     .sum_size = 4,
                     .rounding = 0x1p-10,
                     .underflow = 0x1p-14,
                     .largest = 65504,
                     .numpy = "<f2",
                     .component = VK_COMPONENT_TYPE_FLOAT16_KHR,
                     .ceilings = {"matrix_f16_f32"},
                     .multiplied = f16_multiplied},
    [WF_TYPE_BF16] = {.name = "bf16",
                      .size = 2,
                      .stored = f16_stored,
                      .feature = WF_WITHHELD_F16_STORAGE,
                      ACCESS(bf16),
                      .real = WF_TYPE_F32,
                      .sum_size = 4,
                      .rounding = 0x1p-8,
                      .underflow = (double)FLT_MIN,
                      .largest = INFINITY,
                      .component = WFI_COMPONENT_BFLOAT16,
                      .ceilings = {"matrix_bf16"},
                      .multiplied = bf16_multiplied},
    [WF_TYPE_I8] = {.name = "i8",
                    .size = 1,
                    .stored = i8_stored,
                    .feature = WF_WITHHELD_INT8,
                    ACCESS(i8),
                    .whole = true,
                    .real = WF_TYPE_F64,
                    .sum_size = 4,
                    .largest = 127,
                    .numpy = "|i1",
                    .component = VK_COMPONENT_TYPE_SINT8_KHR,
                    .ceilings = {"dot_i8", "matrix_i8"},
                    .multiplied = i8_multiplied},
};

const wfi_element *wfi_element_of(wf_type type)
{
    return (unsigned)type < WF_TYPE_COUNT ? &elements[type] : NULL;
}

size_t wf_type_size(wf_type type)
{
    const wfi_element *element = wfi_element_of(type);
    return element ? element->size : 0;
}

const char *wf_type_name(wf_type type)
{
    const wfi_element *element = wfi_element_of(type);
    return element ? element->name : "?";
}

double wf_element_get(wf_type type, const void *data, uint64_t index)
{
    const wfi_element *element = wfi_element_of(type);
    return element ? element->get((const char *)data + index * element->size) : (double)NAN;
}

void wf_element_set(wf_type type, void *data, uint64_t index, double value)
{
    const wfi_element *element = wfi_element_of(type);
    if (element)
        element->set((char *)data + index * element->size, value);
}
