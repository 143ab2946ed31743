// MODULE stream_begins
#version 450
#extension GL_GOOGLE_include_directive : require
// Writes where the blocks of each tile of rows begin, which stream_walk has found the first of.
#include "analysis.glsl"
layout(std430, set = 0, binding = 1) restrict buffer Work { uint work[]; };
#include "stream_rows.glsl"

shared uint next[TILE]; // each step depends on the one before, so that the words must be near

void main()
{
    uint tile = group_number(), first = tile * TILE;
    if (first >= push.rows)
        return;
    uint here = min(TILE, push.rows - first), row = work[push.tiles_at + 2 * tile];
    for (uint i = gl_LocalInvocationIndex; i < here; i += gl_WorkGroupSize.x)
        next[i] = work[push.next_at + first + i];
    barrier();
    if (gl_LocalInvocationIndex != 0 || row == NONE)
        return;
    uint at = push.begins_at + work[push.tiles_at + 2 * tile + 1];
    for (; row < first + here; row = next[row - first])
        work[at++] = row;
}
