// MODULE analysis_window
#version 450
#extension GL_GOOGLE_include_directive : require
// Sorts the rows that one subgroup multiplies within small windows, a work-group a window: the
// longest first, and equal ones as they were. Each row counts those that come before it.
#include "analysis.glsl"
layout(std430, set = 0, binding = 0) readonly restrict buffer Offsets { uint row_offsets[]; };
layout(std430, set = 0, binding = 1) restrict buffer Work { uint work[]; };
#include "analysis_lengths.glsl"

shared uint lengths[LOCAL_WINDOW], rows[LOCAL_WINDOW];

void main()
{
    uint local = gl_LocalInvocationIndex, size = gl_WorkGroupSize.x;
    uint ordered = ordered_rows(), first = group_number() * push.window;
    if (first >= ordered)
        return;
    uint count = min(push.window, ordered - first);
    uint at = push.order_at + push.rows - ordered + first;
    for (uint i = local; i < count; i += size) {
        // Where no rows were moved out of the way, order_at is not filled yet.
        uint row = push.ordered == NOT_KNOWN ? work[at + i] : first + i;
        rows[i] = row;
        lengths[i] = row_offsets[row + 1] - row_offsets[row];
    }
    barrier();
    for (uint i = local; i < count; i += size) {
        uint length = lengths[i], rank = 0;
        for (uint j = 0; j < count; j++)
            rank += lengths[j] > length || (lengths[j] == length && j < i) ? 1 : 0;
        work[at + rank] = rows[i];
    }
}
