// MODULE matmul_subgroup_k_*
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
// As matmul_vector, for few tiles (sliced-K): a work-group has SLICES_K slices of work-items. All
// work on the same tile of C, each on every SLICES_K-th piece of the sum, with tiles of A and B of
// its own in shared memory. At the end the slices add up their sums there.
#include "matmul_types.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#define MATMUL_ALIASED
#include "matmul_problem.glsl"
layout(constant_id = MATMUL_ID_TILE_M) const uint TILE_M = 32;
layout(constant_id = MATMUL_ID_TILE_N) const uint TILE_N = 32;
layout(constant_id = MATMUL_ID_TILE_K) const uint TILE_K = 4;
layout(constant_id = MATMUL_ID_THREAD_M) const uint THREAD_M = 4;
layout(constant_id = MATMUL_ID_THREAD_N) const uint THREAD_N = 4;
layout(constant_id = MATMUL_ID_LANES_M) const uint LANES_M = 4;
layout(constant_id = MATMUL_ID_LANES_N) const uint LANES_N = 8;
layout(constant_id = MATMUL_ID_SLICES_K) const uint SLICES_K = 2;
layout(constant_id = MATMUL_ID_PAIRS) const uint PAIRS = 0; // as in matmul_vector.comp
layout(constant_id = MATMUL_ID_VEC4) const uint VEC4 = 0;   // the same
layout(std430, set = 0, binding = 0) readonly buffer A4 { ELEMENT4 a4[]; };
layout(std430, set = 0, binding = 1) readonly buffer B4 { ELEMENT4 b4[]; };

// 1: a slice is a subgroup, so that it waits for no other until the sums are added up.
layout(constant_id = MATMUL_ID_PER_SUBGROUP) const uint PER_SUBGROUP = 0;
// 1, 2: registers are loaded a step of the sum before they are multiplied, and a tile's last
// products follow the next tile's first loads. The products go along the rows of a block (1), or
// down and up its columns (2).
layout(constant_id = MATMUL_ID_DOUBLE_BUFFER) const uint DOUBLE_BUFFER = 0;
// 1: the steps that are no whole pass of all slices come first, and all slices share them; 0: they
// are a pass of their own that is filled up with zeros.
layout(constant_id = MATMUL_ID_TAIL) const uint TAIL = 0;
// 1: an execution that begins at the other end computes the tiles in reverse order.
layout(constant_id = MATMUL_ID_REVERSE) const uint REVERSE = 0;
const bool VEC4_A = (VEC4 & 1) != 0, VEC4_B = (VEC4 & 2) != 0, VEC4_C = (VEC4 & 4) != 0;
#include "matmul_store4.glsl"

const uint BLOCKS_M = THREAD_M / 4, BLOCKS_N = THREAD_N / 4;
const uint THREADS_M = TILE_M / THREAD_M, THREADS_N = TILE_N / THREAD_N;
const uint THREADS = THREADS_M * THREADS_N; // of a slice
const uint SUMS = THREAD_M * BLOCKS_N;      // fours an item
const uint GROUP_K = SLICES_K * TILE_K;     // steps of the sum that all slices make in a pass
// A slice has one tile of each operand: deep ones, whose loads have the time of many products,
// where two of half the depth were slower (bench/notes/matmul.md).
#define TILE_SETS SLICES_K
#define ITEM (PER_SUBGROUP != 0 ? gl_SubgroupInvocationID : gl_LocalInvocationIndex % THREADS)
#include "matmul_slice_tiles.glsl"

// The slices add up their sums in the shared memory that held the tiles, as [sum][other
// slice][item], as many at a time as there is room for. Where it has no room, they have shared
// memory of their own. One slice adds up each sum, and keeps its own addend in registers.
const uint OTHERS = SLICES_K > 1 ? SLICES_K - 1 : 1;
const uint ROOM = (FOURS_A + FOURS_B) / (OTHERS * THREADS), MOST = ROOM > 0 ? ROOM : 1;
const uint MEETINGS = (SUMS + MOST - 1) / MOST, MERGED = (SUMS + MEETINGS - 1) / MEETINGS;
const uint OWN = ROOM > 0 ? 1 : OTHERS * THREADS;
shared ACC4 partials[OWN];

ACC4 sum[SUMS];

uint slice_k()
{
    return PER_SUBGROUP != 0 ? gl_SubgroupID : gl_LocalInvocationIndex / THREADS;
}

// Where an item's first block of four rows and columns begins, in fours.
uvec2 place_of(uint item)
{
    uint lane = item % (LANES_M * LANES_N), block = item / (LANES_M * LANES_N);
    uint lane_m = lane / LANES_N, lane_n = lane % LANES_N;
    if (PAIRS != 0 && LANES_M % 2 == 0) {
        lane_m = lane / (2 * LANES_N) * 2 + lane % 2;
        lane_n = lane / 2 % LANES_N;
    }
    return uvec2(block / (THREADS_N / LANES_N) * LANES_M * BLOCKS_M + lane_m,
                 block % (THREADS_N / LANES_N) * LANES_N * BLOCKS_N + lane_n);
}

ACC4 column[2 * BLOCKS_M], row[2 * BLOCKS_N]; // operands of a step; two sets

void load(uint set_, uint slice, uint k, uvec2 my)
{
    uint at = slice * TILE_K + k;
    [[unroll]] for (uint i = 0; i < BLOCKS_M; i++)
        column[set_ * BLOCKS_M + i] = TILE_A_AT(at * PITCH_A + my.x + i * LANES_M);
    [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
        row[set_ * BLOCKS_N + j] = TILE_B_AT(at * PITCH_B + my.y + j * LANES_N);
}

void add_products(uint set_)
{
    if (DOUBLE_BUFFER != 2) {
        [[unroll]] for (uint i = 0; i < THREAD_M; i++)
            [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
                sum[i * BLOCKS_N + j] +=
                    column[set_ * BLOCKS_M + i / 4][i % 4] * row[set_ * BLOCKS_N + j];
        return;
    }
    [[unroll]] for (uint at = 0; at < THREAD_M * THREAD_N; at++) {
        uint n = at / THREAD_M, m = n % 2 == 0 ? at % THREAD_M : THREAD_M - 1 - at % THREAD_M;
        sum[m * BLOCKS_N + n / 4][n % 4] +=
            column[set_ * BLOCKS_M + m / 4][m % 4] * row[set_ * BLOCKS_N + n / 4][n % 4];
    }
}

void multiply(uint slice, uvec2 my)
{
    [[unroll]] for (uint k = 0; k < TILE_K; k++) {
        load(0, slice, k, my);
        add_products(0);
    }
}

void wait()
{
    if (PER_SUBGROUP != 0)
        subgroupBarrier();
    else
        barrier();
}

void fetch(uint k)
{
    fetch_A(k);
    fetch_B(k);
}

// What was fetched takes the place of the slice's tile.
void keep(uint slice)
{
    wait(); // the tile there is no longer read
    keep_A(slice);
    keep_B(slice);
}

// Adds whole passes, of which the first is in shared memory. k: the first step of the second pass.
void add_whole(uint slice, uint k, uint passes, uvec2 my)
{
    for (uint i = 1;; i++, k += GROUP_K) {
        bool more = i < passes;
        wait(); // the tile is filled
        if (more)
            fetch(k);
        multiply(slice, my);
        if (!more)
            break;
        keep(slice);
    }
}

// The same with two sets of registers, of which one is loaded while the other is multiplied.
// Compilers move a tile's last products in front of a barrier, where they hide no load; so they are
// added in the next pass of the loop. Compilers do not move loads down across the memory barrier,
// to where too few products are left to hide them.
void add_whole_double_buffered(uint slice, uint k, uint passes, uvec2 my)
{
    [[unroll]] for (uint i = 0; i < BLOCKS_M; i++)
        column[BLOCKS_M + i] = ACC4(0);
    [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
        row[BLOCKS_N + j] = ACC4(0);
    wait();
    for (uint i = 1;; i++, k += GROUP_K) {
        bool more = i < passes;
        load(0, slice, 0, my);
        if (more)
            fetch(k);
        subgroupMemoryBarrier();
        add_products(1);
        [[unroll]] for (uint s = 1; s < TILE_K; s++) {
            load(s % 2, slice, s, my);
            add_products((s - 1) % 2);
        }
        if (!more)
            break;
        keep(slice);
        wait();
    }
    add_products(1);
}

ACC tail_ones_A[FETCH_A], tail_ones_B[FETCH_B];
ACC4 tail_fours_A[FETCH_A], tail_fours_B[FETCH_B];

#define SWAP_TAIL(X)                                                                               \
    [[unroll]] for (uint n = 0; n < FETCH_##X; n++) {                                              \
        ACC one = ones_##X[n];                                                                     \
        ACC4 four = fours_##X[n];                                                                  \
        ones_##X[n] = tail_ones_##X[n];                                                            \
        fours_##X[n] = tail_fours_##X[n];                                                          \
        tail_ones_##X[n] = one;                                                                    \
        tail_fours_##X[n] = four;                                                                  \
    }

void swap_tail()
{
    SWAP_TAIL(A)
    SWAP_TAIL(B)
}

// Adds this slice's `steps` of the tail, which were fetched before, while the first tile behind
// them is fetched from step k on.
void add_tail(uint slice, uint k, uint steps, uvec2 my)
{
    swap_tail();
    fetch(k);
    swap_tail();
    keep_A(slice);
    keep_B(slice);
    swap_tail();
    wait();
    [[dont_unroll]] for (uint s = 0; s < steps; s++) {
        load(0, slice, s, my);
        add_products(0);
    }
    wait();
}

// Adds steps [k_begin, k_end) of the sum. The steps that are no whole pass of all slices come
// first: slices behind their end then multiply zeros; with TAIL they are shared evenly, in fours.
void accumulate(uint row0, uint column0, uint k_begin, uint k_end)
{
    uint steps = k_end - k_begin, passes = TAIL != 0 ? steps / GROUP_K : (steps - 1) / GROUP_K + 1;
    uint first = TAIL != 0 ? steps - passes * GROUP_K : steps - (passes - 1) * GROUP_K;
    uint share = TAIL != 0 ? (first + 4 * SLICES_K - 1) / (4 * SLICES_K) * 4 : TILE_K;
    uint behind = min(slice_k() * share, first), mine = min(share, first - behind);
    bool more = TAIL != 0 ? passes > 0 : passes > 1;
    uvec2 my = place_of(ITEM);
    begin_A(row0, push.m, k_begin + behind, mine, more);
    begin_B(column0, push.n, k_begin + behind, mine, more);
    // The step from which the next tile is loaded, if there is one.
    uint slice = slice_k(), k = more ? slice_k() * TILE_K + first - behind - mine : 0;
    if (TAIL != 0) {
        add_tail(slice, k, mine, my);
        k += GROUP_K;
        if (passes == 0) // the same for the whole work-group
            return;
    }
    keep_A(slice);
    keep_B(slice);
    if (DOUBLE_BUFFER != 0)
        add_whole_double_buffered(slice, k, passes, my);
    else
        add_whole(slice, k, passes, my);
}

void keep_sum(uint at, ACC4 value)
{
    if (ROOM > 0)
        tiles[at] = value;
    else
        partials[at] = value;
}

ACC4 kept_sum(uint at)
{
    return ROOM > 0 ? tiles[at] : partials[at];
}

// Stores sum number s of this work-item to its row and column of C.
void store_sum(uint base, uint row0, uint column0, uint s, ACC4 value)
{
    uvec2 my = place_of(ITEM);
    uint i = s / BLOCKS_N, j = s % BLOCKS_N;
    store4(base, row0 + (my.x + i / 4 * LANES_M) * 4 + i % 4,
           column0 + (my.y + j * LANES_N) * 4, value);
}

// Adds up sums number first to first + MERGED - 1 of each work-item over the slices, and stores
// them. Each slice does so for every SLICES_K-th of them.
void merge(uint base, uint row0, uint column0, uint first)
{
    uint mine = slice_k(), count = min(MERGED, SUMS - first);
    barrier();
    [[unroll]] for (uint s = 0; s < MERGED; s++)
        if (first + s < SUMS && mine != s % SLICES_K)
            keep_sum((s * OTHERS + (mine > s % SLICES_K ? mine - 1 : mine)) * THREADS + ITEM,
                     sum[first + s]);
    barrier();
    [[unroll]] for (uint turn = 0; turn < MERGED; turn += SLICES_K) {
        ACC4 total = sum[min(first + turn, SUMS - 1)];
        [[unroll]] for (uint t = 1; t < SLICES_K; t++)
            if (mine == t)
                total = sum[min(first + turn + t, SUMS - 1)];
        if (turn + mine >= count)
            continue;
        [[unroll]] for (uint o = 0; o < OTHERS; o++)
            total += kept_sum(((turn + mine) * OTHERS + o) * THREADS + ITEM);
        store_sum(base, row0, column0, first + turn + mine, total);
    }
}

// Shifts where the divisor is a power of two, since a division takes long and the first load waits
// for it.
uint quotient(uint x, uint divisor)
{
    if ((divisor & (divisor - 1)) == 0)
        return x >> findMSB(divisor);
    return x / divisor;
}

void main()
{
    uint tile = tile_index(), split = 0, tiles = push.tiles_m * push.tiles_n;
    if (REVERSE != 0 && push.reversed != 0)
        tile = gl_NumWorkGroups.x * gl_NumWorkGroups.y - 1 - tile;
    if (tile >= tiles) {
        split = quotient(tile, tiles);
        tile -= split * tiles;
    }
    uint k_begin = split * push.chunk;
    if (k_begin >= push.k) // the same for the whole work-group
        return;
    uint tile_row = quotient(tile, push.tiles_n);
    uint row0 = tile_row * TILE_M, column0 = (tile - tile_row * push.tiles_n) * TILE_N;
    [[unroll]] for (uint i = 0; i < SUMS; i++)
        sum[i] = ACC4(0);
    accumulate(row0, column0, k_begin, min(push.k, k_begin + push.chunk));
    uint base = batch_c() + split * push.stride_split;
    if (SLICES_K == 1) {
        [[unroll]] for (uint s = 0; s < SUMS; s++)
            store_sum(base, row0, column0, s, sum[s]);
        return;
    }
    [[unroll]] for (uint s = 0; s < SUMS; s += MERGED)
        merge(base, row0, column0, s);
}
