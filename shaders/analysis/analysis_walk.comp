// MODULE analysis_walk_supers DEFINES SUPERS
// MODULE analysis_walk_all DEFINES ALL
// MODULE analysis_walk_tiles
#version 450
#extension GL_GOOGLE_include_directive : require
// Finds at which row slices enter each tile of analysis_cut, and how many there are before it:
// SUPERS composes the tiles of a run of tiles, for each row that slices may enter it at; ALL, one
// work-item, goes from run to run; and the last module, one work-item a run, from tile to tile.
#include "analysis.glsl"
layout(std430, set = 0, binding = 0) restrict buffer Work { uint work[]; };
#include "analysis_lengths.glsl"

const uint TILE = 512; // as in analysis_cut.comp
const uint RUN = 64;   // tiles

void main()
{
    uint tiles = divide_up(ordered_rows(), TILE), runs = divide_up(tiles, RUN);
    uint number = group_number(), local = gl_LocalInvocationIndex;
#if defined(SUPERS)
    if (number >= runs || local >= push.subgroup)
        return;
    uint entry = local, count = 0;
    for (uint tile = number * RUN; tile < min(tiles, (number + 1) * RUN); tile++) {
        uint word = work[push.tiles_at + tile * push.subgroup + entry];
        count += word >> 8;
        entry = word & 255u;
    }
    uint at = push.supers_at + 2 * (number * push.subgroup + local);
    work[at] = entry;
    work[at + 1] = count;
#elif defined(ALL)
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
    uint run = number * gl_WorkGroupSize.x + local;
    if (run >= runs)
        return;
    uint at = push.entries_at + 2 * run * RUN, entry = work[at], count = work[at + 1];
    for (uint tile = run * RUN; tile < min(tiles, (run + 1) * RUN); tile++) {
        uint word = work[push.tiles_at + tile * push.subgroup + entry];
        work[push.entries_at + 2 * tile] = entry;
        work[push.entries_at + 2 * tile + 1] = count;
        count += word >> 8;
        entry = word & 255u;
    }
#endif
}
