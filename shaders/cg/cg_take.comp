// MODULE cg_take_*
#version 450
#extension GL_GOOGLE_include_directive : require
// Takes b, and x where the solve begins from it, from the application's buffers.
#include "common/real.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(std430, set = 0, binding = 0) writeonly restrict buffer A { REAL a[]; }; // x, r, p
layout(std430, set = 0, binding = 1) readonly buffer Given { REAL given[]; };
layout(std430, set = 0, binding = 2) readonly buffer Start { REAL start[]; };
layout(push_constant) uniform Push { uint flags, count, stride, block, groups; } push;

void main()
{
    for (uint i = gl_GlobalInvocationID.x; i < push.count; i += push.groups * gl_WorkGroupSize.x) {
        a[i] = (push.flags & 1) != 0 ? start[i] : REAL(0);
        a[push.stride + i] = given[i];
    }
}
