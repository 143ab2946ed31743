// MODULE analysis_entries
#version 450
#extension GL_GOOGLE_include_directive : require
// Looks whether all columns are in the matrix, and how far entries are from the diagonal. A
// work-group takes a tile of entries, and finds the row of each by bisection.
#include "analysis.glsl"
#include "analysis_counts.h"
layout(std430, set = 0, binding = 0) readonly restrict buffer Offsets { uint row_offsets[]; };
layout(std430, set = 0, binding = 1) readonly restrict buffer Columns { uint column_indices[]; };
layout(std430, set = 0, binding = 2) restrict buffer Counts { uint counts[]; };
layout(push_constant) uniform Push {
    uint rows, columns;
    uint room; // elements that the binding of columns has
    uint tile; // entries
} push;

shared uint ends[2]; // rows of the tile's first and last entries
shared uint bandwidth;

// The last row from `low` on, and before `high`, that begins at or before the entry.
uint row_of(uint entry, uint low, uint high)
{
    while (high - low > 1) {
        uint middle = low + (high - low) / 2;
        if (row_offsets[middle] <= entry)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void main()
{
    uint local = gl_LocalInvocationIndex;
    uint entries = min(row_offsets[push.rows], push.room);
    uint begin = group_number() * push.tile;
    if (begin >= entries)
        return;
    uint end = begin + min(push.tile, entries - begin);
    if (local < 2)
        ends[local] = row_of(local == 0 ? begin : end - 1, 0, push.rows);
    if (local == 0)
        bandwidth = 0;
    barrier();
    uint most = 0, low = ends[0], high = ends[1] + 1;
    for (uint entry = begin + local; entry < end; entry += gl_WorkGroupSize.x) {
        uint column = column_indices[entry], row = row_of(entry, low, high);
        if (column >= push.columns)
            atomicMin(counts[COUNTS_BAD_ENTRY], entry);
        most = max(most, column > row ? column - row : row - column);
    }
    atomicMax(bandwidth, most);
    barrier();
    if (local == 0)
        atomicMax(counts[COUNTS_BANDWIDTH], bandwidth);
}
