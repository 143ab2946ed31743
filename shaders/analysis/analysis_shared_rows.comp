// MODULE analysis_shared_counts DEFINES COUNTS
// MODULE analysis_shared_rows
#version 450
#extension GL_GOOGLE_include_directive : require
// Rows that several subgroups multiply, which come first in order: COUNTS leaves the slices of each
// where its key was; once these are summed, a work-group writes the slices and segments of a row.
#include "analysis.glsl"
layout(std430, set = 0, binding = 0) readonly restrict buffer Offsets { uint row_offsets[]; };
layout(std430, set = 0, binding = 1) restrict buffer Work { uint work[]; };
layout(std430, set = 0, binding = 2) restrict buffer Slices { uint slices[]; };
#include "analysis_lengths.glsl"

// Slice `number` of a row: entries begin to end of it, shared by row_subgroups slices.
void write_slice(uint number, uint row, uint begin, uint end, uint row_subgroups, uint index)
{
    uint load = 4 * push.subgroup, length = end - begin;
    uint share = divide_up(divide_up(length, load), row_subgroups) * load;
    uint first = min(index * share, length), taken = min(share, length - first);
    uint at = push.info_at + 4 * number;
    slices[at] = row;
    slices[at + 1] = 1 << 12 | findMSB(row_subgroups) << 13;
    slices[at + 2] = begin + first;
    slices[at + 3] = begin + first + taken;
    slices[push.loads_at + number] = divide_up(taken, load);
}

void write_segment(uint segment, uint row, uint first, uint count, uint number)
{
    uint at = push.segments_at + 4 * segment;
    slices[at] = row;
    slices[at + 1] = first;
    slices[at + 2] = count;
    slices[at + 3] = number;
}

void main()
{
#ifdef COUNTS
    uint at = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (at >= push.shared_rows)
        return;
    uint row = work[push.order_at + at];
    work[push.keys_at + at] = shared_slices_of(row_offsets[row + 1] - row_offsets[row]);
#else
    uint at = group_number();
    if (at >= push.shared_rows)
        return;
    uint row = work[push.order_at + at], first = work[push.keys_at + at];
    uint begin = row_offsets[row], length = row_offsets[row + 1] - begin;
    uint row_subgroups = row_subgroups_of(length), count = shared_slices_of(length);
    bool segmented = is_segmented(length);
    for (uint i = gl_LocalInvocationIndex; i < count; i += gl_WorkGroupSize.x) {
        uint segment = i / row_subgroups, index = i % row_subgroups;
        uint low = segmented ? segment * segment_entries() : 0;
        uint high = segmented ? low + min(segment_entries(), length - low) : length;
        write_slice(first + i, row, begin + low, begin + high, row_subgroups, index);
        if (segmented && index == 0)
            write_segment(first / row_subgroups + segment, row, first / row_subgroups,
                          count / row_subgroups, at);
    }
#endif
}
