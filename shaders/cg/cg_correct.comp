// MODULE cg_correct
#version 450
#extension GL_GOOGLE_include_directive : require
// x += scale d in double-single.
#include "double_single.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(std430, set = 0, binding = 0) restrict buffer Vectors { vec2 vectors[]; }; // x, b
layout(std430, set = 0, binding = 1) readonly restrict buffer D { float d[]; };
layout(std430, set = 0, binding = 2) readonly restrict buffer Scale { vec2 scale; };
layout(push_constant) uniform Push { uint rows; } push;

void main()
{
    uint row = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x +
               gl_LocalInvocationIndex;
    if (row < push.rows)
        vectors[row] = ds_add(vectors[row], ds_multiply(scale, vec2(d[row], 0)));
}
