// MODULE stream_walk_supers DEFINES SUPERS
// MODULE stream_walk_all DEFINES ALL
// MODULE stream_walk_tiles
// MODULE stream_walk_few DEFINES FEW
#version 450
#extension GL_GOOGLE_include_directive : require
// Finds at which row blocks enter each tile of rows, and how many there are before it: SUPERS goes
// through the tiles of a run of tiles, from each row that blocks may enter it at; ALL, one
// work-item, from run to run; and the last module, a work-item a run, from tile to tile. FEW, one
// work-item, goes from tile to tile through all runs, for which few are enough.
#include "analysis.glsl"
layout(std430, set = 0, binding = 1) restrict buffer Work { uint work[]; };
#include "stream_rows.glsl"

// Goes from tile to tile until `end`. `notes`: it writes where it enters each.
void walk(uint end, bool notes, inout uint row, inout uint count)
{
    while (row < end) {
        uint tile = row / TILE, word = work[push.leaves_at + row];
        if (notes) {
            work[push.tiles_at + 2 * tile] = row;
            work[push.tiles_at + 2 * tile + 1] = count;
        }
        row = tile * TILE + (word & ((1u << LEAVES_BITS) - 1));
        count += word >> LEAVES_BITS;
    }
}

// Tiles that no block begins in: a block may be longer than a tile.
void clear_tiles(uint first, uint end)
{
    for (uint tile = first; tile < end; tile++)
        work[push.tiles_at + 2 * tile] = NONE;
}

void finish(uint count)
{
    work[push.begins_at + count] = push.rows;
    work[STATE_BLOCKS] = count;
}

void main()
{
    uint local = gl_LocalInvocationIndex, size = gl_WorkGroupSize.x, number = group_number();
    uint row = 0, count = 0;
#if defined(SUPERS)
    uint parts = (push.block_rows + size - 1) / size, run = number / parts;
    uint entry = number % parts * size + local, first = run * RUN_ROWS;
    row = first + entry;
    if (run >= push.runs || entry >= push.block_rows)
        return;
    walk(min(first + RUN_ROWS, push.rows), false, row, count);
    uint at = push.supers_at + 2 * (run * push.block_rows + entry);
    work[at] = row;
    work[at + 1] = count;
#elif defined(ALL)
    if (number != 0 || local != 0)
        return;
    for (uint run = 0; run < push.runs; run++) { // no block is as long as a run
        uint at = push.supers_at + 2 * (run * push.block_rows + row % RUN_ROWS);
        work[push.runs_at + 2 * run] = row;
        work[push.runs_at + 2 * run + 1] = count;
        if (row < push.rows) {
            row = work[at];
            count += work[at + 1];
        }
    }
    finish(count);
#elif defined(FEW)
    if (number != 0 || local != 0)
        return;
    clear_tiles(0, push.tiles);
    walk(push.rows, true, row, count);
    finish(count);
#else
    uint run = number * size + local, tiles = RUN_ROWS / TILE;
    if (run >= push.runs)
        return;
    clear_tiles(run * tiles, min(run * tiles + tiles, push.tiles));
    row = work[push.runs_at + 2 * run];
    count = work[push.runs_at + 2 * run + 1];
    walk(min((run + 1) * RUN_ROWS, push.rows), true, row, count);
#endif
}
