// MODULE analysis_cut_tiles DEFINES TILES
// MODULE analysis_cut_slices
#version 450
#extension GL_GOOGLE_include_directive : require
// Cuts rows in order into slices: each takes the most rows, up to a subgroup's, whose longest has
// room for its entries in the lanes that are left for it. Where a slice begins depends on all
// before it. So TILES finds, for a tile of rows and each row of it that a slice from before may end
// at, how many slices there are and how far they reach beyond the tile. Then analysis_walk finds
// where slices enter each tile, and the other module writes them.
#include "analysis.glsl"
layout(std430, set = 0, binding = 0) readonly restrict buffer Offsets { uint row_offsets[]; };
layout(std430, set = 0, binding = 1) restrict buffer Work { uint work[]; };
layout(std430, set = 0, binding = 2) restrict buffer Slices { uint slices[]; };
#include "analysis_lengths.glsl"

const uint TILE = 512, MOST_SUBGROUP = 128, REACH = TILE + MOST_SUBGROUP, ITEMS = REACH / 128;
shared uint lengths[REACH], longest[REACH], log_heights[TILE];
shared uint begins[TILE]; // of slices, in the tile

uint row_at(uint place, uint ordered)
{
    return push.in_order != 0 ? place : work[push.order_at + push.rows - ordered + place];
}

// Slices that begin at each row of the tile, by the longest of 1, 2, 4 … rows from it on.
void find_heights(uint tile, uint ordered)
{
    uint local = gl_LocalInvocationIndex, size = gl_WorkGroupSize.x;
    for (uint i = local; i < REACH; i += size) {
        uint at = tile * TILE + i, length = 0;
        if (at < ordered) {
            uint row = row_at(at, ordered);
            length = row_offsets[row + 1] - row_offsets[row];
        }
        lengths[i] = longest[i] = length;
        if (i < TILE)
            log_heights[i] = 0;
    }
    barrier();
    for (uint height = 2; height <= push.subgroup; height *= 2) {
        uint most[ITEMS];
        for (uint i = 0; i < ITEMS; i++) {
            uint at = local + i * size, other = at + height / 2;
            most[i] = max(longest[at], other < REACH ? longest[other] : 0);
        }
        barrier();
        for (uint i = 0; i < ITEMS; i++) {
            uint at = local + i * size;
            longest[at] = most[i];
            if (at < TILE && most[i] * height <= push.most)
                log_heights[at] = findMSB(height);
        }
        barrier();
    }
}

// Writes slice `number`, which begins at row `at` of the tile.
void write_slice(uint number, uint tile, uint at, uint ordered)
{
    uint height = 1u << log_heights[at], place = tile * TILE + at, most = 0;
    uint rows = min(height, ordered - place), lanes = push.subgroup / height;
    for (uint i = 0; i < rows; i++)
        most = max(most, lengths[at + i]);
    uint word = push.info_at + 4 * number;
    slices[word] = place;
    slices[word + 1] = (rows - 1) | log_heights[at] << 8;
    slices[word + 2] = slices[word + 3] = 0;
    if (EQUAL == 0)
        slices[push.loads_at + number] = divide_up(most, 4 * lanes);
}

void main()
{
    uint local = gl_LocalInvocationIndex, tile = group_number();
    uint ordered = ordered_rows();
    if (tile * TILE >= ordered)
        return;
    uint here = min(TILE, ordered - tile * TILE);
    find_heights(tile, ordered);
#ifdef TILES
    if (local < push.subgroup) {
        uint at = local, count = 0;
        for (; at < here; count++)
            at += 1u << log_heights[at];
        work[push.tiles_at + tile * push.subgroup + local] =
            count << 8 | (at > TILE ? at - TILE : 0);
    }
#else
    uint first = work[push.entries_at + 2 * tile + 1];
    uint next = tile * TILE + TILE < ordered ? work[push.entries_at + 2 * tile + 3]
                                             : work[push.state_at + STATE_SLICES];
    if (local == 0) {
        uint count = 0;
        for (uint at = work[push.entries_at + 2 * tile]; at < here; count++) {
            begins[count] = at;
            at += 1u << log_heights[at];
        }
    }
    barrier();
    for (uint i = local; i < next - first; i += gl_WorkGroupSize.x)
        write_slice(first + i, tile, begins[i], ordered);
    for (uint i = local; i < here; i += gl_WorkGroupSize.x) {
        uint row = row_at(tile * TILE + i, ordered);
        slices[push.list_at + tile * TILE + i] = row | (lengths[i] == 0 ? 0x80000000u : 0);
    }
#endif
}
