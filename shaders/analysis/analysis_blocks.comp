// MODULE analysis_blocks
#version 450
#extension GL_GOOGLE_include_directive : require
// How many of a row of square blocks have entries. A work-group takes such a row and marks its
// blocks in a map in shared memory, as many columns at a time as that has bits, from the lowest
// column on that is not marked yet.
#include "analysis.glsl"
#include "analysis_counts.h"
layout(std430, set = 0, binding = 0) readonly restrict buffer Offsets { uint row_offsets[]; };
layout(std430, set = 0, binding = 1) readonly restrict buffer Columns { uint column_indices[]; };
layout(std430, set = 0, binding = 2) restrict buffer Counts { uint counts[]; };
layout(push_constant) uniform Push {
    uint room;       // elements that the binding of columns has
    uint side;       // of a block
    uint step;       // every so many-th row of blocks is looked at
    uint block_rows; // rows of blocks that are looked at
} push;

const uint MAP_WORDS = 2048, MAP_BITS = 32 * MAP_WORDS;
shared uint map[MAP_WORDS];
shared uint lowest[2], found; // of those not marked yet, in turn

void add_to_counts(uint word, uint value)
{
    uint before = atomicAdd(counts[word], value);
    if (before > 0xffffffffu - value)
        atomicAdd(counts[word + 1], 1);
}

// Marks blocks from `base` on; returns how many of them this work-item was the first to mark, and
// tells `next` of those beyond the map.
uint mark(uint begin, uint end, uint base, uint next)
{
    uint count = 0;
    for (uint i = begin + gl_LocalInvocationIndex; i < end; i += gl_WorkGroupSize.x) {
        uint block = column_indices[i] / push.side, bit = 1u << ((block - base) & 31);
        if (block < base)
            continue;
        if (block - base >= MAP_BITS)
            atomicMin(lowest[next], block);
        else if ((atomicOr(map[(block - base) >> 5], bit) & bit) == 0)
            count++;
    }
    return count;
}

void main()
{
    uint local = gl_LocalInvocationIndex, number = group_number();
    if (number >= push.block_rows)
        return;
    uint row = number * push.step * push.side;
    uint end = min(row_offsets[row + push.side], push.room), begin = min(row_offsets[row], end);
    if (begin == end)
        return;
    if (local == 0) {
        lowest[0] = lowest[1] = 0xffffffffu;
        found = 0;
    }
    barrier();
    for (uint i = begin + local; i < end; i += gl_WorkGroupSize.x)
        atomicMin(lowest[0], column_indices[i] / push.side);
    barrier();
    for (uint set = 0;; set = 1 - set) {
        uint base = lowest[set];
        if (base == 0xffffffffu)
            break;
        for (uint i = local; i < MAP_WORDS; i += gl_WorkGroupSize.x)
            map[i] = 0;
        barrier();
        if (local == 0)
            lowest[set] = 0xffffffffu;
        uint count = mark(begin, end, base, 1 - set);
        if (count != 0)
            atomicAdd(found, count);
        barrier();
    }
    if (local == 0) {
        add_to_counts(COUNTS_BLOCK_ENTRIES + 2 * (push.side - 2), end - begin);
        add_to_counts(COUNTS_BLOCKS + 2 * (push.side - 2), found);
    }
}
