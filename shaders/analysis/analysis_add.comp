// MODULE analysis_add
#version 450
#extension GL_GOOGLE_include_directive : require
// Adds to each tile of analysis_scan what comes before it.
#include "analysis.glsl"
layout(std430, set = 0, binding = 0) buffer Work { uint work[]; };
layout(push_constant) uniform Push {
    uint at, count;
    uint sums_at;
} push;

const uint ITEMS = 8; // as in analysis_scan.comp

void main()
{
    uint size = gl_WorkGroupSize.x, tile = group_number(), first = tile * size * ITEMS;
    if (first >= push.count)
        return;
    uint before = work[push.sums_at + tile];
    for (uint i = gl_LocalInvocationIndex; i < size * ITEMS; i += size)
        if (first + i < push.count)
            work[push.at + first + i] += before;
}
