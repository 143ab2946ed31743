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

// Block `number` of a row, of EQUAL: its entries, and the words of its first lanes.
void write_block(uint number, uint row, uint begin, uint end, uint row_subgroups, uint index,
                 uint first_segment, uint segment, uint segments)
{
    uint length = end - begin, share = divide_up(length, row_subgroups);
    uint at = push.segments_at + 6 * number;
    slices[at] = begin + min(index * share, length);
    slices[at + 1] = begin + min((index + 1) * share, length);
    slices[at + 2] = row;
    slices[at + 3] = first_segment;
    slices[at + 4] = segment;
    slices[at + 5] = findMSB(row_subgroups) | segments << 4;
}

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
        uint first_segment = segmented ? first / row_subgroups : 0;
        if (EQUAL != 0)
            write_block(first + i, row, begin + low, begin + high, row_subgroups, index,
                        first_segment, segmented ? first_segment + segment : 0,
                        segmented ? count / row_subgroups : 0);
        else
            write_slice(first + i, row, begin + low, begin + high, row_subgroups, index);
        if (EQUAL == 0 && segmented && index == 0)
            write_segment(first_segment + segment, row, first_segment, count / row_subgroups, at);
    }
#endif
}
