// The values of entries, as formats keep them. Padding is a negative zero, which no entry is kept
// as (spmv_padding.glsl).
layout(std430, set = 0, binding = 4) readonly restrict buffer Values { uint values[]; };

#if defined(WF_TYPE_F64)
uvec2 value_of(uint entry)
{
    uvec2 value = uvec2(0, 0x80000000u);
    if (entry != NONE) {
        value = uvec2(values[2 * entry], values[2 * entry + 1]);
        value = value == uvec2(0, 0x80000000u) ? uvec2(0) : value;
    }
    return value;
}
#elif defined(WF_TYPE_F16)
uint value_of(uint entry) // in the low half
{
    uint value = 0x8000u;
    if (entry != NONE) {
        value = (values[entry >> 1] >> (16 * (entry & 1))) & 65535u;
        value = value == 0x8000u ? 0 : value;
    }
    return value;
}
#else
uint value_of(uint entry)
{
    uint value = 0x80000000u;
    if (entry != NONE) {
        value = values[entry];
        value = value == 0x80000000u ? 0 : value;
    }
    return value;
}
#endif
