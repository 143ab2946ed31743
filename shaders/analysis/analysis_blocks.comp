// MODULE analysis_blocks
#version 450
#extension GL_GOOGLE_include_directive : require
// How many of a row of square blocks have entries. A work-group takes such a row and marks its
// blocks in a map in shared memory, as many columns at a time as that has bits.
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
shared uint lowest, highest, found;

void add_to_counts(uint word, uint value)
{
    uint before = atomicAdd(counts[word], value);
    if (before > 0xffffffffu - value)
        atomicAdd(counts[word + 1], 1);
}

// Marks blocks from `base` on; returns how many of them this work-item was the first to mark.
uint mark(uint begin, uint end, uint base)
{
    uint count = 0;
    for (uint i = begin + gl_LocalInvocationIndex; i < end; i += gl_WorkGroupSize.x) {
        uint at = column_indices[i] / push.side - base, bit = 1u << (at & 31);
        if (at < MAP_BITS && (atomicOr(map[at >> 5], bit) & bit) == 0)
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
        lowest = 0xffffffffu;
        highest = found = 0;
    }
    barrier();
    for (uint i = begin + local; i < end; i += gl_WorkGroupSize.x) {
        atomicMin(lowest, column_indices[i] / push.side);
        atomicMax(highest, column_indices[i] / push.side);
    }
    barrier();
    for (uint base = lowest;; base += MAP_BITS) {
        for (uint i = local; i < MAP_WORDS; i += gl_WorkGroupSize.x)
            map[i] = 0;
        barrier();
        uint count = mark(begin, end, base);
        if (count != 0)
            atomicAdd(found, count);
        barrier();
        if (highest - base < MAP_BITS)
            break;
    }
    if (local == 0) {
        add_to_counts(COUNTS_BLOCK_ENTRIES + 2 * (push.side - 2), end - begin);
        add_to_counts(COUNTS_BLOCKS + 2 * (push.side - 2), found);
    }
}
