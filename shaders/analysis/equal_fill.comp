// MODULE equal_measure DEFINES MEASURE
// MODULE equal_pattern DEFINES PATTERN
// MODULE equal_places
// MODULE equal_values_f32 DEFINES VALUES WF_TYPE_F32
// MODULE equal_values_f64 DEFINES VALUES WF_TYPE_F64
// MODULE equal_values_f16 DEFINES VALUES WF_TYPE_F16
#version 450
#extension GL_GOOGLE_include_directive : require
// Blocks as src/kernels/spmv/formats/equal.c makes them, a work-group a block: MEASURE finds how
// far the columns of a slot are apart at most, PATTERN writes words, bases and columns, VALUES the
// values, and the other module the entry of each value.
#include "analysis.glsl"
layout(push_constant) uniform Push {
    uint count;      // blocks
    uint row_blocks; // of group rows and segments, and what fills up their last work-group
    uint of_rows;    // of those, the ones that hold a row
    uint slice_count;
    uint loads, slices_a_block;
    uint list_at, info_at, blocks_at, span_at; // in the work of the slices
    uint width, based, stride;                 // PATTERN
} push;
#include "analysis_lanes.glsl"
#ifndef MEASURE
#include "analysis_put.glsl"
#endif

const uint ROW_MASK = (1u << 26) - 1, GROUP_ROW = 1u << 26, EMPTY = 1u << 30, NO_ROW = 1u << 31;

// A block of a row. A block without entries is padding with the column of the entry before it.
Lane row_lane(uint number, out uint word)
{
    uint at = push.blocks_at + 6 * number, slots = 4 * push.loads;
    bool filler = number >= push.of_rows;
    uint begin = filler ? 0 : slices[at], end = filler ? 0 : slices[at + 1];
    uint first = filler ? ROW_MASK : slices[at + 2];
    word = GROUP_ROW;
    if (LANE < 4)
        word |= filler ? (LANE == 0 ? first : 0) : slices[at + 2 + LANE];
    Lane lane = Lane(first, begin, begin + LANE, end, SIZE, slots);
    if (begin == end && begin > 0)
        lane.begin--;
    if (lane.next < end)
        lane.slack = slots - ((end - lane.next - 1) / SIZE + 1);
    return lane;
}

// This lane of a slice; there is none behind the last, where padding fills up the last block.
Lane slice_lane(uint number, uint slots, out uint word)
{
    Lane lane = Lane(0, 0, 0, 0, 0, slots);
    word = NO_ROW;
    if (number >= push.slice_count)
        return lane;
    uint at = push.info_at + 4 * number, info = slices[at + 1], log_height = (info >> 8) & 15u;
    uint r = LANE & ((1u << log_height) - 1), lane_in_row = LANE >> log_height;
    word |= log_height << 27;
    if (r > (info & 255u))
        return lane;
    uint listed = slices[push.list_at + slices[at] + r];
    lane.row = listed & 0x7fffffffu;
    lane.begin = row_offsets[lane.row];
    lane.end = row_offsets[lane.row + 1];
    lane.step = SIZE >> log_height;
    lane.next = lane.begin + lane_in_row;
    if (lane.next < lane.end)
        lane.slack = slots - ((lane.end - lane.next - 1) / lane.step + 1);
    if (lane_in_row == 0)
        word = (word & ~NO_ROW) | lane.row | (lane.begin == lane.end ? EMPTY : 0);
    return lane;
}

#ifdef PATTERN
// Columns lane by lane: distances from bases or from 0.
void write_columns(uint at, uvec4 columns)
{
    at += LANE << push.width;
    if (push.width == 0) {
        words[at] = columns.x | columns.y << 8 | columns.z << 16 | columns.w << 24;
    } else if (push.width == 1) {
        words[at] = columns.x | columns.y << 16;
        words[at + 1] = columns.z | columns.w << 16;
    } else {
        for (uint i = 0; i < 4; i++)
            words[at + i] = columns[i];
    }
}

void write_load(uint head, uint load, uvec4 columns, uvec4 bases)
{
    uint base_words = push.based != 0 ? 4 * push.loads : 0;
    uint at = head + push.slices_a_block * SIZE;
    if (push.based != 0) {
        columns -= bases;
        if (LANE < 4)
            words[at + 4 * load + LANE] = bases[LANE];
    }
    write_columns(at + base_words + (load * SIZE << push.width), columns);
}
#endif

void main()
{
    uint number = group_number();
    if (number >= push.count)
        return;
    uint slots = 4 * push.loads, a_slice = slots / push.slices_a_block, most = 0, word;
    bool of_row = number < push.row_blocks;
    Lane lane = row_lane(of_row ? number : 0, word);
    uvec4 columns, bases;
    clear_set(0);
    barrier();
    for (uint slot = 0; slot < slots; slot++) {
        uint column, entry, low, span, index = slot / a_slice;
        if (!of_row && slot % a_slice == 0)
            lane = slice_lane((number - push.row_blocks) * push.slices_a_block + index, a_slice,
                              word);
        fill_slot(slot, lane, column, entry, low, span);
        most = max(most, span);
#ifdef PATTERN
        columns[slot & 3] = column;
        bases[slot & 3] = low;
        if (slot % a_slice == 0)
            words[number * push.stride + index * SIZE + LANE] = of_row && slot > 0 ? 0 : word;
        if ((slot & 3) == 3)
            write_load(number * push.stride, slot / 4, columns, bases);
#elif !defined(MEASURE)
        put(number * push.loads + slot / 4, slot & 3, entry);
#endif
    }
#ifdef MEASURE
    if (LANE == 0)
        atomicMax(slices[push.span_at], most);
#endif
}
