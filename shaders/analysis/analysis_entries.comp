// MODULE analysis_entries
#version 450
#extension GL_GOOGLE_include_directive : require
// Looks whether all columns are in the matrix, and how far entries are from the diagonal. A
// work-group takes a tile of entries, finds the rows of its first and last ones together, and the
// row of each entry among them by bisection.
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

const uint MOST_OFFSETS = 1024;
shared uint ends[2];               // rows of the tile's first and last entries
shared uint offsets[MOST_OFFSETS]; // of the rows from the first on
shared uint bandwidth;

// Finds the last rows that begin at or before two entries, each with half of the work-items, which
// look at rows as far apart as there are rows left for each.
void find_ends(uint first, uint last)
{
    uint most = gl_WorkGroupSize.x / 2, which = gl_LocalInvocationIndex / most;
    uint entry = which == 0 ? first : last, number = gl_LocalInvocationIndex % most;
    for (uint left = push.rows, step; left > 1; left = step) {
        step = (left - 1) / most + 1;
        uint row = ends[which] + number * step;
        barrier(); // all have read the end
        if (number * step < left && row < push.rows && row_offsets[row] <= entry)
            atomicMax(ends[which], row);
        barrier();
    }
}

uint offset_of(uint row, uint low, bool near)
{
    return near ? offsets[row - low] : row_offsets[row];
}

// The last row from `low` on, and before `high`, that begins at or before the entry.
uint row_of(uint entry, uint low, uint high, bool near)
{
    uint first = low;
    while (high - low > 1) {
        uint middle = low + (high - low) / 2;
        if (offset_of(middle, first, near) <= entry)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void main()
{
    uint local = gl_LocalInvocationIndex, size = gl_WorkGroupSize.x;
    uint entries = min(row_offsets[push.rows], push.room);
    uint begin = group_number() * push.tile;
    if (begin >= entries)
        return;
    uint end = begin + min(push.tile, entries - begin);
    if (local < 2)
        ends[local] = 0;
    if (local == 0)
        bandwidth = 0;
    barrier();
    find_ends(begin, end - 1);
    uint most = 0, low = ends[0], high = max(ends[1], low) + 1;
    bool near = high - low <= MOST_OFFSETS;
    for (uint i = local; near && i < high - low; i += size)
        offsets[i] = row_offsets[low + i];
    barrier();
    for (uint entry = begin + local; entry < end; entry += size) {
        uint column = column_indices[entry], row = row_of(entry, low, high, near);
        if (column >= push.columns)
            atomicMin(counts[COUNTS_BAD_ENTRY], entry);
        most = max(most, column > row ? column - row : row - column);
    }
    atomicMax(bandwidth, most);
    barrier();
    if (local == 0)
        atomicMax(counts[COUNTS_BANDWIDTH], bandwidth);
}
