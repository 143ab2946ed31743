// MODULE peaks_shuffle
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_shuffle : require
// Independent chains of exchanges of one 32-bit word within the subgroup. The compiler does not
// know the partner.
#include "peaks_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = PEAKS_ID_UNROLL) const uint UNROLL = 16;

layout(std430, set = 0, binding = 0) writeonly restrict buffer To { float to[]; };
layout(push_constant) uniform Push { uint loops; uint mask; uint start; } push;

void main()
{
    uint c0 = push.start + gl_LocalInvocationIndex, c1 = c0 * 3, c2 = c0 * 5, c3 = c0 * 7;
    for (uint i = 0; i < push.loops; i++)
        for (uint j = 0; j < UNROLL; j++) {
            c0 = subgroupShuffleXor(c0, push.mask) + 1;
            c1 = subgroupShuffleXor(c1, push.mask) + 1;
            c2 = subgroupShuffleXor(c2, push.mask) + 1;
            c3 = subgroupShuffleXor(c3, push.mask) + 1;
        }
    uint sum = c0 + c1 + c2 + c3;
    if (sum == 0x87654321u)
        to[gl_LocalInvocationIndex] = float(sum);
}
