// MODULE analysis_direct DEFINES DIRECT
// MODULE analysis_keys
#version 450
#extension GL_GOOGLE_include_directive : require
// DIRECT: which rows one subgroup multiplies, to be summed to their places among themselves, how
// many these are, and how many slices and rows there are of others. The other module makes the keys
// by which rows are sorted: segmented rows first, then those of the most subgroups, then the others
// or, where analysis_window does not sort them, their windows, each with its longest rows first.
// Equal keys keep the order of the rows.
#include "analysis.glsl"
layout(std430, set = 0, binding = 0) readonly restrict buffer Offsets { uint row_offsets[]; };
layout(std430, set = 0, binding = 1) restrict buffer Work { uint work[]; };
#include "analysis_lengths.glsl"

#ifdef DIRECT
shared uint direct_rows;
#endif

void main()
{
#ifdef DIRECT
    if (gl_LocalInvocationIndex == 0)
        direct_rows = 0;
    barrier();
#endif
    uint row = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    bool inside = row < push.rows;
    uint length = inside ? row_offsets[row + 1] - row_offsets[row] : 0;
    bool taken = inside && is_taken(length), direct = length <= push.direct;
#ifdef DIRECT
    if (inside)
        work[push.order_at + row] = taken && direct ? 1 : 0;
    if (taken && direct)
        atomicAdd(direct_rows, 1);
    barrier();
    if (gl_LocalInvocationIndex == 0 && direct_rows > 0)
        atomicAdd(work[push.state_at + STATE_ORDERED], direct_rows);
    if (taken && !direct) {
        uint slices = shared_slices_of(length);
        atomicAdd(work[push.state_at + STATE_SHARED_ROWS], 1);
        atomicAdd(work[push.state_at + STATE_SHARED_SLICES], slices);
        if (is_segmented(length)) {
            atomicAdd(work[push.state_at + STATE_SEGMENT_SLICES], slices);
            atomicAdd(work[push.state_at + STATE_LONG_ROWS], 1);
        }
    }
#else
    if (!inside)
        return;
    uint key = push.ordered == NOT_KNOWN ? FIRST_KEY : 0;
    if (!taken)
        key = FIRST_KEY - 1;
    else if (!direct)
        key = is_segmented(length)
                  ? 0
                  : 1 + findMSB(push.row_subgroups) - findMSB(row_subgroups_of(length));
    else if (push.window > LOCAL_WINDOW) {
        // Where all rows are direct, order_at is not filled: each row is in its own place.
        uint place = push.ordered == NOT_KNOWN ? work[push.order_at + row] : row;
        key += place / push.window * (push.direct + 1) + (push.direct - length);
    }
    work[push.keys_at + row] = key;
#endif
}
