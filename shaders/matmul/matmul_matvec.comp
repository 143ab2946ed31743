#version 450
#extension GL_GOOGLE_include_directive : require
// Few rows or few columns of C: each element of the large matrix is read once, by neighbouring
// work-items from neighbouring places, and used for every vector. Where the matrix lies along the outputs, items
// along x take four outputs each and items along y share the sum; where it lies along the sum, items along x share it
// and items along y take an output each. The shares are added up in shared memory.
#include "matmul_types.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#define MATMUL_ALIASED
#include "matmul_problem.glsl"
layout(constant_id = MATMUL_ID_WIDE) const uint WIDE = 0;               // as in matmul_vector.comp
layout(constant_id = MATMUL_ID_MATRIX_IS_B) const uint MATRIX_IS_B = 1; // 0: A is the large one
layout(constant_id = MATMUL_ID_VECTORS) const uint VECTORS = 1;         // rows or columns of C
layout(std430, set = 0, binding = 0) readonly buffer A4 { ELEMENT4 a4[]; };
layout(std430, set = 0, binding = 1) readonly buffer B4 { ELEMENT4 b4[]; };

const bool IS_B = MATRIX_IS_B != 0;
const bool BY_SUM = IS_B ? TRANSPOSE_B != 0 : TRANSPOSE_A == 0;
const bool FOURS = (WIDE & (IS_B ? 2 : 1)) != 0;
const uint X = gl_WorkGroupSize.x, Y = gl_WorkGroupSize.y;
const uint AT_ONCE = 4; // loads under way an item

shared ACC4 part[X * Y];

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

// Where component j of a four lies, along outputs or along the sum: four in a row, or X apart.
uint spread(uint first, uint j)
{
    return FOURS ? first + gl_LocalInvocationID.x * 4 + j : first + gl_LocalInvocationID.x + j * X;
}

ACC4 sum[VECTORS];

// The sum's steps k0, k0 + Y, … for four outputs.
void add_outputs(uint first, uint k_begin, uint k_end)
{
    uint k = k_begin + gl_LocalInvocationID.y, last = outputs() - 1;
    for (; k < k_end; k += AT_ONCE * Y) {
        ACC4 values[AT_ONCE];
        [[unroll]] for (uint u = 0; u < AT_ONCE; u++) {
            uint from = min(k + u * Y, k_end - 1);
            if (FOURS)
                values[u] = four(min(spread(first, 0), last - 3), from);
            else
                [[unroll]] for (uint j = 0; j < 4; j++)
                    values[u][j] = one(min(spread(first, j), last), from);
        }
        [[unroll]] for (uint u = 0; u < AT_ONCE; u++)
            if (k + u * Y < k_end)
                [[unroll]] for (uint v = 0; v < VECTORS; v++)
                    sum[v] += values[u] * vector_at(v, k + u * Y);
    }
}

// One output; steps of the sum in fours.
void add_steps(uint output_, uint k_begin, uint k_end)
{
    output_ = min(output_, outputs() - 1);
    for (uint k0 = k_begin; k0 < k_end; k0 += AT_ONCE * 4 * X) {
        ACC4 values[AT_ONCE];
        [[unroll]] for (uint u = 0; u < AT_ONCE; u++) {
            uint from = k0 + u * 4 * X;
            if (FOURS)
                values[u] = four(output_, min(spread(from, 0), k_end - 4));
            else
                [[unroll]] for (uint j = 0; j < 4; j++)
                    values[u][j] = one(output_, min(spread(from, j), k_end - 1));
        }
        [[unroll]] for (uint u = 0; u < AT_ONCE; u++)
            [[unroll]] for (uint j = 0; j < 4; j++) {
                uint k = spread(k0 + u * 4 * X, j);
                if (k < k_end)
                    [[unroll]] for (uint v = 0; v < VECTORS; v++)
                        sum[v][j] += values[u][j] * vector_at(v, k);
            }
    }
}

// Adds value over the items that share a sum; the first of them gets it.
ACC4 gather(ACC4 value)
{
    uint item = gl_LocalInvocationIndex;
    uint lane = BY_SUM ? gl_LocalInvocationID.x : gl_LocalInvocationID.y, step_ = BY_SUM ? 1 : X;
    barrier();
    part[item] = value;
    for (uint count = BY_SUM ? X : Y; count > 1; count = (count + 1) / 2) {
        uint upper = (count + 1) / 2;
        barrier();
        if (lane + upper < count)
            part[item] += part[item + upper * step_];
    }
    return part[item];
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

void main()
{
    uint tiles = push.tiles_m * push.tiles_n;
    uint split = tile_index() / tiles, tile = tile_index() % tiles, k_begin = split * push.chunk;
    if (k_begin >= push.k) // the same for the whole work-group
        return;
    uint k_end = min(push.k, k_begin + push.chunk);
    uint first = tile * (BY_SUM ? Y : 4 * X), my = first + gl_LocalInvocationID.y;
    [[unroll]] for (uint v = 0; v < VECTORS; v++)
        sum[v] = ACC4(0);
    if (BY_SUM)
        add_steps(my, k_begin, k_end);
    else
        add_outputs(first, k_begin, k_end);
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
