// MODULE spmv_many_*
#version 450
#extension GL_GOOGLE_include_directive : require
// Several right-hand sides at once: neighbouring work-items take the columns of X, so that a row of
// X is read together and an entry of A once; the LANES work-items of a row add up in shared memory.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "spmv_problem.glsl"
layout(constant_id = SPMV_ID_LANES) const uint LANES = 1;
layout(constant_id = SPMV_ID_VECTORS) const uint VECTORS = 1;

shared REAL sums[gl_WorkGroupSize.x];

REAL multiply(uint row, uint lane, uint vector)
{
    REAL sum = REAL(0);
    for (uint i = pattern[row] + lane; i < pattern[row + 1]; i += LANES)
        sum += load_value(i) * x[pattern[push.columns_at + i] * push.x_stride + vector];
    return sum;
}

void main()
{
    uint item = gl_LocalInvocationIndex, vector = item % VECTORS;
    uint lane = item / VECTORS % LANES, here = item / (VECTORS * LANES);
    uint rows_a_group = gl_WorkGroupSize.x / (VECTORS * LANES);
    uint row = group_index() * rows_a_group + here;
    bool there = here < rows_a_group && row < push.rows;
    sums[item] = there ? multiply(row, lane, vector) : REAL(0);
    barrier();
    for (uint distance = LANES / 2; distance > 0; distance /= 2) {
        if (there && lane < distance)
            sums[item] += sums[item + distance * VECTORS];
        barrier();
    }
    if (!there || lane != 0)
        return;
    uint at = push.base_y + row * push.y_stride + vector;
    REAL result = push.alpha * sums[item];
    if (push.beta != REAL(0))
        result += push.beta * y[at];
    y[at] = result;
}
