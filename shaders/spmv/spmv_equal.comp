// MODULE spmv_equal_*
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
// A subgroup multiplies a block of rows, all blocks of one size; the format is described in
// src/kernels/spmv/formats/equal.h. All loads but those of x have addresses that wait for no other
// load. Several subgroups multiply a group row and add up in shared memory. A row that is too long
// for that has segments, whose partial sums the last one to finish adds up, in the order of the
// segments: the sum does not depend on which one is last.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "spmv_ids.h"
#include "common/real.glsl"
#if defined(WF_TYPE_F64)
#define REAL4 dvec4
#define PIECE dvec2
#elif defined(WF_TYPE_F16)
#define REAL4 vec4
#define PIECE uvec2
#else
#define REAL4 vec4
#define PIECE vec4
#endif
layout(constant_id = SPMV_ID_LOADS) const uint LOADS = 2;   // a block
layout(constant_id = SPMV_ID_SLICES) const uint SLICES = 1; // a block
layout(constant_id = SPMV_ID_WIDTH) const uint WIDTH = 2;   // 8 << WIDTH bits a column
layout(constant_id = SPMV_ID_BASED) const uint BASED = 0;   // 1: columns are distances from bases
layout(constant_id = SPMV_ID_GROUP_ROWS) const uint GROUP_ROWS = 1; // 0: there are no group rows
// A kernel waits for push constants before its first load. Most products need none of those that
// these two guard.
layout(constant_id = SPMV_ID_FOLDED) const uint FOLDED = 1; // 0: work-groups are all along x
layout(constant_id = SPMV_ID_SCALED) const uint SCALED = 1; // 0: y = A x, from y's first element
const uint MOST_LOADS = 8, MOST_SLICES = 8;
// Three views of one buffer: words are read one, two or four at a time.
layout(std430, set = 0, binding = 0) readonly buffer Pattern { uint pattern[]; };
layout(std430, set = 0, binding = 0) readonly buffer Pattern2 { uvec2 pattern2[]; };
layout(std430, set = 0, binding = 0) readonly buffer Pattern4 { uvec4 pattern4[]; };
layout(std430, set = 0, binding = 1) readonly restrict buffer Values { PIECE values[]; };
layout(std430, set = 0, binding = 2) readonly restrict buffer X { REAL x[]; };
layout(std430, set = 0, binding = 3) restrict buffer Y { REAL y[]; };
// 16 bytes a segment: a counter, of which a row uses that of its first segment, and from byte 8 on
// the sum.
layout(std430, set = 0, binding = 4) coherent buffer Scratch { uint scratch[]; };
layout(std430, set = 0, binding = 4) coherent buffer Scratch2 { uvec2 scratch2[]; };
layout(push_constant) uniform Push {
    REAL alpha, beta;
    uint blocks;
    uint base_y;
} push;

REAL4 load_values(uint load)
{
    uint lane = gl_SubgroupInvocationID;
#if defined(WF_TYPE_F64)
    return dvec4(values[load * 2 * gl_SubgroupSize + lane],
                 values[(load * 2 + 1) * gl_SubgroupSize + lane]);
#elif defined(WF_TYPE_F16)
    uvec2 halves = values[load * gl_SubgroupSize + lane];
    return vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y));
#else
    return values[load * gl_SubgroupSize + lane];
#endif
}

// Where the words of a block's bases begin; its lanes' words are before them.
uint bases_of(uint block)
{
    uint words = SLICES * gl_SubgroupSize;
    return block * (words + BASED * 4 * LOADS + (LOADS * gl_SubgroupSize << WIDTH)) + words;
}

uvec4 load_columns(uint block, uint load)
{
    uint bases = bases_of(block), lane = load * gl_SubgroupSize + gl_SubgroupInvocationID;
    uint at = bases + BASED * 4 * LOADS;
    uvec4 columns = uvec4(0);
    if (WIDTH == 0) {
        uint packed = pattern[at + lane];
        columns = uvec4(packed, packed >> 8, packed >> 16, packed >> 24) & 255u;
    } else if (WIDTH == 1) {
        uvec2 packed = pattern2[at / 2 + lane];
        columns = uvec4(packed.x & 65535u, packed.x >> 16, packed.y & 65535u, packed.y >> 16);
    } else {
        columns = pattern4[at / 4 + lane];
    }
    return BASED != 0 ? columns + pattern4[bases / 4 + load] : columns;
}

REAL4 gather(uvec4 columns)
{
    return REAL4(x[columns.x], x[columns.y], x[columns.z], x[columns.w]);
}

REAL add_lanes(REAL sum, uint height)
{
    for (uint distance = height; distance < gl_SubgroupSize; distance *= 2)
        sum += subgroupShuffleXor(sum, distance);
    return sum;
}

REAL add(REAL sum, REAL4 a, REAL4 b)
{
    return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum))));
}

#include "spmv_padding.glsl"

REAL products_of(REAL4 a, REAL4 b)
{
    return product_of(a.x, b.x) + product_of(a.y, b.y) + product_of(a.z, b.z) +
           product_of(a.w, b.w);
}

void put_partial(uint segment, REAL sum)
{
#ifdef WF_TYPE_F64
    scratch2[2 * segment + 1] = unpackDouble2x32(sum);
#else
    scratch[4 * segment + 2] = floatBitsToUint(sum);
#endif
}

REAL get_partial(uint segment)
{
#ifdef WF_TYPE_F64
    return packDouble2x32(scratch2[2 * segment + 1]);
#else
    return uintBitsToFloat(scratch[4 * segment + 2]);
#endif
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

// Adds up the sums of the lanes of each row, and writes the rows; word: the lane's.
void put_slice(uint word, REAL sum)
{
    sum = add_lanes(sum, 1u << ((word >> 27) & 7u));
    if (word >> 31 == 0) // an empty row has no column of its own for padding to repeat
        put_y(word & 0x3ffffffu, (word >> 30) != 0 ? REAL(0) : sum);
}

#include "spmv_segments.glsl"

// descriptor: row, first segment of the row, this segment, segments << 4.
void finish_segment(uvec4 descriptor, REAL sum)
{
    uint lane = gl_SubgroupInvocationID, before = 0, count = descriptor.w >> 4;
    if (lane == 0) {
        put_partial(descriptor.z, sum);
        before = count_segment(4 * descriptor.y);
    }
    if (subgroupShuffle(before, 0) != count - 1)
        return;
    see_segments();
    sum = REAL(0);
    for (uint i = lane; i < count; i += gl_SubgroupSize)
        sum += get_partial(descriptor.y + i);
    sum = add_lanes(sum, 1);
    if (lane == 0) {
        put_y(descriptor.x, sum);
        scratch[4 * descriptor.y] = 0; // for the next product
    }
}

// Finishes a block of a group row; a work-group has only such blocks, or none. The words of the
// first four lanes are the row (all ones: none), its first segment, this segment, and log2 of the
// blocks that add up with the row's segments << 4.
const uint MOST_SUBGROUPS = gl_WorkGroupSize.x / 4;
shared REAL sums[MOST_SUBGROUPS];
void finish_group_row(uint word, REAL sum)
{
    word &= 0x3ffffffu;
    uvec4 descriptor = uvec4(subgroupShuffle(word, 0), subgroupShuffle(word, 1),
                       subgroupShuffle(word, 2), subgroupShuffle(word, 3));
    sum = add_lanes(sum, 1);
    if (gl_SubgroupInvocationID == 0)
        sums[gl_SubgroupID] = sum;
    barrier();
    uint row_subgroups = 1u << (descriptor.w & 15u);
    if ((gl_SubgroupID & (row_subgroups - 1)) != 0 || descriptor.x == 0x3ffffffu)
        return;
    for (uint i = 1; i < row_subgroups; i++)
        sum += sums[gl_SubgroupID + i];
    if (descriptor.w >> 4 != 0)
        finish_segment(descriptor, sum);
    else if (gl_SubgroupInvocationID == 0)
        put_y(descriptor.x, sum);
}

void main()
{
    uint group = gl_WorkGroupID.x;
    if (FOLDED != 0)
        group += gl_WorkGroupID.y * gl_NumWorkGroups.x;
    uint block = group * gl_NumSubgroups + gl_SubgroupID;
    if (FOLDED != 0 && block >= push.blocks)
        return;
    uint words[MOST_SLICES];
    uvec4 columns[MOST_LOADS];
    REAL4 a[MOST_LOADS], b[MOST_LOADS];
    [[unroll]] for (uint i = 0; i < SLICES; i++)
        words[i] = pattern[bases_of(block) - (SLICES - i) * gl_SubgroupSize +
                           gl_SubgroupInvocationID];
    [[unroll]] for (uint i = 0; i < LOADS; i++) {
        columns[i] = load_columns(block, i);
        a[i] = load_values(block * LOADS + i);
    }
    [[unroll]] for (uint i = 0; i < LOADS; i++)
        b[i] = gather(columns[i]);
    if (GROUP_ROWS != 0 && (words[0] & (1u << 26)) != 0) {
        REAL sum = REAL(0);
        [[unroll]] for (uint i = 0; i < LOADS; i++)
            sum = add(sum, a[i], b[i]);
        if (isnan(sum)) {
            sum = REAL(0);
            [[unroll]] for (uint i = 0; i < LOADS; i++)
                sum += products_of(a[i], b[i]);
        }
        finish_group_row(words[0], sum);
        return;
    }
    if (SLICES <= LOADS) {
        const uint each = max(LOADS / SLICES, 1u);
        [[unroll]] for (uint k = 0; k < SLICES; k++) {
            REAL sum = REAL(0);
            [[unroll]] for (uint i = 0; i < each; i++)
                sum = add(sum, a[k * each + i], b[k * each + i]);
            if (isnan(sum)) {
                sum = REAL(0);
                [[unroll]] for (uint i = 0; i < each; i++)
                    sum += products_of(a[k * each + i], b[k * each + i]);
            }
            put_slice(words[k], sum);
        }
    } else if (SLICES == 2 * LOADS) {
        [[unroll]] for (uint i = 0; i < LOADS; i++) {
            REAL low = fma(a[i].y, b[i].y, a[i].x * b[i].x);
            REAL high = fma(a[i].w, b[i].w, a[i].z * b[i].z);
            if (isnan(low))
                low = product_of(a[i].x, b[i].x) + product_of(a[i].y, b[i].y);
            if (isnan(high))
                high = product_of(a[i].z, b[i].z) + product_of(a[i].w, b[i].w);
            put_slice(words[2 * i], low);
            put_slice(words[2 * i + 1], high);
        }
    } else {
        [[unroll]] for (uint i = 0; i < LOADS; i++) {
            put_slice(words[4 * i], product_of(a[i].x, b[i].x));
            put_slice(words[4 * i + 1], product_of(a[i].y, b[i].y));
            put_slice(words[4 * i + 2], product_of(a[i].z, b[i].z));
            put_slice(words[4 * i + 3], product_of(a[i].w, b[i].w));
        }
    }
}
