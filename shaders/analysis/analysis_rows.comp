// MODULE analysis_rows
#version 450
#extension GL_GOOGLE_include_directive : require
// Counts what statistics say of the row lengths, and looks whether the offsets ascend. Each
// work-group adds its counts up in shared memory first.
#include "analysis.glsl"
#include "analysis_counts.h"
layout(std430, set = 0, binding = 0) readonly restrict buffer Offsets { uint row_offsets[]; };
layout(std430, set = 0, binding = 1) restrict buffer Counts { uint counts[]; };
layout(push_constant) uniform Push {
    uint rows;
    uint slice_rows, slice_longest; // as in src/kernels/spmv/statistics.h
} push;

shared uint sums[COUNTS_FIRST];
shared uint loads_of[gl_WorkGroupSize.x];

void add(uint word, uint value, uint high)
{
    uint before = atomicAdd(sums[word], value);
    high += before > 0xffffffffu - value ? 1 : 0;
    if (high != 0)
        atomicAdd(sums[word + 1], high);
}

void add_to_counts(uint word, uint value, uint high)
{
    uint before = atomicAdd(counts[word], value);
    high += before > 0xffffffffu - value ? 1 : 0;
    if (high != 0)
        atomicAdd(counts[word + 1], high);
}

// The loads of a row among others; counts it in shared memory.
uint count_row(uint row)
{
    uint begin = row_offsets[row], end = row_offsets[row + 1];
    if (end < begin) {
        atomicMin(counts[COUNTS_BAD_ROW], row + 1);
        return 0;
    }
    uint length = end - begin, high, low;
    umulExtended(length, length, high, low);
    add(COUNTS_SQUARES, low, high);
    atomicMin(sums[COUNTS_SHORTEST], length);
    atomicMax(sums[COUNTS_LONGEST], length);
    atomicAdd(sums[COUNTS_HISTOGRAM + uint(findMSB(length) + 1)], 1);
    uint loads = length > push.slice_longest ? 0 : (length + 3) / 4;
    add(COUNTS_NEEDED, loads, 0);
    return loads;
}

// What the first of some rows side by side adds for all of them.
void count_side_by_side(uint first, uint row)
{
    uint most = 0, count = min(push.slice_rows, push.rows - row);
    for (uint i = 0; i < count; i++)
        most = max(most, loads_of[first + i]);
    add(COUNTS_TAKEN, most * count, 0);
}

void add_sums()
{
    uint at = gl_LocalInvocationIndex;
    if (at == 0) {
        atomicMin(counts[COUNTS_SHORTEST], sums[COUNTS_SHORTEST]);
        atomicMax(counts[COUNTS_LONGEST], sums[COUNTS_LONGEST]);
    }
    if (at < 3) {
        uint word = COUNTS_SQUARES + 2 * at;
        add_to_counts(word, sums[word], sums[word + 1]);
    }
    at += COUNTS_HISTOGRAM;
    if (at < COUNTS_FIRST && sums[at] != 0)
        atomicAdd(counts[at], sums[at]);
}

void main()
{
    uint local = gl_LocalInvocationIndex, size = gl_WorkGroupSize.x;
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    if (local < COUNTS_FIRST)
        sums[local] = local == COUNTS_SHORTEST ? 0xffffffffu : 0;
    if (group_number() == 0 && local < 2)
        counts[COUNTS_FIRST + local] = row_offsets[local * push.rows];
    barrier();
    for (uint first = group_number() * size; first < push.rows; first += groups * size) {
        uint row = first + local;
        loads_of[local] = row < push.rows ? count_row(row) : 0;
        barrier();
        if (local % push.slice_rows == 0 && row < push.rows)
            count_side_by_side(local, row);
        barrier();
    }
    add_sums();
}
