// MODULE analysis_scan
#version 450
#extension GL_GOOGLE_include_directive : require
// Exclusive sums of tiles, in place; the sum of each tile goes to a list that is summed likewise
// and added by analysis_add. No work-group waits for another.
#include "analysis.glsl"
layout(std430, set = 0, binding = 0) buffer Work { uint work[]; };
layout(push_constant) uniform Push {
    uint at, count; // words
    uint sums_at;   // one word a tile
} push;

const uint ITEMS = 8; // neighbouring words of a work-item
shared uint sums[gl_WorkGroupSize.x];

void main()
{
    uint local = gl_LocalInvocationIndex, size = gl_WorkGroupSize.x, tile = group_number();
    uint first = tile * size * ITEMS;
    if (first >= push.count)
        return;
    uint words[ITEMS], sum = 0;
    for (uint i = 0; i < ITEMS; i++) {
        uint at = first + local * ITEMS + i;
        words[i] = at < push.count ? work[push.at + at] : 0;
        sum += words[i];
    }
    sums[local] = sum;
    barrier();
    for (uint distance = 1; distance < size; distance *= 2) {
        uint before = local >= distance ? sums[local - distance] : 0;
        barrier();
        sums[local] += before;
        barrier();
    }
    uint before = sums[local] - sum;
    for (uint i = 0; i < ITEMS; i++) {
        uint at = first + local * ITEMS + i;
        if (at < push.count)
            work[push.at + at] = before;
        before += words[i];
    }
    if (local == size - 1)
        work[push.sums_at + tile] = before;
}
