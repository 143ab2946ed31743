// MODULE peaks_shared
#version 450
#extension GL_GOOGLE_include_directive : require
// Loads of one vec4 from shared memory; neighbouring work-items read neighbouring words, so that no
// banks conflict.
#include "peaks_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = PEAKS_ID_UNROLL) const uint UNROLL = 16;

layout(std430, set = 0, binding = 0) writeonly restrict buffer To { float to[]; };
layout(push_constant) uniform Push { uint loops; float scale; float shift; } push;

shared vec4 tile[512]; // 8 KiB

void main()
{
    for (uint i = gl_LocalInvocationIndex; i < 512; i += gl_WorkGroupSize.x)
        tile[i] = vec4(float(i) * push.scale + push.shift);
    barrier();
    vec4 s0 = vec4(0.0), s1 = s0, s2 = s0, s3 = s0;
    uint at = gl_LocalInvocationIndex;
    for (uint i = 0; i < push.loops; i++) {
        for (uint j = 0; j < UNROLL; j += 4) {
            s0 += tile[(at + 32 * j) & 511];
            s1 += tile[(at + 32 * j + 32) & 511];
            s2 += tile[(at + 32 * j + 64) & 511];
            s3 += tile[(at + 32 * j + 96) & 511];
        }
        at += 8;
    }
    vec4 sum = (s0 + s1) + (s2 + s3);
    // The compiler must keep the loads for this store, which never happens.
    if (sum.x + sum.y + sum.z + sum.w == -12345.0)
        to[gl_LocalInvocationIndex] = sum.x;
}
