// MODULE spmv_update_*
#version 450
// New values under the same pattern: each place of a plan's value buffer takes the caller's entry
// that its map names; padding stays a negative zero, which no entry becomes. Values are moved as
// bits.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#if defined(WF_TYPE_F64)
#define WORD uvec2
const WORD PADDING = uvec2(0u, 0x80000000u);
#elif defined(WF_TYPE_F16)
#define WORD uint
const WORD PADDING = 0x8000u;
#else
#define WORD uint
const WORD PADDING = 0x80000000u;
#endif
layout(std430, set = 0, binding = 0) readonly restrict buffer From { WORD from[]; };
layout(std430, set = 0, binding = 1) writeonly restrict buffer To { WORD to[]; };
layout(std430, set = 0, binding = 2) readonly restrict buffer Map { uint map[]; };
layout(push_constant) uniform Push {
    uint count; // places
    uint base;  // entries between the binding's begin and the first one
} push;

#ifdef WF_TYPE_F16
uint fetch(uint place)
{
    uint entry = place < push.count ? map[place] : 0xffffffffu;
    if (entry == 0xffffffffu)
        return PADDING;
    entry += push.base;
    uint value = (from[entry >> 1] >> (16 * (entry & 1))) & 65535u;
    return value == PADDING ? 0u : value;
}
#else
WORD fetch(uint place)
{
    uint entry = map[place];
    if (entry == 0xffffffffu)
        return PADDING;
    WORD value = from[entry + push.base];
    return value == PADDING ? WORD(0) : value;
}
#endif

void main()
{
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint at = group * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
#ifdef WF_TYPE_F16
    if (at * 2 < push.count)
        to[at] = fetch(2 * at) | fetch(2 * at + 1) << 16;
#else
    if (at < push.count)
        to[at] = fetch(at);
#endif
}
