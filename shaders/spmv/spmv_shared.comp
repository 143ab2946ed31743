// MODULE spmv_shared_*
// MODULE spmv_plain_* DEFINES PLAIN
// MODULE spmv_texel_* DEFINES TEXEL
// MODULE spmv_listed_* DEFINES LISTED
#version 450
#extension GL_GOOGLE_include_directive : require
// The work-items of a row, as many as LANES, add up by a tree in shared memory. LISTED:
// rows come from a list (variant adaptive). TEXEL: x is read through a uniform texel buffer. PLAIN:
// the buffers are not declared read-only or restrict.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "spmv_problem.glsl"
layout(constant_id = SPMV_ID_LANES) const uint LANES = 4;

shared REAL sums[gl_WorkGroupSize.x];

void main()
{
    uint item = gl_LocalInvocationIndex;
    uint row = group_index() * (gl_WorkGroupSize.x / LANES) + item / LANES;
    uint lane = item % LANES;
    bool there = row < push.rows;
#ifdef LISTED
    if (there)
        row = pattern[push.more + row];
#endif
    REAL sum = REAL(0);
    if (there)
        sum = partial_sum(pattern[row] + lane, pattern[row + 1], LANES);
    sums[item] = sum;
    barrier();
    for (uint distance = LANES / 2; distance > 0; distance /= 2) {
        if (lane < distance)
            sums[item] += sums[item + distance];
        barrier();
    }
    if (there && lane == 0)
        put_y(row, sums[item]);
}
