// MODULE spmv_update_*
#version 450
#extension GL_GOOGLE_include_directive : require
// New values under the same pattern: each place of a plan's value buffer takes the caller's entry
// that its map names; padding stays a negative zero, which no entry becomes. Values are moved as
// bits.
#include "spmv_ids.h"
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

// Words of a work-item, a work-group's size apart: their loads, of which each value's waits for its
// place, are under way at once.
WORD fetch(uint entry)
{
    bool padding = entry == 0xffffffffu;
    uint at = padding ? 0 : entry + push.base;
#ifdef WF_TYPE_F16
    WORD value = (from[at >> 1] >> (16 * (at & 1))) & 65535u;
#else
    WORD value = from[at];
#endif
    return padding ? PADDING : value == PADDING ? WORD(0) : value;
}

uint entry_of(uint place)
{
    return place < push.count ? map[place] : 0xffffffffu;
}

void put(uint place, WORD word)
{
#ifdef WF_TYPE_F16
    if (place < (push.count + 1) / 2)
#else
    if (place < push.count)
#endif
        to[place] = word;
}

void main()
{
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint size = gl_WorkGroupSize.x;
    uint at = group * SPMV_UPDATE_WORDS * size + gl_LocalInvocationIndex;
    uvec4 word = at + size * uvec4(0, 1, 2, 3);
#ifdef WF_TYPE_F16
    uvec4 low = uvec4(entry_of(2 * word.x), entry_of(2 * word.y), entry_of(2 * word.z),
                      entry_of(2 * word.w));
    uvec4 high = uvec4(entry_of(2 * word.x + 1), entry_of(2 * word.y + 1),
                       entry_of(2 * word.z + 1), entry_of(2 * word.w + 1));
    WORD a = fetch(low.x) | fetch(high.x) << 16, b = fetch(low.y) | fetch(high.y) << 16,
         c = fetch(low.z) | fetch(high.z) << 16, d = fetch(low.w) | fetch(high.w) << 16;
#else
    uvec4 entry = uvec4(entry_of(word.x), entry_of(word.y), entry_of(word.z), entry_of(word.w));
    WORD a = fetch(entry.x), b = fetch(entry.y), c = fetch(entry.z), d = fetch(entry.w);
#endif
    put(word.x, a);
    put(word.y, b);
    put(word.z, c);
    put(word.w, d);
}
