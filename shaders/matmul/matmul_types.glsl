// Element types of the matmul modules: ELEMENT in memory, ACC in sums, and both four at a time.
// NARROW: memory holds fewer bits than sums have, and C may be either. WHOLE: integers, whose C are
// sums. Both need storage of their width only, no arithmetic. Included before anything else, for
// the extensions.
#extension GL_EXT_control_flow_attributes : require
#if defined(WF_TYPE_F64)
#define ELEMENT double
#define ELEMENT4 dvec4
#define ACC double
#define ACC4 dvec4
#define TO_ACC(x) (x)
#define TO_ACC4(x) (x)
#elif defined(WF_TYPE_F16)
#extension GL_EXT_shader_16bit_storage : require
#define ELEMENT float16_t
#define ELEMENT4 f16vec4
#define ACC float
#define ACC4 vec4
#define NARROW
#define TO_ACC(x) float(x)
#define TO_ACC4(x) vec4(x)
#define FROM_ACC(x) float16_t(x)
#define FROM_ACC4(x) f16vec4(x)
#elif defined(WF_TYPE_BF16)
// The upper half of an f32, rounded to nearest, ties to even.
#extension GL_EXT_shader_16bit_storage : require
#define ELEMENT uint16_t
#define ELEMENT4 u16vec4
#define ACC float
#define ACC4 vec4
#define NARROW
#define TO_ACC(x) uintBitsToFloat(uint(x) << 16)
#define TO_ACC4(x) uintBitsToFloat(uvec4(x) << 16)
uint bf16_bits(float value)
{
    uint bits = floatBitsToUint(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) // NaN must not round to infinity
        return bits >> 16 | 0x40u;
    return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}
#define FROM_ACC(x) uint16_t(bf16_bits(x))
#define FROM_ACC4(v) \
    u16vec4(uvec4(bf16_bits(v[0]), bf16_bits(v[1]), bf16_bits(v[2]), bf16_bits(v[3])))
#elif defined(WF_TYPE_I8)
#extension GL_EXT_shader_8bit_storage : require
#define ELEMENT int8_t
#define ELEMENT4 i8vec4
#define ACC int
#define ACC4 ivec4
#define WHOLE
#define TO_ACC(x) int(x)
#define TO_ACC4(x) ivec4(x)
#else
#define ELEMENT float
#define ELEMENT4 vec4
#define ACC float
#define ACC4 vec4
#define TO_ACC(x) (x)
#define TO_ACC4(x) (x)
#endif
