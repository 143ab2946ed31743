// MODULE spmv_row_*
#version 450
#extension GL_GOOGLE_include_directive : require
// Each work-item multiplies one row.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "spmv_problem.glsl"

void main()
{
    uint row = group_index() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (row < push.rows)
        put_y(row, partial_sum(pattern[row], pattern[row + 1], 1));
}
