#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// As matmul_register, four elements at a time: vec4 loads of shared memory (and of the operands, with WIDE), two
// tiles of each operand in shared memory so that the next is fetched while this one is used (one
// barrier a tile), and each work-item's outputs in blocks of four, a tile apart, so that the vec4
// reads of a subgroup are contiguous.
#include "matmul_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = MATMUL_ID_TILE_M) const uint TILE_M = 64;
layout(constant_id = MATMUL_ID_TILE_N) const uint TILE_N = 64;
layout(constant_id = MATMUL_ID_TILE_K) const uint TILE_K = 8;
layout(constant_id = MATMUL_ID_THREAD_M) const uint THREAD_M = 8;
layout(constant_id = MATMUL_ID_THREAD_N) const uint THREAD_N = 8;
// 1: memory moves as vec4; every row of A, B and C must begin at a multiple of 16 bytes
layout(constant_id = MATMUL_ID_WIDE) const uint WIDE = 0;
#define MATMUL_NO_RESTRICT
#include "matmul_problem.glsl"
// The same buffers as vec4.
layout(std430, set = 0, binding = 0) readonly buffer A4 { vec4 a4[]; };
layout(std430, set = 0, binding = 1) readonly buffer B4 { vec4 b4[]; };
layout(std430, set = 0, binding = 2) buffer C4 { vec4 c4[]; };

const uint BLOCKS_M = THREAD_M / 4, BLOCKS_N = THREAD_N / 4;
const uint THREADS_M = TILE_M / THREAD_M, THREADS_N = TILE_N / THREAD_N;
const uint THREADS = THREADS_M * THREADS_N;
// In vec4: rows of the tiles, and how many a work-item fetches.
const uint A_ROW = TILE_M / 4 + 1, B_ROW = TILE_N / 4;
const uint A_FETCH = (TILE_M * TILE_K / 4 + THREADS - 1) / THREADS;
const uint B_FETCH = (TILE_N * TILE_K / 4 + THREADS - 1) / THREADS;

shared vec4 tile_a[2 * TILE_K * A_ROW]; // transposed: [k][row / 4], components along rows
shared vec4 tile_b[2 * TILE_K * B_ROW]; // [k][column / 4]

vec4 fetched_a[A_FETCH], fetched_b[B_FETCH];

vec4 load_a(uint row, uint k)
{
    if (row >= push.m)
        return vec4(0.0);
    uint at = push.base_a + row * push.lda + k;
    if (WIDE != 0)
        return k < push.k ? a4[at / 4] : vec4(0.0);
    return vec4(k < push.k ? a[at] : 0.0, k + 1 < push.k ? a[at + 1] : 0.0,
                k + 2 < push.k ? a[at + 2] : 0.0, k + 3 < push.k ? a[at + 3] : 0.0);
}

vec4 load_b(uint k, uint column)
{
    if (k >= push.k)
        return vec4(0.0);
    uint at = push.base_b + k * push.ldb + column;
    if (WIDE != 0)
        return column < push.n ? b4[at / 4] : vec4(0.0);
    return vec4(column < push.n ? b[at] : 0.0, column + 1 < push.n ? b[at + 1] : 0.0,
                column + 2 < push.n ? b[at + 2] : 0.0, column + 3 < push.n ? b[at + 3] : 0.0);
}

void fetch(uint row0, uint column0, uint k0)
{
    [[unroll]] for (uint n = 0; n < A_FETCH; n++) {
        uint i = gl_LocalInvocationIndex + n * THREADS;
        if (i < TILE_M * TILE_K / 4)
            fetched_a[n] = load_a(row0 + i / (TILE_K / 4), k0 + i % (TILE_K / 4) * 4);
    }
    [[unroll]] for (uint n = 0; n < B_FETCH; n++) {
        uint i = gl_LocalInvocationIndex + n * THREADS;
        if (i < TILE_N * TILE_K / 4)
            fetched_b[n] = load_b(k0 + i / B_ROW, column0 + i % B_ROW * 4);
    }
}

void keep(uint half_)
{
    [[unroll]] for (uint n = 0; n < A_FETCH; n++) {
        uint i = gl_LocalInvocationIndex + n * THREADS;
        uint row = i / (TILE_K / 4), k = half_ * TILE_K + i % (TILE_K / 4) * 4;
        if (i < TILE_M * TILE_K / 4) {
            [[unroll]] for (uint j = 0; j < 4; j++)
                tile_a[(k + j) * A_ROW + row / 4][row % 4] = fetched_a[n][j];
        }
    }
    [[unroll]] for (uint n = 0; n < B_FETCH; n++) {
        uint i = gl_LocalInvocationIndex + n * THREADS;
        if (i < TILE_N * TILE_K / 4)
            tile_b[half_ * TILE_K * B_ROW + i] = fetched_b[n];
    }
}

void store4(uint row, uint column, vec4 value)
{
    if (row >= push.m)
        return;
    if (WIDE != 0) {
        uint at = (push.base_c + row * push.ldc + column) / 4;
        if (column < push.n)
            c4[at] = push.accumulate != 0 ? c4[at] + value : value;
        return;
    }
    [[unroll]] for (uint j = 0; j < 4; j++)
        if (column + j < push.n)
            store(row, column + j, value[j]);
}

void main()
{
    uint tile = tile_index();
    if (tile >= push.tiles) // the same for the whole work-group
        return;
    uint row0 = (tile / push.tiles_n) * TILE_M, column0 = (tile % push.tiles_n) * TILE_N;
    uint my_n = gl_LocalInvocationIndex % THREADS_N, my_m = gl_LocalInvocationIndex / THREADS_N;
    vec4 sum[THREAD_M * BLOCKS_N];
    [[unroll]] for (uint i = 0; i < THREAD_M * BLOCKS_N; i++)
        sum[i] = vec4(0.0);
    fetch(row0, column0, 0);
    keep(0);
    uint half_ = 0;
    for (uint k0 = 0; k0 < push.k; k0 += TILE_K) {
        barrier(); // this half is filled, and the other is no longer read
        bool more = k0 + TILE_K < push.k;
        if (more)
            fetch(row0, column0, k0 + TILE_K);
        [[unroll]] for (uint k = 0; k < TILE_K; k++) {
            uint at = half_ * TILE_K + k;
            vec4 column[BLOCKS_M], row[BLOCKS_N];
            [[unroll]] for (uint i = 0; i < BLOCKS_M; i++)
                column[i] = tile_a[at * A_ROW + my_m + i * THREADS_M];
            [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
                row[j] = tile_b[at * B_ROW + my_n + j * THREADS_N];
            [[unroll]] for (uint i = 0; i < THREAD_M; i++)
                [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
                    sum[i * BLOCKS_N + j] += column[i / 4][i % 4] * row[j];
        }
        half_ = 1 - half_;
        if (more)
            keep(half_);
    }
    [[unroll]] for (uint i = 0; i < THREAD_M; i++)
        [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
            store4(row0 + (my_m + i / 4 * THREADS_M) * 4 + i % 4,
                   column0 + (my_n + j * THREADS_N) * 4, sum[i * BLOCKS_N + j]);
}
