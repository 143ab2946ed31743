// Where entries or, with VALUES, values go; alike for all formats of slices and blocks.
layout(constant_id = 3) const uint IN_PAIRS = 0; // 1: f64, whose values stand two by two
layout(std430, set = 0, binding = 3) restrict buffer Out { uint words[]; };
#ifdef VALUES
#include "analysis_value.glsl"
#endif

uint value_place(uint load, uint slot, uint lane)
{
    return IN_PAIRS != 0 ? ((load * 2 + slot / 2) * SIZE + lane) * 2 + slot % 2
                         : (load * SIZE + lane) * 4 + slot;
}

// Writes what stands in a slot of this lane; slots are written in order.
uint half_before; // the value of the even slot before
void put(uint load, uint slot, uint entry)
{
    uint at = value_place(load, slot, LANE);
#if !defined(VALUES)
    words[at] = entry;
#elif defined(WF_TYPE_F64)
    uvec2 value = value_of(entry);
    words[2 * at] = value.x;
    words[2 * at + 1] = value.y;
#elif defined(WF_TYPE_F16)
    uint value = value_of(entry);
    if ((slot & 1) == 0)
        half_before = value;
    else
        words[at >> 1] = half_before | value << 16;
#else
    words[at] = value_of(entry);
#endif
}
