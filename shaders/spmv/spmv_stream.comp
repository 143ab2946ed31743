// MODULE spmv_stream_*
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// A work-group loads its block's entries side by side, leaves the products in shared memory, and
// each work-item adds up rows from there; the format is described in
// src/kernels/spmv/formats/stream.h. All loads but those of x have addresses that wait for no other
// load.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "spmv_ids.h"
#include "common/real.glsl"
// Four neighbouring entries: types of their values, products, and columns of 16 and 32 bits.
#if defined(WF_TYPE_F64)
#define PIECE dvec2
#define PRODUCTS dvec2
#define COLUMNS uvec2
const uint COUNT = 2;
#else
#ifdef WF_TYPE_F16
#define PIECE uvec2
#else
#define PIECE vec4
#endif
#define PRODUCTS vec4
#define COLUMNS uvec4
const uint COUNT = 4;
#endif
layout(constant_id = SPMV_ID_ITEMS) const uint ITEMS = 4; // entries a work-item
layout(constant_id = SPMV_ID_ROWS) const uint ROWS = 2;   // the most rows a work-item
layout(constant_id = SPMV_ID_WIDTH) const uint WIDTH = 2; // 8 << WIDTH bits a column
layout(constant_id = SPMV_ID_FOLDED) const uint FOLDED = 1; // 0: work-groups are all along x
layout(constant_id = SPMV_ID_SCALED) const uint SCALED = 1; // 0: y = A x, from y's first element
layout(constant_id = SPMV_ID_ALTERNATES) const uint ALTERNATES = 1; // 0: never reversed
const uint PIECES = ITEMS / COUNT, MOST_PIECES = 8, MOST_ROWS = 8;
const uint BLOCK_ENTRIES = gl_WorkGroupSize.x * ITEMS, BLOCK_ROWS = gl_WorkGroupSize.x * ROWS;
// Views of one buffer of words.
layout(std430, set = 0, binding = 0) readonly buffer Pattern { uint pattern[]; };
layout(std430, set = 0, binding = 0) readonly buffer Pattern2 { uvec2 pattern2[]; };
layout(std430, set = 0, binding = 0) readonly buffer Pattern4 { uvec4 pattern4[]; };
layout(std430, set = 0, binding = 1) readonly restrict buffer Values { PIECE values[]; };
layout(std430, set = 0, binding = 2) readonly restrict buffer X { REAL x[]; };
layout(std430, set = 0, binding = 3) restrict buffer Y { REAL y[]; };
layout(push_constant) uniform Push {
    REAL alpha, beta;
    uint blocks;
    uint base_y;
    uint reversed; // 1: the last block first, which the product before read last
} push;
shared PRODUCTS products[gl_WorkGroupSize.x * PIECES];

// Words of a block: its first row, its rows, the lowest column and a zero; where rows begin, two a
// word, and where the last one ends; columns.
const uint BEGINS = BLOCK_ROWS / 2 + 4;
const uint STRIDE = 4 + BEGINS + (BLOCK_ENTRIES << WIDTH) / 4;

PRODUCTS load_values(uint piece)
{
#ifdef WF_TYPE_F16
    uvec2 halves = values[piece];
    return vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y));
#else
    return values[piece];
#endif
}

COLUMNS load_columns(uint at, uint piece)
{
#ifdef WF_TYPE_F64
    if (WIDTH == 2)
        return pattern2[at / 2 + piece];
    uint packed = pattern[at + piece];
    return uvec2(packed & 65535u, packed >> 16);
#else
    if (WIDTH == 2)
        return pattern4[at / 4 + piece];
    uvec2 packed = pattern2[at / 2 + piece];
    return uvec4(packed.x & 65535u, packed.x >> 16, packed.y & 65535u, packed.y >> 16);
#endif
}

PRODUCTS gather(COLUMNS columns)
{
#ifdef WF_TYPE_F64
    return dvec2(x[columns.x], x[columns.y]);
#else
    return vec4(x[columns.x], x[columns.y], x[columns.z], x[columns.w]);
#endif
}

uint row_begin(uint at, uint row)
{
    uint word = pattern[at + row / 2];
    return (row & 1) == 0 ? word & 65535u : word >> 16;
}

void put_y(uint row, REAL sum)
{
    if (SCALED == 0) {
        y[row] = sum;
        return;
    }
    uint at = push.base_y + row;
    REAL result = push.alpha * sum;
    if (push.beta != REAL(0))
        result += push.beta * y[at];
    y[at] = result;
}

void multiply(uint at, uint first_piece, uint lowest)
{
    COLUMNS columns[MOST_PIECES];
    PRODUCTS a[MOST_PIECES];
    uint item = gl_LocalInvocationIndex;
    [[unroll]] for (uint i = 0; i < PIECES; i++) {
        columns[i] = load_columns(at, i * gl_WorkGroupSize.x + item);
        a[i] = load_values(first_piece + i * gl_WorkGroupSize.x + item);
    }
    [[unroll]] for (uint i = 0; i < PIECES; i++)
        products[i * gl_WorkGroupSize.x + item] = a[i] * gather(columns[i] + lowest);
}

void main()
{
    uint block = gl_WorkGroupID.x, item = gl_LocalInvocationIndex;
    if (FOLDED != 0)
        block += gl_WorkGroupID.y * gl_NumWorkGroups.x;
    if (FOLDED != 0 && block >= push.blocks)
        return;
    if (ALTERNATES != 0 && push.reversed != 0)
        block = push.blocks - 1 - block;
    uint at = block * STRIDE;
    uvec4 head = pattern4[at / 4];
    uint begins[MOST_ROWS], ends[MOST_ROWS];
    [[unroll]] for (uint k = 0; k < ROWS; k++) {
        uint row = k * gl_WorkGroupSize.x + item;
        begins[k] = row_begin(at + 4, row);
        ends[k] = row_begin(at + 4, row + 1);
    }
    multiply(at + 4 + BEGINS, block * (BLOCK_ENTRIES / COUNT), head.z);
    barrier();
    REAL sums[MOST_ROWS];
    uint longest = 0;
    [[unroll]] for (uint k = 0; k < ROWS; k++) {
        sums[k] = REAL(0);
        longest = max(longest, ends[k] - begins[k]);
    }
    for (uint n = 0; n < longest; n++)
        [[unroll]] for (uint k = 0; k < ROWS; k++) {
            uint entry = begins[k] + n;
            if (entry < ends[k])
                sums[k] += products[entry / COUNT][entry % COUNT];
        }
    [[unroll]] for (uint k = 0; k < ROWS; k++)
        if (k * gl_WorkGroupSize.x + item < head.y)
            put_y(head.x + k * gl_WorkGroupSize.x + item, sums[k]);
}
