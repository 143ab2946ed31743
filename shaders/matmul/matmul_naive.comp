// MODULE matmul_naive_*
#version 450
#extension GL_GOOGLE_include_directive : require
// One work-item an output element, everything read from memory.
#include "matmul_types.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "matmul_problem.glsl"

void main()
{
    uint tile = tile_index();
    uint column = (tile % push.tiles_n) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    uint row = (tile / push.tiles_n) * gl_WorkGroupSize.y + gl_LocalInvocationID.y;
    if (tile >= push.tiles_m * push.tiles_n || row >= push.m || column >= push.n)
        return;
    ACC sum = ACC(0);
    for (uint i = 0; i < push.k; i++)
        sum += TO_ACC(a[at_a(row, i)]) * TO_ACC(b[at_b(i, column)]);
    store(batch_c(), row, column, sum);
}
