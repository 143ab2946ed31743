// MODULE matmul_register_*
// MODULE matmul_ladder_f32 DEFINES WF_TYPE_F32 LADDER
#version 450
#extension GL_GOOGLE_include_directive : require
// Tiles of A and B in shared memory; each work-item computes THREAD_M x THREAD_N outputs, 1 x 1
// too, so that each value read from shared memory serves several multiply-adds. Two steps of the
// ladder are switches: with KEEP a row of B and a column of A are read into registers first; with
// ACROSS the tile of A is stored transposed, so that the inner loop reads along its rows.
// LADDER: the elements by which rows of tiles are longer is a constant too, and the order of tiles
// in C.
#include "matmul_types.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "matmul_problem.glsl"
layout(constant_id = MATMUL_ID_TILE_M) const uint TILE_M = 32;
layout(constant_id = MATMUL_ID_TILE_N) const uint TILE_N = 32;
layout(constant_id = MATMUL_ID_TILE_K) const uint TILE_K = 8;
layout(constant_id = MATMUL_ID_THREAD_M) const uint THREAD_M = 4;
layout(constant_id = MATMUL_ID_THREAD_N) const uint THREAD_N = 4;
layout(constant_id = MATMUL_ID_KEEP) const uint KEEP = 1;
layout(constant_id = MATMUL_ID_ACROSS) const uint ACROSS = 1;

#ifdef LADDER
layout(constant_id = MATMUL_ID_PAD) const uint PAD = 1;
layout(constant_id = MATMUL_ID_SWIZZLE) const uint SWIZZLE = 1;
#include "matmul_place.glsl"
#else
#define PAD 1
#endif

const uint THREADS_N = TILE_N / THREAD_N;
const uint THREADS_M = TILE_M / THREAD_M;
const uint THREADS = THREADS_N * THREADS_M;
// Elements from one step of the sum, and from one row, to the next in A's tile. PAD more columns
// make transposed stores go to different banks.
const uint A_STEP = ACROSS != 0 ? TILE_M + PAD : 1, A_ROW = ACROSS != 0 ? 1 : TILE_K;
const uint B_ROW = TILE_N + PAD;

shared ACC tile_a[TILE_K * (TILE_M + PAD)];
shared ACC tile_b[TILE_K * B_ROW];

// Neighbouring work-items read neighbouring elements, whichever way the matrices lie.
void load_tiles(uint row0, uint column0, uint k0)
{
    uint item = gl_LocalInvocationIndex;
    for (uint i = item; i < TILE_M * TILE_K; i += THREADS) {
        uint row = TRANSPOSE_A != 0 ? i % TILE_M : i / TILE_K;
        uint k = TRANSPOSE_A != 0 ? i / TILE_M : i % TILE_K;
        bool inside = row0 + row < push.m && k0 + k < push.k;
        tile_a[k * A_STEP + row * A_ROW] = inside ? TO_ACC(a[at_a(row0 + row, k0 + k)]) : ACC(0);
    }
    for (uint i = item; i < TILE_K * TILE_N; i += THREADS) {
        uint k = TRANSPOSE_B != 0 ? i % TILE_K : i / TILE_N;
        uint column = TRANSPOSE_B != 0 ? i / TILE_K : i % TILE_N;
        bool inside = k0 + k < push.k && column0 + column < push.n;
        tile_b[k * B_ROW + column] = inside ? TO_ACC(b[at_b(k0 + k, column0 + column)]) : ACC(0);
    }
}

void main()
{
    uint tile = tile_index();
    if (tile >= push.tiles_m * push.tiles_n) // the same for the whole work-group
        return;
#ifdef LADDER
    uvec2 place = tile_place(tile);
    uint row0 = place.x * TILE_M, column0 = place.y * TILE_N;
#else
    uint row0 = (tile / push.tiles_n) * TILE_M, column0 = (tile % push.tiles_n) * TILE_N;
#endif
    // Neighbouring work-items take neighbouring columns and rows, THREADS_N and THREADS_M apart
    // within one work-item, so that shared-memory reads of a subgroup are contiguous.
    uint my_n = gl_LocalInvocationIndex % THREADS_N, my_m = gl_LocalInvocationIndex / THREADS_N;
    ACC sum[THREAD_M * THREAD_N];
    [[unroll]] for (uint i = 0; i < THREAD_M * THREAD_N; i++)
        sum[i] = ACC(0);
    for (uint k0 = 0; k0 < push.k; k0 += TILE_K) {
        load_tiles(row0, column0, k0);
        barrier();
        for (uint k = 0; k < TILE_K; k++) {
            if (KEEP == 0) {
                [[unroll]] for (uint i = 0; i < THREAD_M; i++)
                    [[unroll]] for (uint j = 0; j < THREAD_N; j++)
                        sum[i * THREAD_N + j] +=
                            tile_a[k * A_STEP + (my_m + i * THREADS_M) * A_ROW] *
                            tile_b[k * B_ROW + my_n + j * THREADS_N];
                continue;
            }
            ACC column[THREAD_M], row[THREAD_N];
            [[unroll]] for (uint i = 0; i < THREAD_M; i++)
                column[i] = tile_a[k * A_STEP + (my_m + i * THREADS_M) * A_ROW];
            [[unroll]] for (uint j = 0; j < THREAD_N; j++)
                row[j] = tile_b[k * B_ROW + my_n + j * THREADS_N];
            [[unroll]] for (uint i = 0; i < THREAD_M; i++)
                [[unroll]] for (uint j = 0; j < THREAD_N; j++)
                    sum[i * THREAD_N + j] += column[i] * row[j];
        }
        barrier();
    }
    [[unroll]] for (uint i = 0; i < THREAD_M; i++)
        [[unroll]] for (uint j = 0; j < THREAD_N; j++) {
            uint row = row0 + my_m + i * THREADS_M, column = column0 + my_n + j * THREADS_N;
            if (row < push.m && column < push.n)
                store(batch_c(), row, column, sum[i * THREAD_N + j]);
        }
}
