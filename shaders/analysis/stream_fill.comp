// MODULE stream_span DEFINES SPAN
// MODULE stream_pattern DEFINES PATTERN
// MODULE stream_places
// MODULE stream_values_f32 DEFINES VALUES WF_TYPE_F32
// MODULE stream_values_f64 DEFINES VALUES WF_TYPE_F64
// MODULE stream_values_f16 DEFINES VALUES WF_TYPE_F16
#version 450
#extension GL_GOOGLE_include_directive : require
// Blocks as src/kernels/spmv/formats/stream.c makes them, a work-group a block: SPAN finds how far
// apart the columns of a block are at most, PATTERN writes rows and columns, VALUES the values, and
// the other module the entry of each value.
#include "analysis.glsl"
layout(std430, set = 0, binding = 0) readonly restrict buffer Offsets { uint row_offsets[]; };
layout(std430, set = 0, binding = 1) readonly restrict buffer Columns { uint column_indices[]; };
layout(std430, set = 0, binding = 2) restrict buffer Work { uint work[]; };
#include "stream_rows.glsl"
#ifndef SPAN
layout(std430, set = 0, binding = 3) restrict buffer Out { uint words[]; };
#endif
#ifdef VALUES
#include "analysis_value.glsl"
#endif

#define LOCAL gl_LocalInvocationIndex
const uint SIZE = gl_WorkGroupSize.x, HEAD_WORDS = 4;

#ifdef SPAN
shared uint lowest, highest;

void measure(uint block, uint begin, uint end)
{
    if (LOCAL == 0) {
        lowest = NONE;
        highest = 0;
    }
    barrier();
    uint low = NONE, high = 0;
    for (uint i = begin + LOCAL; i < end; i += SIZE) {
        low = min(low, column_indices[i]);
        high = max(high, column_indices[i]);
    }
    atomicMin(lowest, low);
    atomicMax(highest, high);
    barrier();
    if (LOCAL != 0)
        return;
    bool empty = begin == end;
    work[push.lows_at + block] = empty ? 0 : lowest;
    if (!empty)
        atomicMax(work[STATE_SPAN], highest - lowest);
}
#endif

#ifdef PATTERN
uint begin_of(uint first, uint rows, uint begin, uint row)
{
    return row > push.block_rows ? 0 : row_offsets[first + min(row, rows)] - begin;
}

void write_pattern(uint block, uint first, uint rows, uint begin, uint end)
{
    uint low = work[push.lows_at + block], base = push.width == 1 ? low : 0;
    uint at = block * push.stride, begins = push.block_rows / 2 + 4;
    uint columns_at = at + HEAD_WORDS + begins, words_left = (push.block_entries << push.width) / 4;
    if (LOCAL < HEAD_WORDS)
        words[at + LOCAL] = uvec4(first, rows, base, 0)[LOCAL];
    for (uint i = LOCAL; i < begins; i += SIZE)
        words[at + HEAD_WORDS + i] = begin_of(first, rows, begin, 2 * i) |
                                     begin_of(first, rows, begin, 2 * i + 1) << 16;
    for (uint i = LOCAL; i < words_left; i += SIZE) {
        uint entry = begin + (push.width == 1 ? 2 * i : i);
        uint word = (entry < end ? column_indices[entry] : low) - base;
        if (push.width == 1)
            word |= ((entry + 1 < end ? column_indices[entry + 1] : low) - base) << 16;
        words[columns_at + i] = word;
    }
}
#endif

#if !defined(SPAN) && !defined(PATTERN)
uint entry_of(uint place, uint begin, uint end)
{
    return begin + place < end ? begin + place : NONE;
}

void write_values(uint block, uint begin, uint end)
{
    uint first = block * push.block_entries;
#if defined(WF_TYPE_F16)
    for (uint i = LOCAL; i < push.block_entries / 2; i += SIZE)
        words[first / 2 + i] = value_of(entry_of(2 * i, begin, end)) |
                               value_of(entry_of(2 * i + 1, begin, end)) << 16;
#else
    for (uint i = LOCAL; i < push.block_entries; i += SIZE) {
        uint entry = entry_of(i, begin, end);
#if !defined(VALUES)
        words[first + i] = entry;
#elif defined(WF_TYPE_F64)
        uvec2 value = value_of(entry);
        words[2 * (first + i)] = value.x;
        words[2 * (first + i) + 1] = value.y;
#else
        words[first + i] = value_of(entry);
#endif
    }
#endif
}
#endif

void main()
{
    uint block = group_number();
    if (block >= work[STATE_BLOCKS])
        return;
    uint first = work[push.begins_at + block], behind = work[push.begins_at + block + 1];
    uint begin = row_offsets[first], end = row_offsets[behind];
#if defined(SPAN)
    measure(block, begin, end);
#elif defined(PATTERN)
    write_pattern(block, first, behind - first, begin, end);
#else
    write_values(block, begin, end);
#endif
}
