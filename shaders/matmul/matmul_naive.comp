#version 450
#extension GL_GOOGLE_include_directive : require
// One work-item an output element, everything read from memory.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "matmul_problem.glsl"

void main()
{
    uint tile = tile_index();
    uint column = (tile % push.tiles_n) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    uint row = (tile / push.tiles_n) * gl_WorkGroupSize.y + gl_LocalInvocationID.y;
    if (tile >= push.tiles || row >= push.m || column >= push.n)
        return;
    float sum = 0.0;
    for (uint i = 0; i < push.k; i++)
        sum += a[push.base_a + row * push.lda + i] * b[push.base_b + i * push.ldb + column];
    store(row, column, sum);
}
