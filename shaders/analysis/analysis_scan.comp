// MODULE analysis_scan
#version 450
#extension GL_GOOGLE_include_directive : require
// Exclusive sums of tiles, in place; the sum of each tile goes to a list that is summed likewise
// and added by analysis_add. No work-group waits for another. One work-group by itself sums all
// tiles, one after the other.
#include "analysis.glsl"
layout(std430, set = 0, binding = 0) buffer Work { uint work[]; };
layout(push_constant) uniform Push {
    uint at, count; // words
    uint sums_at;   // one word a tile
} push;

const uint ITEMS = 8; // neighbouring words of a work-item
shared uint sums[gl_WorkGroupSize.x];

// Sums a tile, in place, behind `before`; returns that and all of the tile.
uint sum_tile(uint first, uint before)
{
    uint local = gl_LocalInvocationIndex, size = gl_WorkGroupSize.x;
    uint words[ITEMS], sum = 0;
    for (uint i = 0; i < ITEMS; i++) {
        uint at = first + local * ITEMS + i;
        words[i] = at < push.count ? work[push.at + at] : 0;
        sum += words[i];
    }
    sums[local] = sum;
    barrier();
    for (uint distance = 1; distance < size; distance *= 2) {
        uint lower = local >= distance ? sums[local - distance] : 0;
        barrier();
        sums[local] += lower;
        barrier();
    }
    uint place = before + sums[local] - sum;
    for (uint i = 0; i < ITEMS; i++) {
        uint at = first + local * ITEMS + i;
        if (at < push.count)
            work[push.at + at] = place;
        place += words[i];
    }
    uint all = sums[size - 1];
    barrier(); // all have read the sums
    return before + all;
}

void main()
{
    uint tile = group_number(), size = gl_WorkGroupSize.x * ITEMS, before = 0;
    uint step = gl_NumWorkGroups.x * gl_NumWorkGroups.y * size;
    if (tile * size >= push.count)
        return;
    for (uint first = tile * size; first < push.count; first += step)
        before = sum_tile(first, before);
    if (gl_LocalInvocationIndex == 0)
        work[push.sums_at + tile] = before;
}
