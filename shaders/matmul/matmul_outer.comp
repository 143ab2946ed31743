// MODULE matmul_outer_*
#version 450
#extension GL_GOOGLE_include_directive : require
// Short sums: C is little more than a sum of outer products, and writing it takes most of the time.
// Each work-item keeps all of its columns of B in registers and goes down the rows of the
// work-group's tile, which lie in shared memory four steps of the sum side by side; a subgroup
// reads the same row at once, and stores neighbouring elements of C, whether its rows are vectors
// or not.
#include "matmul_types.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "matmul_problem.glsl"
layout(constant_id = MATMUL_ID_TILE_M) const uint TILE_M = 32;
layout(constant_id = MATMUL_ID_THREAD_M) const uint THREAD_M = 1; // rows of a work-item at a time
layout(constant_id = MATMUL_ID_THREAD_N) const uint THREAD_N = 1; // columns of a work-item
// Of the sum, all of them in fours. Those behind the last are zero in both operands.
layout(constant_id = MATMUL_ID_KEPT) const uint KEPT = 16;

const uint FOURS = KEPT / 4;

shared ACC4 rows_of_a[TILE_M * FOURS];

// Neighbouring work-items read neighbouring elements, whichever way A lies.
void keep_rows(uint row0)
{
    uint items = gl_WorkGroupSize.x * gl_WorkGroupSize.y;
    for (uint i = gl_LocalInvocationIndex; i < TILE_M * KEPT; i += items) {
        uint row = TRANSPOSE_A != 0 ? i % TILE_M : i / KEPT,
             k = TRANSPOSE_A != 0 ? i / TILE_M : i % KEPT;
        bool inside = row0 + row < push.m && k < push.k;
        rows_of_a[row * FOURS + k / 4][k % 4] =
            inside ? TO_ACC(a[at_a(row0 + row, k)]) : ACC(0);
    }
}

void main()
{
    uint tile = tile_index();
    if (tile >= push.tiles_m * push.tiles_n) // the same for the whole work-group
        return;
    uint width = gl_WorkGroupSize.x, row0 = tile / push.tiles_n * TILE_M,
         column0 = tile % push.tiles_n * width * THREAD_N + gl_LocalInvocationID.x;
    ACC4 columns[THREAD_N * FOURS];
    [[unroll]] for (uint j = 0; j < THREAD_N; j++)
        [[unroll]] for (uint k = 0; k < KEPT; k++)
            columns[j * FOURS + k / 4][k % 4] =
                column0 + j * width < push.n && k < push.k
                    ? TO_ACC(b[at_b(k, column0 + j * width)])
                    : ACC(0);
    keep_rows(row0);
    barrier();
    uint rows = min(TILE_M, push.m - row0);
    [[dont_unroll]] for (uint first = gl_LocalInvocationID.y * THREAD_M; first < rows;
                         first += gl_WorkGroupSize.y * THREAD_M) {
        ACC sum[THREAD_M * THREAD_N];
        [[unroll]] for (uint i = 0; i < THREAD_M * THREAD_N; i++)
            sum[i] = ACC(0);
        [[unroll]] for (uint f = 0; f < FOURS; f++)
            [[unroll]] for (uint i = 0; i < THREAD_M; i++) {
                ACC4 row = rows_of_a[(first + i) * FOURS + f];
                [[unroll]] for (uint j = 0; j < THREAD_N; j++)
                    [[unroll]] for (uint k = 0; k < 4; k++)
                        sum[i * THREAD_N + j] += row[k] * columns[j * FOURS + f][k];
            }
        [[unroll]] for (uint i = 0; i < THREAD_M; i++)
            [[unroll]] for (uint j = 0; j < THREAD_N; j++)
                if (first + i < rows && column0 + j * width < push.n)
                    store(batch_c(), row0 + first + i, column0 + j * width, sum[i * THREAD_N + j]);
    }
}
