// Gives the entries of rows to the lanes of a subgroup, as src/kernels/spmv/formats/sliced_lanes.c
// does. A work-group is the subgroup. Its work-items meet in shared memory, so that any size of
// subgroup can be converted for on any device; shuffles took up to twice as long on an H200.
layout(std430, set = 0, binding = 0) readonly restrict buffer Offsets { uint row_offsets[]; };
layout(std430, set = 0, binding = 1) readonly restrict buffer Columns { uint column_indices[]; };
layout(std430, set = 0, binding = 2) restrict buffer Slices { uint slices[]; };
const uint SIZE = gl_WorkGroupSize.x; // of the subgroup
#define LANE gl_LocalInvocationIndex
const uint NONE = 0xffffffffu;
const uint ALIGN_DISTANCE = 64;

// The entries of one lane, as in sliced_lanes.h.
struct Lane {
    uint row, begin, next, end, step, slack;
};

// Two sets of each in turn: one is made ready for the next slot while this slot's are read.
shared int lowest_diagonal[2];
shared uint lowest_taken[2], lowest_column[2], highest_column[2];

void clear_set(uint set)
{
    if (LANE == 0) {
        lowest_diagonal[set] = 0x7fffffff;
        lowest_taken[set] = lowest_column[set] = NONE;
        highest_column[set] = 0;
    }
}

uint padding_column(Lane lane, uint base)
{
    if (lane.begin == lane.end)
        return base;
    uint after = column_indices[lane.next < lane.end ? lane.next : lane.end - 1];
    uint before = column_indices[lane.next >= lane.begin + lane.step ? lane.next - lane.step
                                                                     : lane.begin];
    uint far_after = after > base ? after - base : base - after;
    uint far_before = before > base ? before - base : base - before;
    return far_after < far_before ? after : before;
}

// Fills one slot of all lanes: this lane's column, and its entry or NONE; `low` gets the lowest
// column of the slot and `span` how far the highest is from it. Set 0 is clear before the first
// slot, and all work-items call this alike.
void fill_slot(uint slot, inout Lane lane, out uint column, out uint entry, out uint low,
               out uint span)
{
    uint set = slot & 1;
    bool there = lane.next < lane.end;
    column = there ? column_indices[lane.next] : 0;
    int diagonal = int(column) - int(lane.row);
    entry = NONE;
    if (there)
        atomicMin(lowest_diagonal[set], diagonal);
    barrier();
    clear_set(1 - set);
    int lowest = lowest_diagonal[set];
    if (there && (lane.slack == 0 || uint(diagonal) - uint(lowest) <= ALIGN_DISTANCE)) {
        entry = lane.next;
        lane.next += lane.step;
    }
    if (entry != NONE)
        atomicMin(lowest_taken[set], column);
    barrier();
    uint base = lowest_taken[set];
    if (entry == NONE) {
        lane.slack -= lane.slack > 0 ? 1 : 0;
        column = padding_column(lane, base == NONE ? 0 : base);
    }
    atomicMin(lowest_column[set], column);
    atomicMax(highest_column[set], column);
    barrier();
    low = lowest_column[set];
    span = highest_column[set] - low;
}

uint width_of(uint span)
{
    return span <= 255 ? 0 : span <= 65535 ? 1 : 2;
}
