// MODULE matmul_dot_* TYPES i8 REQUIRES integer_dot
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_integer_dot_product : require
// As matmul_register for 8-bit integers. A word holds four steps of the sum, which one instruction
// multiplies and adds. Where VEC4 allows, memory delivers whole words: those of rows that run along
// the sum are used as they are, others come in blocks of 4 x 4 that are transposed. Elsewhere words
// are put together from single elements.
#include "matmul_types.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#define MATMUL_ALIASED
#include "matmul_problem.glsl"
layout(constant_id = MATMUL_ID_TILE_M) const uint TILE_M = 32;
layout(constant_id = MATMUL_ID_TILE_N) const uint TILE_N = 32;
layout(constant_id = MATMUL_ID_TILE_K) const uint TILE_K = 32;
layout(constant_id = MATMUL_ID_THREAD_M) const uint THREAD_M = 4;
layout(constant_id = MATMUL_ID_THREAD_N) const uint THREAD_N = 4;
// The sum of 1 for A and 2 for B, where every row of that matrix begins at, and is as long as, a
// multiple of four.
layout(constant_id = MATMUL_ID_VEC4) const uint VEC4 = 0;
layout(std430, set = 0, binding = 0) readonly buffer A4 { uint a4[]; };
layout(std430, set = 0, binding = 1) readonly buffer B4 { uint b4[]; };

const bool VEC4_A = (VEC4 & 1) != 0, VEC4_B = (VEC4 & 2) != 0;
const uint THREADS_N = TILE_N / THREAD_N;
const uint THREADS_M = TILE_M / THREAD_M;
const uint THREADS = THREADS_N * THREADS_M;
const uint WORDS = TILE_K / 4; // of a tile's row or column
// One more column makes transposed stores go to different banks.
const uint A_ROW = TILE_M + 1, B_ROW = TILE_N + 1;

shared uint tile_a[WORDS * A_ROW]; // [k / 4][row]
shared uint tile_b[WORDS * B_ROW]; // [k / 4][column]

// Byte j of each of four words.
uint transposed(uvec4 words, uint j)
{
    uvec4 bytes = words >> (8 * j) & 0xffu;
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24;
}

uint gather_a(uint row, uint k)
{
    uint word = 0;
    for (uint j = 0; j < 4; j++)
        if (row < push.m && k + j < push.k)
            word |= (uint(int(a[at_a(row, k + j)])) & 0xffu) << (8 * j);
    return word;
}

uint gather_b(uint k, uint column)
{
    uint word = 0;
    for (uint j = 0; j < 4; j++)
        if (column < push.n && k + j < push.k)
            word |= (uint(int(b[at_b(k + j, column)])) & 0xffu) << (8 * j);
    return word;
}

// Loads four rows of A at four steps of the sum, where A is stored transposed. Four rows of which
// the first lies inside A all do, since lengths are multiples of four; the number of steps need not
// be one.
void transpose_a(uint row0, uint k0, uint i)
{
    uint row = i % (TILE_M / 4) * 4, word = i / (TILE_M / 4), k = k0 + word * 4;
    uvec4 words = uvec4(0);
    for (uint j = 0; j < 4; j++)
        if (row0 + row < push.m && k + j < push.k)
            words[j] = a4[at_a(row0 + row, k + j) / 4];
    for (uint j = 0; j < 4; j++)
        tile_a[word * A_ROW + row + j] = transposed(words, j);
}

void transpose_b(uint column0, uint k0, uint i)
{
    uint column = i % (TILE_N / 4) * 4, word = i / (TILE_N / 4), k = k0 + word * 4;
    uvec4 words = uvec4(0);
    for (uint j = 0; j < 4; j++)
        if (column0 + column < push.n && k + j < push.k)
            words[j] = b4[at_b(k + j, column0 + column) / 4];
    for (uint j = 0; j < 4; j++)
        tile_b[word * B_ROW + column + j] = transposed(words, j);
}

void load_a(uint row0, uint k0)
{
    uint item = gl_LocalInvocationIndex;
    if (VEC4_A && TRANSPOSE_A != 0) {
        for (uint i = item; i < TILE_M / 4 * WORDS; i += THREADS)
            transpose_a(row0, k0, i);
        return;
    }
    for (uint i = item; i < TILE_M * WORDS; i += THREADS) {
        uint row = TRANSPOSE_A != 0 ? i % TILE_M : i / WORDS;
        uint word = TRANSPOSE_A != 0 ? i / TILE_M : i % WORDS;
        uint k = k0 + word * 4, value = 0;
        if (!VEC4_A)
            value = gather_a(row0 + row, k);
        else if (row0 + row < push.m && k < push.k)
            value = a4[at_a(row0 + row, k) / 4];
        tile_a[word * A_ROW + row] = value;
    }
}

void load_b(uint column0, uint k0)
{
    uint item = gl_LocalInvocationIndex;
    if (VEC4_B && TRANSPOSE_B == 0) {
        for (uint i = item; i < TILE_N / 4 * WORDS; i += THREADS)
            transpose_b(column0, k0, i);
        return;
    }
    for (uint i = item; i < TILE_N * WORDS; i += THREADS) {
        uint column = TRANSPOSE_B != 0 ? i / WORDS : i % TILE_N;
        uint word = TRANSPOSE_B != 0 ? i % WORDS : i / TILE_N;
        uint k = k0 + word * 4, value = 0;
        if (!VEC4_B)
            value = gather_b(k, column0 + column);
        else if (column0 + column < push.n && k < push.k)
            value = b4[at_b(k, column0 + column) / 4];
        tile_b[word * B_ROW + column] = value;
    }
}

void main()
{
    uint tile = tile_index();
    if (tile >= push.tiles_m * push.tiles_n) // the same for the whole work-group
        return;
    uint row0 = (tile / push.tiles_n) * TILE_M, column0 = (tile % push.tiles_n) * TILE_N;
    uint my_n = gl_LocalInvocationIndex % THREADS_N, my_m = gl_LocalInvocationIndex / THREADS_N;
    int sum[THREAD_M * THREAD_N];
    [[unroll]] for (uint i = 0; i < THREAD_M * THREAD_N; i++)
        sum[i] = 0;
    for (uint k0 = 0; k0 < push.k; k0 += TILE_K) {
        load_a(row0, k0);
        load_b(column0, k0);
        barrier();
        for (uint word = 0; word < WORDS; word++) {
            int column[THREAD_M], row[THREAD_N];
            [[unroll]] for (uint i = 0; i < THREAD_M; i++)
                column[i] = int(tile_a[word * A_ROW + my_m + i * THREADS_M]);
            [[unroll]] for (uint j = 0; j < THREAD_N; j++)
                row[j] = int(tile_b[word * B_ROW + my_n + j * THREADS_N]);
            [[unroll]] for (uint i = 0; i < THREAD_M; i++)
                [[unroll]] for (uint j = 0; j < THREAD_N; j++)
                    sum[i * THREAD_N + j] += dotPacked4x8EXT(column[i], row[j]);
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
