// MODULE spmv_row_many_*
#version 450
#extension GL_GOOGLE_include_directive : require
// Several right-hand sides at once: a work-item multiplies a row with BLOCK columns of X and keeps
// their sums in registers, so that it loads an entry of A once for all of them, and elements of X
// that lie beside each other.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "spmv_problem.glsl"
layout(constant_id = SPMV_ID_VECTORS) const uint VECTORS = 1;
layout(constant_id = SPMV_ID_COLUMNS) const uint BLOCK = 4;

// The last block may have fewer columns; where none has, the question is answered at compile time.
bool there(uint vector)
{
    return VECTORS % BLOCK == 0 || vector < VECTORS;
}

void main()
{
    uint row = group_index() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (row >= push.rows)
        return;
    uint first = gl_WorkGroupID.z * BLOCK;
    REAL sums[BLOCK];
    for (uint v = 0; v < BLOCK; v++)
        sums[v] = REAL(0);
    for (uint i = pattern[row], end = pattern[row + 1]; i < end; i++) {
        REAL value = load_value(i);
        uint at = pattern[push.columns_at + i] * push.x_stride + first;
        for (uint v = 0; v < BLOCK; v++)
            if (there(first + v))
                sums[v] += value * x[at + v];
    }
    uint at = push.base_y + row * push.y_stride + first;
    for (uint v = 0; v < BLOCK; v++)
        if (there(first + v)) {
            REAL result = push.alpha * sums[v];
            if (push.beta != REAL(0))
                result += push.beta * y[at + v];
            y[at + v] = result;
        }
}
