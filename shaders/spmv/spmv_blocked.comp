// MODULE spmv_blocked_*
#version 450
#extension GL_GOOGLE_include_directive : require
// Blocks of BLOCK x BLOCK values with one column index each, LANES work-items a row of blocks. A
// block has padding where there is no entry; a column of it beyond the matrix's last one reads x at
// the last one.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "spmv_problem.glsl"
layout(constant_id = SPMV_ID_LANES) const uint LANES = 4;
layout(constant_id = SPMV_ID_BLOCK) const uint BLOCK = 2;

shared REAL sums[gl_WorkGroupSize.x * BLOCK];

#include "spmv_padding.glsl"

void multiply(uint block_row, uint lane, inout REAL sum[BLOCK])
{
    for (uint i = pattern[block_row] + lane; i < pattern[block_row + 1]; i += LANES) {
        uint column = pattern[push.columns_at + i] * BLOCK;
        for (uint c = 0; c < BLOCK; c++) {
            REAL here = load_x(min(column + c, push.more - 1));
            for (uint r = 0; r < BLOCK; r++)
                sum[r] += product_of(load_value((i * BLOCK + r) * BLOCK + c), here);
        }
    }
}

void main()
{
    uint item = gl_LocalInvocationIndex, lane = item % LANES;
    uint block_row = group_index() * (gl_WorkGroupSize.x / LANES) + item / LANES;
    REAL sum[BLOCK];
    for (uint r = 0; r < BLOCK; r++)
        sum[r] = REAL(0);
    if (block_row * BLOCK < push.rows)
        multiply(block_row, lane, sum);
    for (uint r = 0; r < BLOCK; r++)
        sums[item * BLOCK + r] = sum[r];
    barrier();
    for (uint distance = LANES / 2; distance > 0; distance /= 2) {
        for (uint r = 0; r < BLOCK && lane < distance; r++)
            sums[item * BLOCK + r] += sums[(item + distance) * BLOCK + r];
        barrier();
    }
    for (uint r = 0; r < BLOCK && lane == 0; r++)
        if (block_row * BLOCK + r < push.rows)
            put_y(block_row * BLOCK + r, sums[item * BLOCK + r]);
}
