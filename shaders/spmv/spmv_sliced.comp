// MODULE spmv_sliced_*
// MODULE spmv_fused_* TYPES f32 f64 DEFINES FUSED
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
// A subgroup multiplies a slice of rows, four entries a lane and load; the format is described in
// src/kernels/spmv/formats/sliced.h. Several subgroups multiply a group row and add up in shared
// memory. A row that is too long for that has segments, whose partial sums the last one to finish
// adds up, in the order of the segments: the sum does not depend on which one is last.
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
// Two views of one buffer: slices and bases are read four words at a time.
layout(std430, set = 0, binding = 0) readonly buffer Pattern { uint pattern[]; };
layout(std430, set = 0, binding = 0) readonly buffer Pattern4 { uvec4 pattern4[]; };
layout(std430, set = 0, binding = 1) readonly restrict buffer Values { PIECE values[]; };
layout(std430, set = 0, binding = 2) readonly restrict buffer X { REAL x[]; };
layout(std430, set = 0, binding = 3) restrict buffer Y { REAL y[]; };
// Counters of long rows, and the sums of segments as bits.
layout(std430, set = 0, binding = 4) coherent buffer Scratch { uint scratch[]; };
layout(std430, set = 0, binding = 4) coherent buffer Scratch2 { uvec2 scratch2[]; };
#ifdef FUSED
// 1: there are fewer work-groups than the slices need, and each takes several in a loop; without
// that loop loads leave earlier.
layout(constant_id = SPMV_ID_GRID_STRIDE) const uint GRID_STRIDE = 0;
// Partial sums of the dot product of x and y: one a work-group, then one a row of segments.
layout(std430, set = 0, binding = 5) writeonly restrict buffer Partials { REAL partials[]; };
#endif
layout(push_constant) uniform Push {
    REAL alpha, beta;
    uint slices;
    uint group_row_groups; // work-groups with group rows, which come first
    uint segments_at; // in units of 16 bytes
    uint list_at;
    uint partials_at;
    uint base_y;
    uint groups;   // FUSED: work-groups that the slices need, if each took its slices alone
    uint reversed; // 1: the last slices first, behind those of group rows
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

// The four columns of this lane; `at` is where the load's indices begin, in units of 16 bytes.
uvec4 columns8(uint at)
{
    uint packed = pattern[(at + 1) * 4 + gl_SubgroupInvocationID];
    return pattern4[at] + (uvec4(packed, packed >> 8, packed >> 16, packed >> 24) & 255u);
}

uvec4 columns16(uint at)
{
    uint word = (at + 1) * 4 + gl_SubgroupInvocationID;
    uint low = pattern[word], high = pattern[word + gl_SubgroupSize];
    return pattern4[at] + uvec4(low & 65535u, low >> 16, high & 65535u, high >> 16);
}

uvec4 columns32(uint at)
{
    uint word = at * 4 + gl_SubgroupInvocationID;
    return uvec4(pattern[word], pattern[word + gl_SubgroupSize],
                 pattern[word + 2 * gl_SubgroupSize], pattern[word + 3 * gl_SubgroupSize]);
}

REAL4 gather(uvec4 columns)
{
    return REAL4(x[columns.x], x[columns.y], x[columns.z], x[columns.w]);
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

// Columns from offsets: the lane's row plus the offset of the slot, or of padding.
uvec4 columns_by_offset(uint at, uint row, uint bits, uint padding)
{
    uvec4 offsets = pattern4[at];
    return row + uvec4((bits & 1u) != 0 ? offsets.x : padding,
                       (bits & 2u) != 0 ? offsets.y : padding,
                       (bits & 4u) != 0 ? offsets.z : padding,
                       (bits & 8u) != 0 ? offsets.w : padding);
}

// The number of the load that is n-th in order. Where all slices are under way at once, the order
// of their loads decides what a cache still holds. It decides about the sum's bits too, so only
// fused products reverse it: the solver tells them the direction.
uint load_in_order(uint n, uint loads)
{
#ifdef FUSED
    if (push.reversed != 0)
        return loads - 1 - n;
#endif
    return n;
}

// Does COUNT loads together, so that their gathers are under way at once.
#define STEP(COLUMNS, COUNT) \
    for (; n + COUNT <= loads; n += COUNT) { \
        uvec4 c[COUNT]; \
        REAL4 a[COUNT], b[COUNT]; \
        for (uint i = 0; i < COUNT; i++) { \
            uint number = load_in_order(n + i, loads); \
            c[i] = COLUMNS(number); \
            a[i] = load_values(load + number); \
        } \
        for (uint i = 0; i < COUNT; i++) \
            b[i] = gather(c[i]); \
        for (uint i = 0; i < COUNT; i++) \
            sum = add(sum, a[i], b[i]); \
    }

#define MULTIPLY(COLUMNS) \
    STEP(COLUMNS, 4) \
    STEP(COLUMNS, 2) \
    STEP(COLUMNS, 1)

#define COLUMNS8(n) columns8(at + (n) * (1 + gl_SubgroupSize / 4))
#define COLUMNS16(n) columns16(at + (n) * (1 + gl_SubgroupSize / 2))
#define COLUMNS32(n) columns32(at + (n) * gl_SubgroupSize)
#define BY_OFFSET(n) columns_by_offset(offsets + ((n) << log_step), row, bits >> 4 * (n), padding)

#define WITHOUT_PADDING(COLUMNS) \
    for (uint n = 0; n < loads; n++) \
        sum += products_of(load_values(load + n), gather(COLUMNS(n)));

REAL sum_without_padding(uvec4 slice)
{
    uint at = slice.x, load = slice.y, loads = slice.z & 4095u;
    uint width = (slice.z >> 16) & 3u;
    REAL sum = REAL(0);
    if (width == 0) {
        WITHOUT_PADDING(COLUMNS8)
    } else if (width == 1) {
        WITHOUT_PADDING(COLUMNS16)
    } else if (width == 2) {
        WITHOUT_PADDING(COLUMNS32)
    } else {
        uint lane = gl_SubgroupInvocationID, log_height = (slice.z >> 18) & 15u;
        uint log_step = findLSB(gl_SubgroupSize) - log_height;
        uint row = slice.w + (lane & ((1u << log_height) - 1));
        uint padding = pattern[at * 4], bits = pattern[(at + 1) * 4 + lane];
        uint offsets = at + 1 + gl_SubgroupSize / 4 + (lane >> log_height);
        WITHOUT_PADDING(BY_OFFSET)
    }
    return sum;
}

REAL partial_sum(uvec4 slice)
{
    uint at = slice.x, load = slice.y, loads = slice.z & 4095u;
    uint width = (slice.z >> 16) & 3u;
    uint n = 0;
    REAL sum = REAL(0);
    if (width == 0) {
        MULTIPLY(COLUMNS8)
    } else if (width == 1) {
        MULTIPLY(COLUMNS16)
    } else if (width == 2) {
        MULTIPLY(COLUMNS32)
    } else {
        uint lane = gl_SubgroupInvocationID, log_height = (slice.z >> 18) & 15u;
        uint log_step = findLSB(gl_SubgroupSize) - log_height;
        uint row = slice.w + (lane & ((1u << log_height) - 1));
        uint padding = pattern[at * 4], bits = pattern[(at + 1) * 4 + lane];
        uint offsets = at + 1 + gl_SubgroupSize / 4 + (lane >> log_height);
        MULTIPLY(BY_OFFSET)
    }
    return isnan(sum) ? sum_without_padding(slice) : sum;
}

REAL add_lanes(REAL sum, uint height)
{
    for (uint distance = height; distance < gl_SubgroupSize; distance *= 2)
        sum += subgroupShuffleXor(sum, distance);
    return sum;
}

// partials_at is counted in the words of a partial sum.
void put_partial(uint segment, REAL sum)
{
#ifdef WF_TYPE_F64
    scratch2[push.partials_at + segment] = unpackDouble2x32(sum);
#else
    scratch[push.partials_at + segment] = floatBitsToUint(sum);
#endif
}

REAL get_partial(uint segment)
{
#ifdef WF_TYPE_F64
    return packDouble2x32(scratch2[push.partials_at + segment]);
#else
    return uintBitsToFloat(scratch[push.partials_at + segment]);
#endif
}

// Returns what the row adds to the dot product of x and y.
REAL put_y(uint row, REAL sum)
{
    uint at = push.base_y + row;
    REAL result = push.alpha * sum;
    if (push.beta != REAL(0))
        result += push.beta * y[at];
    y[at] = result;
#ifdef FUSED
    return x[row] * result;
#else
    return REAL(0);
#endif
}

#include "spmv_segments.glsl"

// descriptor: row, first segment, segments, number of the long row.
void finish_segment(uint segment, uvec4 descriptor, REAL sum)
{
    uint lane = gl_SubgroupInvocationID, before = 0;
    if (lane == 0) {
        put_partial(segment, sum);
        before = count_segment(descriptor.w);
    }
    if (subgroupShuffle(before, 0) != descriptor.z - 1)
        return;
    see_segments();
    sum = REAL(0);
    for (uint i = lane; i < descriptor.z; i += gl_SubgroupSize)
        sum += get_partial(descriptor.y + i);
    sum = add_lanes(sum, 1);
    if (lane == 0) {
        REAL product = put_y(descriptor.x, sum);
        scratch[descriptor.w] = 0; // for the next product
#ifdef FUSED // whichever work-group comes last, the sum stands in the same place
        partials[gl_NumWorkGroups.x * gl_NumWorkGroups.y + descriptor.w] = product;
#endif
    }
}

// Adds up the sums of the 1 << log subgroups that multiply a group row. False: another one of these
// subgroups goes on with the sum.
const uint MOST_SUBGROUPS = gl_WorkGroupSize.x / 4;
shared REAL sums[MOST_SUBGROUPS];
bool add_group_row(uint log, inout REAL sum)
{
#ifdef FUSED
    barrier(); // all have read the sums of the slices before
#endif
    if (gl_SubgroupInvocationID == 0)
        sums[gl_SubgroupID] = sum;
    barrier();
    uint row_subgroups = 1u << log;
    if ((gl_SubgroupID & (row_subgroups - 1)) != 0)
        return false;
    for (uint i = 1; i < row_subgroups; i++)
        sum += sums[gl_SubgroupID + i];
    return true;
}

REAL finish_rows(uvec4 slice, uint height, REAL sum)
{
    uint at = gl_SubgroupInvocationID;
    REAL product = REAL(0);
    if (at <= slice.z >> 24 && at < height) {
        uint row = slice.w + at;
        if ((slice.z & (1u << 22)) != 0) {
            row = pattern[push.list_at + row];
            if (row >> 31 != 0)
                sum = REAL(0); // an empty row has no column of its own for padding to repeat
            row &= 0x7fffffffu;
        }
        product = put_y(row, sum);
    }
    return product;
}

// The slices of a work-group; returns what this invocation's rows add to the dot product.
REAL multiply(uint group)
{
    uint number = group * gl_NumSubgroups + gl_SubgroupID;
    bool has_group_rows = group < push.group_row_groups, there = number < push.slices;
    if (!there && !has_group_rows)
        return REAL(0);
    uvec4 slice = there ? pattern4[number] : uvec4(0);
    uvec4 descriptor = uvec4(0);
    bool segment = (slice.z & (1u << 23)) != 0;
    if (segment) // early, so that the sum does not have to wait for it
        descriptor = pattern4[push.segments_at + slice.w];
    uint height = 1u << ((slice.z >> 18) & 15u);
    REAL sum = add_lanes(partial_sum(slice), height);
    if (has_group_rows)
        there = add_group_row((slice.z >> 12) & 15u, sum) && there;
    REAL product = REAL(0);
    if (there && segment)
        finish_segment(slice.w, descriptor, sum);
    else if (there)
        product = finish_rows(slice, height, sum);
    return product;
}

// The work-group's place in the order: what the product before read last, a cache may still hold.
uint in_order(uint group)
{
    bool reversed = push.reversed != 0 && group >= push.group_row_groups && group < push.groups;
    return reversed ? push.groups - 1 - (group - push.group_row_groups) : group;
}

void main()
{
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
#ifdef FUSED
    REAL dot_product = REAL(0);
    if (GRID_STRIDE != 0) {
        for (uint i = group; i < push.groups; i += gl_NumWorkGroups.x * gl_NumWorkGroups.y)
            dot_product += multiply(in_order(i));
    } else {
        group = in_order(group);
        dot_product = multiply(group);
    }
    dot_product = add_lanes(dot_product, 1);
    barrier();
    if (gl_SubgroupInvocationID == 0)
        sums[gl_SubgroupID] = dot_product;
    barrier();
    if (gl_SubgroupID == 0 && gl_SubgroupInvocationID == 0) {
        for (uint i = 1; i < gl_NumSubgroups; i++)
            dot_product += sums[i];
        partials[group] = dot_product;
    }
#else
    multiply(in_order(group));
#endif
}
