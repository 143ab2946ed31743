// MODULE analysis_numbers
#version 450
#extension GL_GOOGLE_include_directive : require
// Writes to each word its own number: the entry of each value, where all keep their order.
#include "analysis.glsl"
layout(std430, set = 0, binding = 0) writeonly restrict buffer Words { uint words[]; };
layout(push_constant) uniform Push {
    uint count;
} push;

void main()
{
    uint i = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (i < push.count)
        words[i] = i;
}
