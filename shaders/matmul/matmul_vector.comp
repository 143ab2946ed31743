// MODULE matmul_vector_*
#version 450
#extension GL_GOOGLE_include_directive : require
// As matmul_register, four elements at a time, with two tiles of each operand in shared memory: the
// next tile is loaded while this one is used, and there is one barrier a tile. With DOUBLE_BUFFER
// the barrier stands before the last step of a tile, whose operands are in registers already. The
// steps that are no whole tile come first, so that the loop has no branch: compilers do not move
// loads across one. Work-items form blocks of LANES_M x LANES_N, so that a subgroup reads little
// shared memory.
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
// Tile rows that neighbouring work-groups go down before the next column; 1: they go along rows.
layout(constant_id = MATMUL_ID_SWIZZLE) const uint SWIZZLE = 1;
// 1: registers are loaded a step of the sum before they are multiplied.
layout(constant_id = MATMUL_ID_DOUBLE_BUFFER) const uint DOUBLE_BUFFER = 1;
// Order of a step's products. 1 to 3: serpentine, so that each product shares an operand with the
// one before: 1 along rows, 2 down columns, 3 in blocks of 4 x 4. 0: along rows, four at a time.
layout(constant_id = MATMUL_ID_SERPENTINE) const uint SERPENTINE = 0;
// 1: work-items side by side in a block go down two rows, then along: each half of a subgroup then
// reads half as much of either tile, and pairs of work-items read the same.
layout(constant_id = MATMUL_ID_PAIRS) const uint PAIRS = 0;
// Bits: 1 A, 2 B, 4 C move four elements at a time; then every row of that matrix must begin at,
// and be as long as, a multiple of four elements.
layout(constant_id = MATMUL_ID_VEC4) const uint VEC4 = 0;
// How rows of A's and B's tiles lie in shared memory where elements along k are stored across them
// (MATMUL_ROWS_): one behind the other, each four elements longer, or swizzled.
layout(constant_id = MATMUL_ID_ROWS_A) const uint ROWS_A = MATMUL_ROWS_PADDED;
layout(constant_id = MATMUL_ID_ROWS_B) const uint ROWS_B = MATMUL_ROWS_PADDED;
// 1: where C moves singly, work-items side by side store elements side by side, which they exchange
// in shared memory; not where a row of each work-item's has no room there.
layout(constant_id = MATMUL_ID_GATHERED) const uint GATHERED = 0;
// 1: stream-K; the buffer of C holds partial tiles.
layout(constant_id = MATMUL_ID_PARTIAL_TILES) const uint STREAM_K = 0;
// The same buffers four elements at a time.
layout(std430, set = 0, binding = 0) readonly buffer A4 { ELEMENT4 a4[]; };
layout(std430, set = 0, binding = 1) readonly buffer B4 { ELEMENT4 b4[]; };

const bool VEC4_A = (VEC4 & 1) != 0, VEC4_B = (VEC4 & 2) != 0, VEC4_C = (VEC4 & 4) != 0;
const uint BLOCKS_M = THREAD_M / 4, BLOCKS_N = THREAD_N / 4;
const uint THREADS_M = TILE_M / THREAD_M, THREADS_N = TILE_N / THREAD_N;
const uint THREADS = THREADS_M * THREADS_N;
// Steps of the sum without a branch between, where DOUBLE_BUFFER is 0: it divides TILE_K.
const uint UNROLL = TILE_K % 8 == 0 ? 8 : 4;
// Whether the places where work-items read and write tiles are carried in registers from tile to
// tile. Where they are not, they are constants, and a pass of the loop takes two tiles: an H100 was
// faster so where products go down columns, and with stream-K, which leaves fewer registers
// (bench/notes/matmul.md#stream-k). glslang 15.2 makes no constant of && with || in it here.
const uint BY_NUMBER = STREAM_K != 0 ? 1 : DOUBLE_BUFFER != 0 ? 0 : SERPENTINE >= 2 ? 1 : 0;
const bool CARRIED = BY_NUMBER == 0;
#include "matmul_fours.glsl"

ACC4 sum[THREAD_M * BLOCKS_N]; // by rows of the block
ACC4 column[2 * BLOCKS_M], row[2 * BLOCKS_N]; // operands of a step; with DOUBLE_BUFFER two sets

// Loads the operands of step k from a half of shared memory. Where places are carried in registers,
// half_ is always 0.
void load(uint set_, uint half_, uint k, uint my_m, uint my_n)
{
    [[unroll]] for (uint i = 0; i < BLOCKS_M; i++)
        column[set_ * BLOCKS_M + i] =
            TILE_A_AT(half_ * uint(HALF_A) + k * PITCH_A + place_in_row_A(my_m + i * LANES_M, k));
    [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
        row[set_ * BLOCKS_N + j] =
            TILE_B_AT(half_ * uint(HALF_B) + k * PITCH_B + place_in_row_B(my_n + j * LANES_N, k));
}

void add_products(uint set_)
{
    if (SERPENTINE == 0) {
        [[unroll]] for (uint i = 0; i < THREAD_M; i++)
            [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
                sum[i * BLOCKS_N + j] +=
                    column[set_ * BLOCKS_M + i / 4][i % 4] * row[set_ * BLOCKS_N + j];
        return;
    }
    [[unroll]] for (uint at = 0; at < THREAD_M * THREAD_N; at++) {
        uint m = at / THREAD_N, n = at % THREAD_N;
        if (SERPENTINE == 2) {
            m = at % THREAD_M;
            n = at / THREAD_M;
            m = n % 2 == 0 ? m : THREAD_M - 1 - m;
        } else if (SERPENTINE == 3) {
            uint block = at / 16, in_block = at % 16;
            uint block_m = block % BLOCKS_M, block_n = block / BLOCKS_M;
            block_m = block_n % 2 == 0 ? block_m : BLOCKS_M - 1 - block_m;
            m = block_m * 4 + in_block / 4;
            n = block_n * 4 + (m % 2 == 0 ? in_block % 4 : 3 - in_block % 4);
        } else {
            n = m % 2 == 0 ? n : THREAD_N - 1 - n;
        }
        sum[m * BLOCKS_N + n / 4][n % 4] +=
            column[set_ * BLOCKS_M + m / 4][m % 4] * row[set_ * BLOCKS_N + n / 4][n % 4];
    }
}

// Loads a tile into registers, and moves on to where the one after it is read from. more: there is
// one.
void fetch(bool more)
{
    fetch_A(more);
    fetch_B(more);
}

void keep(uint half_)
{
    keep_A(half_);
    keep_B(half_);
}

void multiply(uint half_, uint my_m, uint my_n)
{
    [[dont_unroll]] for (uint k = 0; k < TILE_K; k += UNROLL)
        [[unroll]] for (uint u = 0; u < UNROLL; u++) {
            load(0, half_, k + u, my_m, my_n);
            add_products(0);
        }
}

// Exchanges the halves: the tile after next goes to the half where this one is.
void swap_halves(inout int next_A, inout int next_B, inout uint my_m, inout uint my_n)
{
    my_m += next_A;
    my_n += next_B;
    next_A = -next_A;
    next_B = -next_B;
    move_A(next_A);
    move_B(next_B);
}

// Multiplies one tile, in half_ of shared memory, while the next goes to the other half; more:
// another tile follows that. The last pass fetches again what the one before fetched: a condition
// would cost more.
void add_tile(uint half_, bool more, uint my_m, uint my_n)
{
    barrier(); // this half is filled, and the other is no longer read
    fetch(more);
    multiply(half_, my_m, my_n);
    keep(CARRIED ? 0 : 1 - half_);
}

// Adds all tiles, of which the first is in half 0 of shared memory.
void add(uint tiles, uint my_m, uint my_n)
{
    int next_A = HALF_A, next_B = HALF_B; // from this half to the other
    if (CARRIED) {
        for (uint n = 0; n < tiles; n++) {
            add_tile(0, n + 2 < tiles, my_m, my_n);
            swap_halves(next_A, next_B, my_m, my_n);
        }
        return;
    }
    for (uint n = 0; n < tiles; n += 2) {
        add_tile(0, n + 2 < tiles, my_m, my_n);
        if (n + 1 == tiles) // the same for the whole work-group
            break;
        add_tile(1, n + 3 < tiles, my_m, my_n);
    }
}

// The same, with two sets of registers: one is loaded while the other is multiplied.
void add_double_buffered(uint tiles, uint my_m, uint my_n)
{
    int next_A = HALF_A, next_B = HALF_B; // from this half to the other
    uint half_ = 0;
    barrier();
    load(0, half_, 0, my_m, my_n);
    for (uint n = 0; n < tiles; n++) {
        fetch(n + 2 < tiles);
        [[unroll]] for (uint k = 0; k < TILE_K; k++) {
            if (k + 1 == TILE_K) {
                half_ = CARRIED ? 0 : 1 - half_;
                keep(half_);
                if (CARRIED)
                    swap_halves(next_A, next_B, my_m, my_n);
                barrier(); // that half is filled, and the other is no longer read
            }
            load((k + 1) % 2, half_, (k + 1) % TILE_K, my_m, my_n);
            add_products(k % 2);
        }
    }
}

// Adds steps [k_begin, k_end) of the sum. The steps that are no whole tile come first.
void accumulate(uint row0, uint column0, uint k_begin, uint k_end, uint my_m, uint my_n)
{
    uint steps = k_end - k_begin, tiles = (steps + TILE_K - 1) / TILE_K;
    uint first = steps - (tiles - 1) * TILE_K;
    begin_A(row0, push.m, k_begin, first, tiles > 1);
    begin_B(column0, push.n, k_begin, first, tiles > 1);
    keep(0);
    if (CARRIED) {
        move_A(HALF_A);
        move_B(HALF_B);
    }
    if (DOUBLE_BUFFER != 0)
        add_double_buffered(tiles, my_m, my_n);
    else
        add(tiles, my_m, my_n);
}

#include "matmul_store4.glsl"
#include "matmul_stream_k.glsl"

// Stores four elements of this work-group's partial tile, without the epilogue.
void store_partial(uint partial, uint row, uint column, ACC4 value)
{
    uint at = ((partial * TILE_M + row) * TILE_N + column) / 4;
#ifdef NARROW
    c_sums4[at] = value;
#else
    c4[at] = value;
#endif
}

// Stores the tile whose first element is at `place`, as GATHERED has it: a row of each work-item's
// block at a time, in the memory of B's tiles. Where two such rows fit, they take turns.
const bool TAKES_TURNS = THREADS_M <= TILE_K;

void store_gathered(uint base, uvec2 place, uint my_m, uint my_n)
{
    uint line = my_m / (LANES_M * BLOCKS_M) * LANES_M + my_m % LANES_M;
    barrier(); // tiles are read no longer
    [[unroll]] for (uint i = 0; i < THREAD_M; i++) {
        uint half_ = TAKES_TURNS ? i % 2 * THREADS_M * (TILE_N / 4) : 0;
        if (!TAKES_TURNS && i > 0)
            barrier(); // the row before is stored
        [[unroll]] for (uint j = 0; j < BLOCKS_N; j++) {
            uint at = half_ + line * (TILE_N / 4) + my_n + j * LANES_N;
            KEEP_FOUR(B, at, sum[i * BLOCKS_N + j])
        }
        barrier();
        [[unroll]] for (uint n = 0; n < THREAD_N; n++) {
            uint at = ITEM + n * THREADS, from = at / TILE_N;
            uint block = (from / LANES_M * BLOCKS_M + i / 4) * LANES_M + from % LANES_M;
            uint row = place.x + block * 4 + i % 4, column = place.y + at % TILE_N;
            if (row < push.m && column < push.n)
                store(base, row, column, ONE_OF(B, half_ + at / 4, at % 4));
        }
    }
}

// What this group adds up next.
struct Work {
    uint tile, k_begin, k_end;
    uint to; // of a whole sum: where the batch's and split's C begins; of a partial: its number
};

// A whole tile, or with split-K a part of its sum. A part behind the sum's end has no steps.
Work whole_work()
{
    uint tiles = push.tiles_m * push.tiles_n, split = tile_index() / tiles;
    uint k_begin = split * push.chunk;
    return Work(tile_index() % tiles, k_begin, min(push.k, k_begin + push.chunk),
                batch_c() + split * push.stride_split);
}

// The part of steps [at, end) of the shared tiles that belongs to the first tile among them.
// Afterwards `at` is the step behind that part.
Work shared_work(inout uint at, uint end)
{
    uint tile = at / push.tile_steps, step_ = at - tile * push.tile_steps;
    uint last = min(push.tile_steps, step_ + end - at);
    at += last - step_;
    return Work(push.shared_from + tile, step_ * TILE_K, min(push.k, last * TILE_K),
                tile_index() + tile);
}

void main()
{
    uint lane = gl_LocalInvocationIndex % (LANES_M * LANES_N);
    uint block = gl_LocalInvocationIndex / (LANES_M * LANES_N);
    uint lane_m = lane / LANES_N, lane_n = lane % LANES_N;
    if (PAIRS != 0 && LANES_M % 2 == 0) {
        lane_m = lane / (2 * LANES_N) * 2 + lane % 2;
        lane_n = lane / 2 % LANES_N;
    }
    // Where this work-item's first block of four rows and columns begins, in units of four.
    uint my_m = block / (THREADS_N / LANES_N) * LANES_M * BLOCKS_M + lane_m;
    uint my_n = block % (THREADS_N / LANES_N) * LANES_N * BLOCKS_N + lane_n;
    uint at = first_step(tile_index()), end = first_step(tile_index() + 1);
    do { // the same for the whole work-group
        Work work;
        if (STREAM_K != 0)
            work = shared_work(at, end);
        else
            work = whole_work();
        if (work.k_begin >= push.k)
            return;
        uvec2 place = tile_place(work.tile) * uvec2(TILE_M, TILE_N);
        [[unroll]] for (uint i = 0; i < THREAD_M * BLOCKS_N; i++)
            sum[i] = ACC4(0);
        accumulate(place.x, place.y, work.k_begin, work.k_end, my_m, my_n);
        if (GATHERED != 0 && STREAM_K == 0 && !VEC4_C && THREADS_M <= 2 * TILE_K) {
            store_gathered(work.to, place, my_m, my_n);
            return;
        }
        [[unroll]] for (uint i = 0; i < THREAD_M; i++)
            [[unroll]] for (uint j = 0; j < BLOCKS_N; j++) {
                uint row = (my_m + i / 4 * LANES_M) * 4 + i % 4, column = (my_n + j * LANES_N) * 4;
                if (STREAM_K != 0)
                    store_partial(work.to, row, column, sum[i * BLOCKS_N + j]);
                else
                    store4(work.to, place.x + row, place.y + column, sum[i * BLOCKS_N + j]);
            }
        if (STREAM_K != 0)
            barrier(); // shared memory is read no longer
    } while (STREAM_K != 0 && at < end);
}
