// MODULE sliced_pattern DEFINES PATTERN
// MODULE sliced_places
// MODULE sliced_values_f32 DEFINES VALUES WF_TYPE_F32
// MODULE sliced_values_f64 DEFINES VALUES WF_TYPE_F64
// MODULE sliced_values_f16 DEFINES VALUES WF_TYPE_F16
#version 450
#extension GL_GOOGLE_include_directive : require
// Writes the slices: PATTERN their words, segments and columns, VALUES their values, and neither of
// them the entry of each value. What PATTERN leaves out is zero.
#include "analysis.glsl"
#include "sliced_slice.glsl"
#include "sliced_diagonals.glsl"
#include "analysis_put.glsl"

// Where the slice's indices begin, in words.
uint indices_of(uint number, uint width)
{
    uint owner = width == WITH_OFFSETS ? slices[push.keys_at + number] : number;
    return 4 * push.indices_at + slices[push.words_at + owner];
}

#ifdef PATTERN
void write_words(uint number, Slice s, uint kind)
{
    uint log_shared = slices[push.info_at + 4 * number + 1] >> 13, width = kind & 3u;
    bool segment = number < push.segment_slices, listed = (kind & KIND_LISTED) != 0;
    words[4 * number] = indices_of(number, width) / 4;
    words[4 * number + 1] = s.first_load;
    words[4 * number + 2] = s.loads | log_shared << 12 | width << 16 | s.log_height << 18 |
                            (listed ? 1u << 22 : 0u) | (segment ? 1u << 23 : 0u) |
                            (s.rows - 1) << 24;
    words[4 * number + 3] = segment                  ? number / push.row_subgroups
                            : s.of_one_row || listed ? s.at
                                                     : row_at(s.at);
}

void write_segment(uint number)
{
    uint segment = number / push.row_subgroups;
    for (uint i = 0; i < 4; i++)
        words[4 * (push.count + segment) + i] = slices[push.segments_at + 4 * segment + i];
}

// Distances of this lane's four columns of a load, or the columns.
void write_columns(uint at, uint width, uvec4 columns, uvec4 bases)
{
    uint local = LANE;
    if (width == 2) {
        for (uint i = 0; i < 4; i++)
            words[at + i * SIZE + local] = columns[i];
        return;
    }
    if (local < 4)
        words[at + local] = bases[local];
    columns -= bases;
    if (width == 0) {
        words[at + 4 + local] =
            columns.x | columns.y << 8 | columns.z << 16 | columns.w << 24;
    } else {
        words[at + 4 + local] = columns.x | columns.y << 16;
        words[at + 4 + SIZE + local] = columns.z | columns.w << 16;
    }
}
#endif

void fill_columns(Slice s, uint width, uint at)
{
    Lane lane = lane_of(s);
    uint column, entry, low, span;
    clear_set(0);
    barrier();
    for (uint load = 0; load < s.loads; load++) {
        uvec4 columns, bases;
        for (uint slot = 0; slot < 4; slot++) {
            fill_slot(slot, lane, column, entry, low, span);
            columns[slot] = column;
            bases[slot] = low;
#ifndef PATTERN
            put(s.first_load + load, slot, entry);
#endif
        }
#ifdef PATTERN
        write_columns(at + load * column_words(s, width) / s.loads, width, columns, bases);
#endif
    }
}

void fill_offsets(Slice s, uint at)
{
    uint step = SIZE >> s.log_height, bits = 0;
    bool found = false;
    Diagonals d = diagonals_of(s);
    for (next(s, d); !d.done; next(s, d)) {
        uint number = d.count - 1, slot = number / step, match = match_of(s, d);
#ifdef PATTERN
        if (is_own(s, number) && match != NONE)
            bits |= 1u << slot;
        if (LANE == 0) {
            words[at + offset_place(s, number)] = uint(d.lowest);
            if (!found && d.of_all)
                words[at] = uint(d.lowest);
        }
        found = found || d.of_all;
#else
        if (is_own(s, number))
            put(s.first_load + slot / 4, slot % 4, match);
#endif
    }
#ifdef PATTERN
    words[at + 4 + LANE] = bits;
#else
    for (uint number = d.count; number < 4 * s.loads * step; number++)
        if (is_own(s, number))
            put(s.first_load + number / step / 4, number / step % 4, NONE);
#endif
}

void main()
{
    uint number = group_number();
    if (number >= push.count)
        return;
    Slice s = slice_of(number);
    uint kind = slices[push.kinds_at + number], width = kind & 3u;
    uint at = indices_of(number, width);
#ifdef PATTERN
    if (LANE == 0) {
        write_words(number, s, kind);
        if (number < push.segment_slices && number % push.row_subgroups == 0)
            write_segment(number);
    }
    if (width == WITH_OFFSETS && slices[push.keys_at + number] != number)
        return;
#endif
    if (width == WITH_OFFSETS)
        fill_offsets(s, at);
    else
        fill_columns(s, width, at);
}
