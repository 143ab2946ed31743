// MODULE analysis_digits DEFINES DIGITS
// MODULE analysis_scatter
#version 450
#extension GL_GOOGLE_include_directive : require
// A pass of a stable radix sort by four bits of a key: DIGITS counts the digits of each tile; when
// the counts are summed, digit by digit and then tile by tile, the other module moves the elements
// to their places. A work-item takes neighbouring elements, so that ranks within a tile come from
// sums over work-items, without subgroups.
#include "analysis.glsl"
layout(std430, set = 0, binding = 0) buffer Work { uint work[]; };
layout(push_constant) uniform Push {
    uint count;     // elements, which are indices of keys
    uint from, to;  // where they are, and where they go
    uint keys_at;
    uint shift;     // of the digit in the key
    uint counts_at; // 16 x tiles
    uint tiles;
    uint identity; // 1: element i is i, and nothing is at `from` yet
} push;

const uint ITEMS = 8, DIGIT_VALUES = 16, PARTS = gl_WorkGroupSize.x / DIGIT_VALUES;
shared uint counts[DIGIT_VALUES * gl_WorkGroupSize.x];
shared uint parts[DIGIT_VALUES * PARTS]; // sums of a digit's counts, part by part of the work-items

uint element(uint at)
{
    return push.identity != 0 ? at : work[push.from + at];
}

uint digit_of(uint element)
{
    return (work[push.keys_at + element] >> push.shift) & (DIGIT_VALUES - 1);
}

void main()
{
    uint local = gl_LocalInvocationIndex, size = gl_WorkGroupSize.x, tile = group_number();
    if (tile >= push.tiles)
        return;
    uint first = (tile * size + local) * ITEMS;
    for (uint digit = 0; digit < DIGIT_VALUES; digit++)
        counts[digit * size + local] = 0;
    for (uint i = 0; i < ITEMS; i++)
        if (first + i < push.count)
            counts[digit_of(element(first + i)) * size + local]++;
    barrier();
    // What the work-items before have of each digit, by several work-items a digit.
    uint part = local % PARTS, begin = local / PARTS * size + part * (size / PARTS), sum = 0;
    for (uint i = 0; i < size / PARTS; i++)
        sum += counts[begin + i];
    parts[local] = sum;
    barrier();
    sum = 0;
    for (uint i = 0; i < part; i++)
        sum += parts[local - part + i];
#ifdef DIGITS
    if (part == PARTS - 1)
        work[push.counts_at + local / PARTS * push.tiles + tile] = sum + parts[local];
#else
    for (uint i = 0; i < size / PARTS; i++) {
        uint here = counts[begin + i];
        counts[begin + i] = sum;
        sum += here;
    }
#endif
#ifndef DIGITS
    barrier();
    for (uint i = 0; i < ITEMS; i++)
        if (first + i < push.count) {
            uint moved = element(first + i), digit = digit_of(moved);
            uint rank = counts[digit * size + local]++;
            work[push.to + work[push.counts_at + digit * push.tiles + tile] + rank] = moved;
        }
#endif
}
