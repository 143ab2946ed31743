// MODULE spmv_atomic_* TYPES f32 f16
#version 450
#extension GL_GOOGLE_include_directive : require
// LANES work-items a row, each adding its sum to y atomically, in whatever order they come: the
// bits of y may differ from run to run.
#define Y_AS_BITS
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "spmv_problem.glsl"
layout(constant_id = SPMV_ID_LANES) const uint LANES = 4;

void main()
{
    uint item = gl_LocalInvocationIndex;
    uint row = group_index() * (gl_WorkGroupSize.x / LANES) + item / LANES;
    if (row >= push.rows)
        return;
    uint begin = pattern[row] + item % LANES, end = pattern[row + 1];
    if (begin >= end)
        return;
    REAL sum = push.alpha * partial_sum(begin, end, LANES);
    uint at = place_of_y(row), before = y[at], seen;
    do {
        seen = before;
        before = atomicCompSwap(y[at], seen, floatBitsToUint(uintBitsToFloat(seen) + sum));
    } while (before != seen);
}
