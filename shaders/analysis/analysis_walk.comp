// MODULE analysis_walk_supers DEFINES SUPERS
// MODULE analysis_walk_all DEFINES ALL
// MODULE analysis_walk_tiles
// MODULE analysis_walk_few DEFINES FEW
#version 450
#extension GL_GOOGLE_include_directive : require
// Finds at which row slices enter each tile of analysis_cut, and how many there are before it:
// SUPERS composes the tiles of a run of tiles, for each row that slices may enter it at; ALL, one
// work-item, goes from run to run; and the last module, a work-group a run, from tile to tile. FEW,
// one work-group, goes from tile to tile through all runs, for which few are enough.
#include "analysis.glsl"
layout(std430, set = 0, binding = 0) restrict buffer Work { uint work[]; };
#include "analysis_lengths.glsl"

const uint TILE = 512; // as in analysis_cut.comp
const uint RUN = 64;   // tiles

#ifndef ALL
// What slices do in the tiles, of as many tiles as there is room for: each step of a walk depends
// on the one before, so that the words must be near.
const uint NEAR = 2048;
shared uint near[NEAR];

void fetch(uint first, uint tiles)
{
    barrier(); // nobody reads the words before any more
    for (uint i = gl_LocalInvocationIndex; i < tiles * push.subgroup; i += gl_WorkGroupSize.x)
        near[i] = work[push.tiles_at + first * push.subgroup + i];
    barrier();
}

// Goes through tiles from row `entry` of the first on, behind `count` slices. `notes`: it writes
// where it enters each.
void walk(uint first, uint tiles, bool notes, inout uint entry, inout uint count)
{
    for (uint tile = 0; tile < tiles; tile++) {
        uint word = near[tile * push.subgroup + entry];
        if (notes) {
            work[push.entries_at + 2 * (first + tile)] = entry;
            work[push.entries_at + 2 * (first + tile) + 1] = count;
        }
        count += word >> 8;
        entry = word & 255u;
    }
}
#endif

void main()
{
    uint tiles = divide_up(ordered_rows(), TILE), runs = divide_up(tiles, RUN);
    uint number = group_number(), local = gl_LocalInvocationIndex;
#if defined(ALL)
    if (number != 0 || local != 0)
        return;
    uint entry = 0, count = work[push.state_at + STATE_SHARED_SLICES];
    for (uint run = 0; run < runs; run++) {
        uint at = push.supers_at + 2 * (run * push.subgroup + entry);
        work[push.entries_at + 2 * run * RUN] = entry;
        work[push.entries_at + 2 * run * RUN + 1] = count;
        entry = work[at];
        count += work[at + 1];
    }
    work[push.state_at + STATE_SLICES] = count;
#else
    uint entry = 0, count = 0, step = NEAR / push.subgroup, first = number * RUN;
#if defined(FEW)
    uint end = number == 0 ? tiles : 0;
    count = work[push.state_at + STATE_SHARED_SLICES];
#else
    uint end = number < runs ? min(tiles, first + RUN) : 0;
#if defined(SUPERS)
    entry = local;
#else
    if (number < runs) {
        entry = work[push.entries_at + 2 * first];
        count = work[push.entries_at + 2 * first + 1];
    }
#endif
#endif
    for (uint tile = first; tile < end; tile += step) {
        uint here = min(step, end - tile);
        fetch(tile, here);
#if defined(SUPERS)
        if (local < push.subgroup)
            walk(tile, here, false, entry, count);
#else
        if (local == 0)
            walk(tile, here, true, entry, count);
#endif
    }
#if defined(SUPERS)
    if (number < runs && local < push.subgroup) {
        uint at = push.supers_at + 2 * (number * push.subgroup + local);
        work[at] = entry;
        work[at + 1] = count;
    }
#elif defined(FEW)
    if (number == 0 && local == 0)
        work[push.state_at + STATE_SLICES] = count;
#endif
#endif
}
