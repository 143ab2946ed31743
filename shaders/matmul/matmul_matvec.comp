// MODULE matmul_matvec_*
#version 450
#extension GL_GOOGLE_include_directive : require
// Few rows or few columns of C: each element of the large matrix is read once, by neighbouring
// work-items from neighbouring places, and used for every vector. Where the matrix lies along the
// outputs, items along x take four outputs each and items along y share the sum; where it lies
// along the sum, items along x share it and items along y take an output each. The shares are added
// up in shared memory.
#include "matmul_types.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#define MATMUL_ALIASED
#include "matmul_problem.glsl"
layout(constant_id = MATMUL_ID_VEC4) const uint VEC4 = 0;               // as in matmul_vector.comp
layout(constant_id = MATMUL_ID_MATRIX_IS_B) const uint MATRIX_IS_B = 1; // 0: A is the large one
layout(constant_id = MATMUL_ID_VECTORS) const uint VECTORS = 1;         // rows or columns of C
layout(constant_id = MATMUL_ID_LOADS) const uint LOADS = 4; // of a work-item, under way at a time
// Parts of the sum that a work-group computes one after another, beginning at either end, and then
// adds up in a fixed order.
layout(constant_id = MATMUL_ID_CHUNKS) const uint CHUNKS = 1;
layout(std430, set = 0, binding = 0) readonly buffer A4 { ELEMENT4 a4[]; };
layout(std430, set = 0, binding = 1) readonly buffer B4 { ELEMENT4 b4[]; };

const bool IS_B = MATRIX_IS_B != 0;
const bool BY_SUM = IS_B ? TRANSPOSE_B != 0 : TRANSPOSE_A == 0;
const bool FOURS = (VEC4 & (IS_B ? 2 : 1)) != 0;
const uint X = gl_WorkGroupSize.x, Y = gl_WorkGroupSize.y;

shared ACC4 partials[X * Y];

ACC one(uint output_, uint k)
{
    return IS_B ? TO_ACC(b[at_b(k, output_)]) : TO_ACC(a[at_a(output_, k)]);
}

ACC4 four(uint output_, uint k)
{
    return IS_B ? TO_ACC4(b4[at_b(k, output_) / 4]) : TO_ACC4(a4[at_a(output_, k) / 4]);
}

ACC vector_at(uint v, uint k)
{
    return IS_B ? TO_ACC(a[at_a(min(v, push.m - 1), k)]) : TO_ACC(b[at_b(k, min(v, push.n - 1))]);
}

uint outputs()
{
    return IS_B ? push.n : push.m;
}

// Where component j of four elements lies, along the outputs or along the sum: they are neighbours,
// or X elements apart.
uint spread(uint first, uint j)
{
    return FOURS ? first + gl_LocalInvocationID.x * 4 + j : first + gl_LocalInvocationID.x + j * X;
}

ACC4 sum[VECTORS];

ACC4 outputs_at(uint first, uint k)
{
    uint last = outputs() - 1;
    if (FOURS)
        return four(min(spread(first, 0), last - 3), k);
    ACC4 values;
    [[unroll]] for (uint j = 0; j < 4; j++)
        values[j] = one(min(spread(first, j), last), k);
    return values;
}

// Adds steps k_begin, k_begin + Y, … of the sum of four outputs. LOADS of them follow each other
// without a branch, since compilers move no load across one.
void add_outputs(uint first, uint k_begin, uint k_end)
{
    uint k = k_begin + gl_LocalInvocationID.y;
    for (; k + (LOADS - 1) * Y < k_end; k += LOADS * Y) {
        ACC4 values[LOADS];
        [[unroll]] for (uint u = 0; u < LOADS; u++)
            values[u] = outputs_at(first, k + u * Y);
        [[unroll]] for (uint u = 0; u < LOADS; u++)
            [[unroll]] for (uint v = 0; v < VECTORS; v++)
                sum[v] += values[u] * vector_at(v, k + u * Y);
    }
    [[dont_unroll]] for (; k < k_end; k += Y) {
        ACC4 values = outputs_at(first, k);
        [[unroll]] for (uint v = 0; v < VECTORS; v++)
            sum[v] += values * vector_at(v, k);
    }
}

ACC4 steps_at(uint output_, uint k0)
{
    if (FOURS)
        return four(output_, spread(k0, 0));
    ACC4 values;
    [[unroll]] for (uint j = 0; j < 4; j++)
        values[j] = one(output_, spread(k0, j));
    return values;
}

// The same for one output, four steps of the sum at a time.
void add_steps(uint output_, uint k_begin, uint k_end)
{
    output_ = min(output_, outputs() - 1);
    uint k0 = k_begin;
    for (; k0 + LOADS * 4 * X <= k_end; k0 += LOADS * 4 * X) {
        ACC4 values[LOADS];
        [[unroll]] for (uint u = 0; u < LOADS; u++)
            values[u] = steps_at(output_, k0 + u * 4 * X);
        [[unroll]] for (uint u = 0; u < LOADS; u++)
            [[unroll]] for (uint j = 0; j < 4; j++)
                [[unroll]] for (uint v = 0; v < VECTORS; v++)
                    sum[v][j] += values[u][j] * vector_at(v, spread(k0 + u * 4 * X, j));
    }
    [[dont_unroll]] for (; k0 < k_end; k0 += 4 * X)
        [[unroll]] for (uint j = 0; j < 4; j++) {
            uint k = spread(k0, j);
            if (k < k_end) {
                ACC value = one(output_, k);
                [[unroll]] for (uint v = 0; v < VECTORS; v++)
                    sum[v][j] += value * vector_at(v, k);
            }
        }
}

// Adds up `value` over the work-items that share a sum; the first of them gets the result.
ACC4 gather(ACC4 value)
{
    uint item = gl_LocalInvocationIndex;
    uint lane = BY_SUM ? gl_LocalInvocationID.x : gl_LocalInvocationID.y, step_ = BY_SUM ? 1 : X;
    barrier();
    partials[item] = value;
    for (uint count = BY_SUM ? X : Y; count > 1; count = (count + 1) / 2) {
        uint upper = (count + 1) / 2;
        barrier();
        if (lane + upper < count)
            partials[item] += partials[item + upper * step_];
    }
    return partials[item];
}

void store_output(uint base, uint v, uint output_, ACC value)
{
    if (output_ >= outputs() || v >= (IS_B ? push.m : push.n))
        return;
    if (IS_B)
        store(base, v, output_, value);
    else
        store(base, output_, v, value);
}

ACC4 chunk_sum[CHUNKS * VECTORS];

void add_chunk(uint chunk, uint first, uint k_begin, uint k_end)
{
    [[unroll]] for (uint v = 0; v < VECTORS; v++)
        sum[v] = ACC4(0);
    if (BY_SUM)
        add_steps(first + gl_LocalInvocationID.y, k_begin, k_end);
    else
        add_outputs(first, k_begin, k_end);
    [[unroll]] for (uint c = 0; c < CHUNKS; c++)
        if (c == chunk)
            [[unroll]] for (uint v = 0; v < VECTORS; v++)
                chunk_sum[c * VECTORS + v] = sum[v];
}

void accumulate(uint first, uint k_begin, uint k_end)
{
    uint length = ((k_end - k_begin - 1) / CHUNKS / 4 + 1) * 4;
    [[dont_unroll]] for (uint i = 0; i < CHUNKS; i++) {
        uint chunk = push.reversed != 0 ? CHUNKS - 1 - i : i;
        uint begin = min(k_begin + chunk * length, k_end);
        add_chunk(chunk, first, begin, min(begin + length, k_end));
    }
    [[unroll]] for (uint v = 0; v < VECTORS; v++) {
        sum[v] = chunk_sum[v];
        [[unroll]] for (uint c = 1; c < CHUNKS; c++)
            sum[v] += chunk_sum[c * VECTORS + v];
    }
}

void main()
{
    uint tiles = push.tiles_m * push.tiles_n, index = reversed_index();
    uint split = index / tiles, tile = index % tiles, k_begin = split * push.chunk;
    if (k_begin >= push.k) // the same for the whole work-group
        return;
    uint first = tile * (BY_SUM ? Y : 4 * X), my = first + gl_LocalInvocationID.y;
    accumulate(first, k_begin, min(push.k, k_begin + push.chunk));
    uint base = batch_c() + split * push.stride_split;
    [[unroll]] for (uint v = 0; v < VECTORS; v++) {
        ACC4 all = gather(sum[v]);
        if (BY_SUM) {
            if (gl_LocalInvocationID.x == 0)
                store_output(base, v, my, all[0] + all[1] + all[2] + all[3]);
        } else if (gl_LocalInvocationID.y == 0) {
            [[unroll]] for (uint j = 0; j < 4; j++)
                store_output(base, v, spread(first, j), all[j]);
        }
    }
}
