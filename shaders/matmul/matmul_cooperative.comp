// MODULE matmul_cooperative_* TYPES f16 i8 REQUIRES cooperative_matrix
// MODULE matmul_cooperative_* TYPES bf16 BFLOAT16
// MODULE matmul_cooperative_f16x2 DEFINES F16X2 REQUIRES cooperative_matrix
// MODULE matmul_stream_k_* TYPES f16 i8 DEFINES STREAM_K REQUIRES cooperative_matrix
// MODULE matmul_stream_k_* TYPES bf16 DEFINES STREAM_K BFLOAT16
// MODULE matmul_stream_k_f16x2 DEFINES F16X2 STREAM_K REQUIRES cooperative_matrix
// MODULE matmul_few_steps_* TYPES f16 DEFINES FEW_STEPS REQUIRES cooperative_matrix
// MODULE matmul_few_steps_* TYPES bf16 DEFINES FEW_STEPS BFLOAT16
// MODULE matmul_any_rows_* TYPES f16 i8 DEFINES ANY_ROWS REQUIRES cooperative_matrix
// MODULE matmul_any_rows_* TYPES bf16 DEFINES ANY_ROWS BFLOAT16
// MODULE matmul_any_stream_k_* TYPES f16 i8 DEFINES ANY_ROWS STREAM_K REQUIRES cooperative_matrix
// MODULE matmul_any_stream_k_* TYPES bf16 DEFINES ANY_ROWS STREAM_K BFLOAT16
// MODULE matmul_any_few_steps_* TYPES f16 DEFINES ANY_ROWS FEW_STEPS REQUIRES cooperative_matrix
// MODULE matmul_any_few_steps_* TYPES bf16 DEFINES ANY_ROWS FEW_STEPS BFLOAT16
#version 450
#pragma use_vulkan_memory_model
#extension GL_GOOGLE_include_directive : require
// Matrix units through cooperative matrices of a subgroup: tiles of A and B lie in shared memory,
// and each subgroup multiplies its block of fragments. Meanwhile the next tiles are loaded into
// registers. F16X2: A and B are f32 numbers, each scaled and taken apart into two f16
// (matmul_f16x2.comp); three of their four products are made, the smaller ones first. STREAM_K:
// work-groups share tiles (matmul_stream_k.glsl), and the buffer of C holds partial tiles. It is a
// module of its own: with products and stores called from two places an H100's driver kept the sums
// in memory, ten times as slow (bench/notes/matmul-matrix-units.md#stream-k). FEW_STEPS: the steps
// of the sum that are no whole tile come first, so that a whole tile is loaded beside their
// products; long sums lose by that order (bench/notes/matmul-matrix-units.md#few-steps). ANY_ROWS:
// rows of A, B or C begin at any element. With both kinds in one module an H200's driver made loops
// of vectors slower by up to a third (bench/notes/matmul-matrix-units.md#any-rows).
#include "matmul_types.glsl"
#extension GL_EXT_shader_16bit_storage : require
#extension GL_KHR_memory_scope_semantics : require
#ifdef MATMUL_EMULATED
// Drivers on CPUs take far longer to compile unrolled loops than loops.
#define UNROLLED [[dont_unroll]]
#else
#define UNROLLED [[unroll]]
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_cooperative_matrix : require
#if defined(WF_TYPE_I8)
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#define FACTOR int8_t
#else
// bf16: the build renames this type in the module (cmake/pack/spirv.c).
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#define FACTOR float16_t
#endif
#endif
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#define MATMUL_ALIASED
#include "matmul_problem.glsl"
#if defined(WF_TYPE_I8)
#define RAW uint8_t
#define CHUNK 16
#else
#define RAW uint16_t
#define CHUNK 8
#endif
layout(constant_id = MATMUL_ID_TILE_M) const uint TILE_M = 32;
layout(constant_id = MATMUL_ID_TILE_N) const uint TILE_N = 32;
layout(constant_id = MATMUL_ID_TILE_K) const uint TILE_K = 32;
layout(constant_id = MATMUL_ID_SUB_M) const uint SUB_M = 16;
layout(constant_id = MATMUL_ID_SUB_N) const uint SUB_N = 16;
layout(constant_id = MATMUL_ID_FRAG_M) const uint FRAG_M = 16;
layout(constant_id = MATMUL_ID_FRAG_N) const uint FRAG_N = 16;
layout(constant_id = MATMUL_ID_FRAG_K) const uint FRAG_K = 16;
layout(constant_id = MATMUL_ID_SUBGROUP) const uint LANES = 32;
layout(constant_id = MATMUL_ID_SWIZZLE) const uint SWIZZLE = 8;
layout(constant_id = MATMUL_ID_SUBS_K) const uint SUBS_K = 1;
// The sum of 1 where A, 2 where B and 4 where C moves 16 bytes at a time (C: four elements).
layout(constant_id = MATMUL_ID_VEC4) const uint VEC4 = 0;

const uint SUBS_M = TILE_M / SUB_M, SUBS_N = TILE_N / SUB_N, BLOCKS = SUBS_M * SUBS_N;
const uint THREADS = BLOCKS * SUBS_K * LANES;
const uint FRAGS_M = SUB_M / FRAG_M, FRAGS_N = SUB_N / FRAG_N;
// The sums of a row of fragments, in chunks of four, before they are stored to C. Two chunks of
// padding a row put the rows that one store of a matrix writes on different banks.
const uint OUT_COLUMNS = SUB_N / 4, OUT_PITCH = OUT_COLUMNS + 2, OUT = FRAG_M * OUT_PITCH;
#include "matmul_shared.glsl"
#include "matmul_operands.glsl"
#include "matmul_fragments.glsl"
#ifdef STREAM_K
#include "matmul_stream_k.glsl"
#endif

#ifdef F16X2
#include "matmul_rescaled.glsl"
#else
#define rescaled(sum, row, column) sum
#endif

// Adds k in [begin, end) to the sums of the tile at row0, column0.
void add_products(uint row0, uint column0, uint begin, uint end)
{
    uint row = block() / SUBS_N * SUB_M, column = block() % SUBS_N * SUB_N;
#ifdef FEW_STEPS
    uint first = (end - begin - 1) % TILE_K + 1; // steps, then whole tiles
    fetch_tail_A(begin, begin + first);
    fetch_tail_B(begin, begin + first);
    for (uint next = begin + first; next < end + TILE_K; next += TILE_K) {
        barrier();
        keep_A();
        keep_B();
        barrier();
        // The last pass loads the last tile again: the whole sum is longer than a tile.
        fetch_A(min(next, end - TILE_K));
        fetch_B(min(next, end - TILE_K));
        multiply(row, column);
    }
#else
    uint full = (end - begin) / TILE_K;
    if (full > 0) {
        fetch_A(begin);
        fetch_B(begin);
    }
    for (uint i = 0; i < full; i++) {
        barrier();
        keep_A();
        keep_B();
        barrier();
        // The last pass of the loop loads the same tile again, since a condition would cost more.
        uint next = begin + min(i + 1, full - 1) * TILE_K;
        fetch_A(next);
        fetch_B(next);
        multiply(row, column);
    }
    if (begin + full * TILE_K < end) {
        fetch_tail_A(begin + full * TILE_K, end);
        fetch_tail_B(begin + full * TILE_K, end);
        barrier();
        keep_A();
        keep_B();
        barrier();
        multiply(row, column);
    }
#endif
}

void accumulate(uint row0, uint column0, uint begin, uint end)
{
    begin_A(row0, push.m);
    begin_B(column0, push.n);
#ifdef F16X2
    [[dont_unroll]] for (uint product = 0; product < 3; product++) {
        part_A = product == 0 ? push.lda / 2 : 0;
        part_B = product == 1 ? push.ldb / 2 : 0;
        if (product == 2)
            scale(1.0 / 2048.0);
        add_products(row0, column0, begin, end);
    }
#else
    add_products(row0, column0, begin, end);
#endif
}

ACC finished(uint base, uint row, uint column, ACC sum)
{
    ACC value = push.alpha * sum;
    if (BETA != 0)
        value += push.beta * read_c(base + row * push.ldc + column);
    if (BIAS != 0)
        value += bias[push.base_bias + column];
    return activate(value);
}

// Stores four sums of a row of C that lie inside it, where C moves four elements at a time. Sums of
// a partial tile are stored without the epilogue.
void store4_inside(uint base, uint row, uint column, ACC4 value)
{
#ifdef STREAM_K
    write_c4((base + row * TILE_N + column) / 4, value);
#else
    UNROLLED for (uint j = 0; j < 4; j++)
        value[j] = finished(base, row, column + j, rescaled(value[j], row, column + j));
    write_c4((base + row * push.ldc + column) / 4, value);
#endif
}

// The same, but every element is checked against the bounds of C.
void store4(uint base, uint row, uint column, ACC4 value)
{
    if (row >= push.m)
        return;
    if ((VEC4 & 4) != 0 && column + 4 <= push.n) {
        store4_inside(base, row, column, value);
        return;
    }
    [[dont_unroll]] for (uint j = 0; j < 4; j++)
        if (column + j < push.n)
            store(base, row, column + j, rescaled(value[j], row, column + j));
}

void sums_barrier()
{
    if (SUBS_K > 1)
        barrier();
    else
        subgroup_barrier();
}

// Adds up a chunk of a row of fragments over all the subgroups that share its block.
ACC4 total(uint row, uint chunk)
{
    uint at = block() * OUT + row * OUT_PITCH + chunk;
    ACC4 sum = sums4(tiles[at]);
    UNROLLED for (uint s = 1; s < SUBS_K; s++)
        sum += sums4(tiles[at + s * BLOCKS * OUT]);
    return sum;
}

#ifdef ANY_ROWS
// The same of one element.
ACC total_of(uint row, uint column)
{
    uint at = block() * OUT + row * OUT_PITCH + column / 4;
    ACC sum = sum_of(tiles[at][column % 4]);
    UNROLLED for (uint s = 1; s < SUBS_K; s++)
        sum += sum_of(tiles[at + s * BLOCKS * OUT][column % 4]);
    return sum;
}

// Where C moves singly: work-items side by side store elements side by side.
void store_singly(uint base, uint row0, uint column0, uint first)
{
    [[dont_unroll]] for (uint n = first; n < FRAG_M * SUB_N; n += 4 * LANES * SUBS_K)
        UNROLLED for (uint j = 0; j < 4; j++) {
            uint e = n + j * LANES * SUBS_K, row = e / SUB_N, column = e % SUB_N;
            if (e < FRAG_M * SUB_N && row0 + row < push.m && column0 + column < push.n)
                store(base, row0 + row, column0 + column,
                      rescaled(total_of(row, column), row0 + row, column0 + column));
        }
}
#endif

// Stores to C, from row0 and column0 on, the row of fragments that a subgroup put into shared
// memory. inside: the whole tile lies in C, which moves four elements at a time.
void store_row(uint base, uint row0, uint column0, bool inside)
{
    uint first = gl_LocalInvocationIndex % LANES + slice_k() * LANES;
    sums_barrier();
    if (inside)
        UNROLLED for (uint n = 0; n < FRAG_M * OUT_COLUMNS; n += LANES * SUBS_K) {
            uint e = n + first, row = e / OUT_COLUMNS, chunk = e % OUT_COLUMNS;
            if (FRAG_M * OUT_COLUMNS % (LANES * SUBS_K) == 0 || e < FRAG_M * OUT_COLUMNS)
                store4_inside(base, row0 + row, column0 + chunk * 4, total(row, chunk));
        }
#ifdef ANY_ROWS
    else if ((VEC4 & 4) == 0)
        store_singly(base, row0, column0, first);
#endif
    else
        [[dont_unroll]] for (uint e = first; e < FRAG_M * OUT_COLUMNS; e += LANES * SUBS_K) {
            uint row = e / OUT_COLUMNS, chunk = e % OUT_COLUMNS;
            store4(base, row0 + row, column0 + chunk * 4, total(row, chunk));
        }
    sums_barrier();
}

// This is written out, since not every driver unrolls a loop around so much code when asked to, and
// then keeps all sums in memory from the first product on
// (bench/notes/matmul-matrix-units.md#f16-small).
#define STORE_ROW(i)                                                                               \
    if (i < FRAGS_M) {                                                                             \
        UNROLLED for (uint j = 0; j < FRAGS_N; j++)                                                \
            put(i * FRAGS_N + j, subgroup() * OUT + j * FRAG_N / 4);                               \
        store_row(base, row0 + i * FRAG_M, column0, inside);                                       \
    }

void store_block(uint base, uint row0, uint column0, bool inside)
{
    STORE_ROW(0)
    STORE_ROW(1)
    STORE_ROW(2)
    STORE_ROW(3)
    STORE_ROW(4)
    STORE_ROW(5)
    STORE_ROW(6)
    STORE_ROW(7)
    UNROLLED for (uint i = 8; i < FRAGS_M; i++)
        STORE_ROW(i)
}

#ifdef STREAM_K
// Computes this work-group's share of the tiles that stream-K shares: most often the end of one
// tile and the beginning of the next.
void main()
{
    uint group = tile_index(), first = first_step(group), end = first_step(group + 1);
    [[dont_unroll]]
    for (uint tile = first / push.tile_steps; tile * push.tile_steps < end; tile++) {
        uint before = tile * push.tile_steps; // steps
        uvec2 at = tile_place(push.shared_from + tile) * uvec2(TILE_M, TILE_N);
        clear();
        accumulate(at.x, at.y, (max(first, before) - before) * TILE_K,
                   min(min(end - before, push.tile_steps) * TILE_K, push.k));
        barrier();
        store_block((group + tile) * TILE_M * TILE_N, block() / SUBS_N * SUB_M,
                    block() % SUBS_N * SUB_N, true);
    }
}
#else
// Where a work-group's part of the product begins.
struct Place {
    uint split, row, column;
};

// The tile swizzle: neighbouring work-groups go down SWIZZLE tile rows before the next column, so
// that they share what the caches hold. There is no division where the quotient is known, since the
// first load waits for it.
Place place()
{
    uint number = tile_index(), count = push.tiles_m * push.tiles_n, split = 0, strip = 0;
    if (push.chunk < push.k) {
        split = number / count;
        number -= split * count;
    } else if (number >= count)
        split = 1; // of one: past the sum's end
    if (push.tiles_m > SWIZZLE) {
        strip = number / (SWIZZLE * push.tiles_n);
        number -= strip * SWIZZLE * push.tiles_n;
    }
    uint rows = min(push.tiles_m - strip * SWIZZLE, SWIZZLE), column = number / rows;
    return Place(split, (strip * SWIZZLE + number - column * rows) * TILE_M, column * TILE_N);
}

void main()
{
    Place at = place();
    uint begin = at.split * push.chunk;
    if (begin >= push.k) // the same for the whole work-group
        return;
    clear();
    accumulate(at.row, at.column, begin, min(begin + push.chunk, push.k));
    barrier();
    bool whole = (VEC4 & 4) != 0 && at.row + TILE_M <= push.m && at.column + TILE_N <= push.n;
    store_block(batch_c() + at.split * push.stride_split, at.row + block() / SUBS_N * SUB_M,
                at.column + block() % SUBS_N * SUB_N, whole);
}
#endif
