// MODULE cg_refine
#version 450
#extension GL_GOOGLE_include_directive : require
// r = b - A x, with b, A and x in double-single and r in f32; one work-item a row.
#include "double_single.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(std430, set = 0, binding = 0) readonly restrict buffer Pattern { uint pattern[]; };
layout(std430, set = 0, binding = 1) readonly restrict buffer Values { vec2 values[]; };
layout(std430, set = 0, binding = 2) readonly restrict buffer Vectors { vec2 vectors[]; }; // x, b
layout(std430, set = 0, binding = 3) writeonly restrict buffer R { float r[]; };
layout(push_constant) uniform Push { uint rows; } push;

void main()
{
    uint row = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x +
               gl_LocalInvocationIndex;
    if (row >= push.rows)
        return;
    vec2 sum = vectors[push.rows + row];
    for (uint i = pattern[row]; i < pattern[row + 1]; i++)
        sum = ds_add(sum, ds_multiply(-values[i], vectors[pattern[push.rows + 1 + i]]));
    r[row] = sum.x;
}
