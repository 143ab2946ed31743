// MODULE spmv_scale_*
#version 450
#extension GL_GOOGLE_include_directive : require
// Makes y beta y, or 0 where beta is 0, before the atomic variant adds to it.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "spmv_problem.glsl"

void main()
{
    uint row = group_index() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (row < push.rows)
        put_y(row, REAL(0));
}
