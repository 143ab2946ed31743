#version 450
#extension GL_GOOGLE_include_directive : require
// As spmv_lanes, for devices without subgroup shuffles: the lanes of a row, here any number up to
// the work-group, add up by a tree in shared memory.
#include "spmv_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = SPMV_ID_LANES) const uint LANES = 4;
#include "spmv_problem.glsl"

shared REAL sums[gl_WorkGroupSize.x];

void main()
{
    uint item = gl_LocalInvocationIndex;
    uint row = group_index() * (gl_WorkGroupSize.x / LANES) + item / LANES;
    uint lane = item % LANES;
    REAL sum = REAL(0);
    if (row < push.rows)
        sum = partial_sum(pattern[row] + lane, pattern[row + 1], LANES);
    sums[item] = sum;
    barrier();
    for (uint distance = LANES / 2; distance > 0; distance /= 2) {
        if (lane < distance)
            sums[item] += sums[item + distance];
        barrier();
    }
    if (row < push.rows && lane == 0)
        y[push.base_y + row] = sums[item];
}
