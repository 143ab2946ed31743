#version 450
#extension GL_GOOGLE_include_directive : require
// As matmul_register, four elements at a time, with two tiles of each operand in shared memory: the
// next tile is on its way while this one is used, and there is one barrier a tile; with AHEAD in front
// of the last step of a tile, whose operands are in registers already. Rows and columns outside the
// matrices are read from inside instead, since their results are not stored; only steps of the sum
// past its end must be zero.
// Work-items form blocks of LANES_M x LANES_N, so that a subgroup reads little shared memory.
#include "matmul_types.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#define MATMUL_ALIASED
#include "matmul_problem.glsl"
layout(constant_id = MATMUL_ID_TILE_M) const uint TILE_M = 64;
layout(constant_id = MATMUL_ID_TILE_N) const uint TILE_N = 64;
layout(constant_id = MATMUL_ID_TILE_K) const uint TILE_K = 8;
layout(constant_id = MATMUL_ID_THREAD_M) const uint THREAD_M = 8;
layout(constant_id = MATMUL_ID_THREAD_N) const uint THREAD_N = 8;
layout(constant_id = MATMUL_ID_LANES_M) const uint LANES_M = 4;
layout(constant_id = MATMUL_ID_LANES_N) const uint LANES_N = 8;
// Tile rows that neighbouring groups share columns in; 1: groups go along rows.
layout(constant_id = MATMUL_ID_STRIP) const uint STRIP = 1;
layout(constant_id = MATMUL_ID_UNROLL) const uint UNROLL = 8; // steps of the sum without a branch, without AHEAD
layout(constant_id = MATMUL_ID_AHEAD) const uint AHEAD = 1;   // 1: registers are loaded a step ahead
// Bits: 1 A, 2 B, 4 C move four elements at a time; then every row of that matrix must begin at, and
// be as long as, a multiple of four elements.
layout(constant_id = MATMUL_ID_WIDE) const uint WIDE = 0;
// The same buffers four elements at a time.
layout(std430, set = 0, binding = 0) readonly buffer A4 { ELEMENT4 a4[]; };
layout(std430, set = 0, binding = 1) readonly buffer B4 { ELEMENT4 b4[]; };
#include "matmul_c4.glsl"

const bool WIDE_A = (WIDE & 1) != 0, WIDE_B = (WIDE & 2) != 0, WIDE_C = (WIDE & 4) != 0;
const uint BLOCKS_M = THREAD_M / 4, BLOCKS_N = THREAD_N / 4;
const uint THREADS_M = TILE_M / THREAD_M, THREADS_N = TILE_N / THREAD_N;
const uint THREADS = THREADS_M * THREADS_N;
// Rows of the tiles in shared memory, in fours; one more where elements along k come in and are
// stored across rows.
const uint A_ROW = TILE_M / 4 + (TRANSPOSE_A != 0 ? 0 : 1);
const uint B_ROW = TILE_N / 4 + (TRANSPOSE_B != 0 ? 1 : 0);
// How many a work-item fetches, singly and in fours.
const uint A_COUNT = TILE_M * TILE_K, B_COUNT = TILE_N * TILE_K;
const uint A_ONES = (A_COUNT + THREADS - 1) / THREADS, B_ONES = (B_COUNT + THREADS - 1) / THREADS;
const uint A_FOURS = (A_COUNT / 4 + THREADS - 1) / THREADS;
const uint B_FOURS = (B_COUNT / 4 + THREADS - 1) / THREADS;

shared ACC4 tile_a[2 * TILE_K * A_ROW]; // [half][k][row / 4]
shared ACC4 tile_b[2 * TILE_K * B_ROW]; // [half][k][column / 4]

// Only one of each two is used; the other costs nothing.
ACC one_a[A_ONES], one_b[B_ONES];
ACC4 four_a[A_FOURS], four_b[B_FOURS];
ACC4 sum[THREAD_M * BLOCKS_N];

// Where element i of a tile stands: .x along m or n, .y along k. A tile's elements are numbered as
// memory has them: along k first (by_k), or along m or n first. step: 1, or 4 along the first.
uvec2 place(uint i, uint extent, bool by_k, uint step_)
{
    uint first = (by_k ? TILE_K : extent) / step_;
    uint fast = i % first * step_, slow = i / first;
    return by_k ? uvec2(slow, fast) : uvec2(fast, slow);
}

bool mine(uint i, uint count)
{
    return count % THREADS == 0 || i < count; // the first is known when the pipeline is built
}

void fetch(uint row0, uint column0, uint k0, uint k_end)
{
    uint item = gl_LocalInvocationIndex;
    if (WIDE_A) {
        [[unroll]] for (uint n = 0; n < A_FOURS; n++) {
            uvec2 p = place(item + n * THREADS, TILE_M, TRANSPOSE_A == 0, 4);
            uint row = min(row0 + p.x, push.m - (TRANSPOSE_A != 0 ? 4 : 1));
            uint k = min(k0 + p.y, k_end - (TRANSPOSE_A != 0 ? 1 : 4));
            if (mine(item + n * THREADS, A_COUNT / 4))
                four_a[n] = TO_ACC4(a4[at_a(row, k) / 4]);
        }
    } else {
        [[unroll]] for (uint n = 0; n < A_ONES; n++) {
            uvec2 p = place(item + n * THREADS, TILE_M, TRANSPOSE_A == 0, 1);
            if (mine(item + n * THREADS, A_COUNT))
                one_a[n] = TO_ACC(a[at_a(min(row0 + p.x, push.m - 1), min(k0 + p.y, k_end - 1))]);
        }
    }
    if (WIDE_B) {
        [[unroll]] for (uint n = 0; n < B_FOURS; n++) {
            uvec2 p = place(item + n * THREADS, TILE_N, TRANSPOSE_B != 0, 4);
            uint column = min(column0 + p.x, push.n - (TRANSPOSE_B != 0 ? 1 : 4));
            uint k = min(k0 + p.y, k_end - (TRANSPOSE_B != 0 ? 4 : 1));
            if (mine(item + n * THREADS, B_COUNT / 4))
                four_b[n] = TO_ACC4(b4[at_b(k, column) / 4]);
        }
    } else {
        [[unroll]] for (uint n = 0; n < B_ONES; n++) {
            uvec2 p = place(item + n * THREADS, TILE_N, TRANSPOSE_B != 0, 1);
            if (mine(item + n * THREADS, B_COUNT))
                one_b[n] = TO_ACC(b[at_b(min(k0 + p.y, k_end - 1), min(column0 + p.x, push.n - 1))]);
        }
    }
}

// Clears what was fetched from past the end of the sum: steps from `left` on.
void clear_past(uint left)
{
    uint item = gl_LocalInvocationIndex;
    [[unroll]] for (uint n = 0; n < A_FOURS; n++)
        if (WIDE_A && place(item + n * THREADS, TILE_M, TRANSPOSE_A == 0, 4).y >= left)
            four_a[n] = ACC4(0);
    [[unroll]] for (uint n = 0; n < A_ONES; n++)
        if (!WIDE_A && place(item + n * THREADS, TILE_M, TRANSPOSE_A == 0, 1).y >= left)
            one_a[n] = ACC(0);
    [[unroll]] for (uint n = 0; n < B_FOURS; n++)
        if (WIDE_B && place(item + n * THREADS, TILE_N, TRANSPOSE_B != 0, 4).y >= left)
            four_b[n] = ACC4(0);
    [[unroll]] for (uint n = 0; n < B_ONES; n++)
        if (!WIDE_B && place(item + n * THREADS, TILE_N, TRANSPOSE_B != 0, 1).y >= left)
            one_b[n] = ACC(0);
}

void keep_a(uint half_)
{
    uint item = gl_LocalInvocationIndex;
    if (WIDE_A) {
        [[unroll]] for (uint n = 0; n < A_FOURS; n++) {
            uvec2 p = place(item + n * THREADS, TILE_M, TRANSPOSE_A == 0, 4);
            uint at = (half_ * TILE_K + p.y) * A_ROW + p.x / 4;
            if (!mine(item + n * THREADS, A_COUNT / 4))
                continue;
            if (TRANSPOSE_A != 0)
                tile_a[at] = four_a[n];
            else
                [[unroll]] for (uint j = 0; j < 4; j++)
                    tile_a[at + j * A_ROW][p.x % 4] = four_a[n][j];
        }
    } else {
        [[unroll]] for (uint n = 0; n < A_ONES; n++) {
            uvec2 p = place(item + n * THREADS, TILE_M, TRANSPOSE_A == 0, 1);
            if (mine(item + n * THREADS, A_COUNT))
                tile_a[(half_ * TILE_K + p.y) * A_ROW + p.x / 4][p.x % 4] = one_a[n];
        }
    }
}

void keep_b(uint half_)
{
    uint item = gl_LocalInvocationIndex;
    if (WIDE_B) {
        [[unroll]] for (uint n = 0; n < B_FOURS; n++) {
            uvec2 p = place(item + n * THREADS, TILE_N, TRANSPOSE_B != 0, 4);
            uint at = (half_ * TILE_K + p.y) * B_ROW + p.x / 4;
            if (!mine(item + n * THREADS, B_COUNT / 4))
                continue;
            if (TRANSPOSE_B == 0)
                tile_b[at] = four_b[n];
            else
                [[unroll]] for (uint j = 0; j < 4; j++)
                    tile_b[at + j * B_ROW][p.x % 4] = four_b[n][j];
        }
    } else {
        [[unroll]] for (uint n = 0; n < B_ONES; n++) {
            uvec2 p = place(item + n * THREADS, TILE_N, TRANSPOSE_B != 0, 1);
            if (mine(item + n * THREADS, B_COUNT))
                tile_b[(half_ * TILE_K + p.y) * B_ROW + p.x / 4][p.x % 4] = one_b[n];
        }
    }
}

// left: steps of the sum from this tile on.
void keep(uint half_, uint left)
{
    if (left < TILE_K)
        clear_past(left);
    keep_a(half_);
    keep_b(half_);
}

// Adds the tiles of the sum, of which the first is in shared memory.
void add(uint row0, uint column0, uint k_begin, uint k_end, uint my_m, uint my_n)
{
    uint half_ = 0;
    for (uint k0 = k_begin; k0 < k_end; k0 += TILE_K) {
        barrier(); // this half is filled, and the other is no longer read
        bool more = k0 + TILE_K < k_end;
        if (more)
            fetch(row0, column0, k0 + TILE_K, k_end);
        [[dont_unroll]] for (uint k = 0; k < TILE_K; k += UNROLL) {
            [[unroll]] for (uint u = 0; u < UNROLL; u++) {
                uint at = half_ * TILE_K + k + u;
                ACC4 column[BLOCKS_M], row[BLOCKS_N];
                [[unroll]] for (uint i = 0; i < BLOCKS_M; i++)
                    column[i] = tile_a[at * A_ROW + my_m + i * LANES_M];
                [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
                    row[j] = tile_b[at * B_ROW + my_n + j * LANES_N];
                [[unroll]] for (uint i = 0; i < THREAD_M; i++)
                    [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
                        sum[i * BLOCKS_N + j] += column[i / 4][i % 4] * row[j];
            }
        }
        half_ = 1 - half_;
        if (more)
            keep(half_, k_end - k0 - TILE_K);
    }
}

// The same with two sets of registers that take turns.
void add_ahead(uint row0, uint column0, uint k_begin, uint k_end, uint my_m, uint my_n)
{
    ACC4 column[2 * BLOCKS_M], row[2 * BLOCKS_N];
    barrier();
    [[unroll]] for (uint i = 0; i < BLOCKS_M; i++)
        column[i] = tile_a[my_m + i * LANES_M];
    [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
        row[j] = tile_b[my_n + j * LANES_N];
    uint half_ = 0;
    for (uint k0 = k_begin; k0 < k_end; k0 += TILE_K) {
        uint next = k0 + TILE_K;
        bool more = next < k_end;
        if (more)
            fetch(row0, column0, next, k_end);
        [[unroll]] for (uint k = 0; k < TILE_K; k++) {
            uint at = half_ * TILE_K + k + 1, now = k % 2, then = 1 - now;
            if (k + 1 == TILE_K) {
                half_ = 1 - half_;
                at = half_ * TILE_K;
                if (more)
                    keep(half_, k_end - next);
                barrier(); // that half is filled, and the other is no longer read
            }
            [[unroll]] for (uint i = 0; i < BLOCKS_M; i++)
                column[then * BLOCKS_M + i] = tile_a[at * A_ROW + my_m + i * LANES_M];
            [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
                row[then * BLOCKS_N + j] = tile_b[at * B_ROW + my_n + j * LANES_N];
            [[unroll]] for (uint i = 0; i < THREAD_M; i++)
                [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
                    sum[i * BLOCKS_N + j] +=
                        column[now * BLOCKS_M + i / 4][i % 4] * row[now * BLOCKS_N + j];
        }
    }
}

void store4(uint base, uint row, uint column, ACC4 value)
{
    if (row >= push.m)
        return;
    if (!WIDE_C) {
        [[unroll]] for (uint j = 0; j < 4; j++)
            if (column + j < push.n)
                store(base, row, column + j, value[j]);
        return;
    }
    if (column >= push.n)
        return;
    uint at = (base + row * push.ldc + column) / 4;
    value *= push.alpha;
#ifdef NARROW
    if (BETA != 0)
        value += push.beta * (OUTPUT != 0 ? c_sums4[at] : TO_ACC4(c4[at]));
#else
    if (BETA != 0)
        value += push.beta * c4[at];
#endif
    [[unroll]] for (uint j = 0; j < 4; j++) {
        if (BIAS != 0)
            value[j] += bias[push.base_bias + column + j];
        value[j] = activate(value[j]);
    }
#ifdef NARROW
    if (OUTPUT != 0)
        c_sums4[at] = value;
    else
        c4[at] = FROM_ACC4(value);
#else
    c4[at] = value;
#endif
}

// The tile's row and column: along rows within strips of STRIP tile rows.
uvec2 tile_place(uint tile)
{
    if (STRIP == 1)
        return uvec2(tile / push.tiles_n, tile % push.tiles_n);
    uint strip = tile / (STRIP * push.tiles_n), rest = tile % (STRIP * push.tiles_n);
    uint height = min(STRIP, push.tiles_m - strip * STRIP);
    return uvec2(strip * STRIP + rest % height, rest / height);
}

void main()
{
    uint tiles = push.tiles_m * push.tiles_n;
    uint split = tile_index() / tiles, k_begin = split * push.chunk;
    if (k_begin >= push.k) // the same for the whole work-group
        return;
    uint k_end = min(push.k, k_begin + push.chunk);
    uvec2 tile = tile_place(tile_index() % tiles);
    uint row0 = tile.x * TILE_M, column0 = tile.y * TILE_N;
    uint lane = gl_LocalInvocationIndex % (LANES_M * LANES_N);
    uint block = gl_LocalInvocationIndex / (LANES_M * LANES_N);
    // In fours: where this work-item's first block of four rows and columns begins.
    uint my_m = block / (THREADS_N / LANES_N) * LANES_M * BLOCKS_M + lane / LANES_N;
    uint my_n = block % (THREADS_N / LANES_N) * LANES_N * BLOCKS_N + lane % LANES_N;
    [[unroll]] for (uint i = 0; i < THREAD_M * BLOCKS_N; i++)
        sum[i] = ACC4(0);
    fetch(row0, column0, k_begin, k_end);
    keep(0, k_end - k_begin);
    if (AHEAD != 0)
        add_ahead(row0, column0, k_begin, k_end, my_m, my_n);
    else
        add(row0, column0, k_begin, k_end, my_m, my_n);
    uint base = batch_c() + split * push.stride_split;
    [[unroll]] for (uint i = 0; i < THREAD_M; i++)
        [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
            store4(base, row0 + (my_m + i / 4 * LANES_M) * 4 + i % 4,
                   column0 + (my_n + j * LANES_N) * 4, sum[i * BLOCKS_N + j]);
}
