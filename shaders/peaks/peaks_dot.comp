// MODULE peaks_dot REQUIRES integer_dot
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_integer_dot_product : require
// Independent chains of dot products of four 8-bit integers, each added to a 32-bit sum.
#include "peaks_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = PEAKS_ID_UNROLL) const uint UNROLL = 16;

layout(std430, set = 0, binding = 0) writeonly restrict buffer To { float to[]; };
layout(push_constant) uniform Push { uint loops; int factor; int start; } push;

void main()
{
    int c0 = push.start + int(gl_LocalInvocationIndex);
    int c1 = c0 + 1, c2 = c0 + 2, c3 = c0 + 3, c4 = c0 + 4, c5 = c0 + 5, c6 = c0 + 6, c7 = c0 + 7;
    for (uint i = 0; i < push.loops; i++)
        for (uint j = 0; j < UNROLL; j++) {
            // Each sum is the next one's factor, so that nothing can be computed in advance.
            c0 += dotPacked4x8EXT(c0, push.factor); c1 += dotPacked4x8EXT(c1, push.factor);
            c2 += dotPacked4x8EXT(c2, push.factor); c3 += dotPacked4x8EXT(c3, push.factor);
            c4 += dotPacked4x8EXT(c4, push.factor); c5 += dotPacked4x8EXT(c5, push.factor);
            c6 += dotPacked4x8EXT(c6, push.factor); c7 += dotPacked4x8EXT(c7, push.factor);
        }
    int sum = c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7;
    if (sum == -123456789)
        to[gl_LocalInvocationIndex] = float(sum);
}
