// MODULE stream_leaves
#version 450
#extension GL_GOOGLE_include_directive : require
// Where a block begins depends on all before it. So this finds for every row, a work-group a tile
// of them, how far a block goes that begins there, and where the blocks from there on leave the
// tile.
#include "analysis.glsl"
layout(std430, set = 0, binding = 0) readonly restrict buffer Offsets { uint row_offsets[]; };
layout(std430, set = 0, binding = 1) restrict buffer Work { uint work[]; };
#include "stream_rows.glsl"

const uint MOST_ITEMS = TILE / 128;
shared uint leaves[TILE];

// The row behind the last that a block from `row` on has room for: at least one.
uint row_behind(uint row)
{
    uint begin = row_offsets[row], low = row + 1, high = min(row + push.block_rows, push.rows);
    if (row_offsets[high] - begin <= push.block_entries)
        return high;
    while (high - low > 1) { // `low` has room, `high` has not
        uint middle = low + (high - low) / 2;
        if (row_offsets[middle] - begin <= push.block_entries)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void main()
{
    uint local = gl_LocalInvocationIndex, size = gl_WorkGroupSize.x;
    uint first = group_number() * TILE;
    if (first >= push.rows)
        return;
    uint here = min(TILE, push.rows - first);
    for (uint i = local; i < here; i += size) {
        uint behind = row_behind(first + i);
        work[push.next_at + first + i] = behind;
        leaves[i] = (behind - first) | 1u << LEAVES_BITS;
    }
    barrier();
    for (uint reach = 1; reach < here; reach *= 2) { // of twice as many blocks each time
        uint far[MOST_ITEMS];
        for (uint k = 0; k < MOST_ITEMS; k++) {
            uint i = local + k * size;
            uint word = i < here ? leaves[i] : here;
            uint at = word & ((1u << LEAVES_BITS) - 1);
            if (at < here)
                word = (word >> LEAVES_BITS << LEAVES_BITS) + leaves[at];
            far[k] = word;
        }
        barrier();
        for (uint k = 0; k < MOST_ITEMS; k++)
            if (local + k * size < here)
                leaves[local + k * size] = far[k];
        barrier();
    }
    for (uint i = local; i < here; i += size)
        work[push.leaves_at + first + i] = leaves[i];
}
