// Element types of the matmul modules: ELEMENT in memory, ACC in sums, and both four at a time.
// NARROW: memory holds fewer bits than sums have, and C may be either. WHOLE: integers, whose C are
// sums. Both need storage of their width only, no arithmetic. STORED4: four elements of C where it
// is NARROW. Included before anything else, for the extensions.
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
#define STORED4 ELEMENT4
#define FROM_STORED4(x) vec4(x)
#define TO_STORED4(x) f16vec4(x)
#elif defined(WF_TYPE_BF16)
// The upper half of an f32, rounded to nearest, ties to even but for the largest.
#extension GL_EXT_shader_16bit_storage : require
#define ELEMENT uint16_t
#define ELEMENT4 u16vec4
#define ACC float
#define ACC4 vec4
#define NARROW
#define TO_ACC(x) uintBitsToFloat(uint(x) << 16)
#define TO_ACC4(x) uintBitsToFloat(uvec4(x) << 16)
// Beside a number so much larger that a sum's last place is that of a bf16, an addition rounds; it
// takes fewer operations than rounding bits does. From 2^111 on there is no such number, and half
// of the last place is added, by which ties go away from zero. Subnormals are cut off. There is no
// branch, since an H100's driver kept the sums of matrix units in memory with one
// (bench/notes/matmul-matrix-units.md#bf16-rounding).
uvec4 bf16_rounded(vec4 values)
{
    vec4 leading = uintBitsToFloat(floatBitsToUint(values) & 0xff800000u);
    bvec4 huge = greaterThanEqual(abs(leading), vec4(2.596148429267414e33));
    precise vec4 addend = leading * mix(vec4(98304.0), vec4(1.0 / 256.0), huge);
    precise vec4 rounded = (values + addend) - mix(addend, vec4(0), huge);
    return floatBitsToUint(rounded);
}
uint bf16_bits(float value)
{
    return bf16_rounded(vec4(value)).x >> 16;
}
// Two in a word.
uvec2 bf16_fours(vec4 values)
{
    uvec4 bits = bf16_rounded(values);
    return uvec2(bits.x >> 16 | bits.y & 0xffff0000u, bits.z >> 16 | bits.w & 0xffff0000u);
}
vec4 bf16_values(uvec2 pairs)
{
    return uintBitsToFloat(uvec4(pairs.x << 16, pairs.x & 0xffff0000u, pairs.y << 16,
                                 pairs.y & 0xffff0000u));
}
#define FROM_ACC(x) uint16_t(bf16_bits(x))
#define STORED4 uvec2
#define FROM_STORED4(v) bf16_values(v)
#define TO_STORED4(x) bf16_fours(x)
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
