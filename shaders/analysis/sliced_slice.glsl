// A slice as it is made: src/kernels/spmv/formats/sliced.h has the format, sliced_fill.c and
// sliced_offsets.c beside it say what each slot holds, and these kernels do the same.
layout(push_constant) uniform Push {
    uint count;                       // slices
    uint list_at, info_at, loads_at;  // in the work of the slices, as in analysis_lengths.glsl
    uint kinds_at, keys_at, words_at; // one word a slice
    uint sorted_at, runs_at, leaders_at;
    uint segments_at, segment_slices, row_subgroups;
    uint indices_at;   // where the pattern's indices begin, in units of 16 bytes
} push;

#include "analysis_lanes.glsl"
const uint WITH_OFFSETS = 3; // the width that means offsets
const uint KIND_LISTED = 4;  // beside the width
const uint MOST_DIAGONALS = 128, MOST_OFFSET_LOADS = 8;
const uint BUCKETS = 1024; // of hashes of offsets

struct Slice {
    uint at, rows, log_height, loads, begin, end, first_load;
    bool of_one_row;
};

Slice slice_of(uint number)
{
    uint at = push.info_at + 4 * number, word = slices[at + 1];
    uint load = slices[push.loads_at + number];
    return Slice(slices[at], (word & 255u) + 1, (word >> 8) & 15u,
                 slices[push.loads_at + number + 1] - load, slices[at + 2], slices[at + 3], load,
                 (word >> 12 & 1u) != 0);
}

uint row_at(uint place)
{
    return slices[push.list_at + place] & 0x7fffffffu;
}

Lane lane_of(Slice s)
{
    uint local = LANE, height = 1u << s.log_height;
    uint r = local & (height - 1), slots = 4 * s.loads;
    Lane lane = Lane(0, 0, 0, 0, SIZE >> s.log_height, slots);
    if (s.of_one_row) {
        lane.row = s.at;
        lane.begin = s.begin;
        lane.end = s.end;
    } else if (r < s.rows) {
        lane.row = row_at(s.at + r);
        lane.begin = row_offsets[lane.row];
        lane.end = row_offsets[lane.row + 1];
    } else {
        return lane;
    }
    lane.next = lane.begin + (local >> s.log_height);
    if (lane.next < lane.end)
        lane.slack = slots - ((lane.end - lane.next - 1) / lane.step + 1);
    return lane;
}

// Words of the columns of a slice.
uint column_words(Slice s, uint width)
{
    return s.loads * ((width < 2 ? 4 : 0) + (SIZE << width));
}

// Words of a list of offsets.
uint offset_words(Slice s)
{
    return 4 + SIZE + 4 * s.loads * (SIZE >> s.log_height);
}
