// MODULE himeno_time_f32
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Himeno's relaxation with STEPS iterations a pass (temporal blocking): each plane of coefficients
// is loaded once and kept in registers until the last of its iterations.
//
// A work-group marches along k. At front k it loads plane k + 1 of p (level 0) and computes plane k
// - s + 1 of iteration s from level s - 1, for s = 1 … STEPS. Shared memory holds three planes of
// each level. Each iteration loses a cell on every side of the tile, whose neighbours are not
// there, so neighbouring tiles overlap by STEPS - 1 cells on each side, which both compute.
#include "himeno_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = HIMENO_ID_MARCH) const uint MARCH = 32;
layout(constant_id = HIMENO_ID_STEPS) const uint STEPS = 2;
#define STEPS_A_PASS STEPS
#include "himeno_problem.glsl"
#include "himeno_partial.glsl"

const uint ITEMS = gl_WorkGroupSize.x * gl_WorkGroupSize.y;
const uint ROW = gl_WorkGroupSize.x + 2; // of a tile of level 0, which has a halo of one cell
const uint PLANE = ROW * (gl_WorkGroupSize.y + 2);
const uint LOADS = (PLANE + ITEMS - 1) / ITEMS;
const int OVERLAP = int(STEPS) - 1;

shared float levels[STEPS * 3 * PLANE];

Row shared_row(uint at)
{
    return Row(levels[at], levels[at - 1], levels[at + 1]);
}

Plane shared_plane(uint at)
{
    return Plane(shared_row(at - ROW), shared_row(at), shared_row(at + ROW));
}

// Beyond the grid's ends the nearest plane is read, since no result depends on those.
int present(int plane, int rim)
{
    return clamp(plane, -int(push.lower) - rim, int(push.nk + push.upper) - 1 + rim);
}

void main()
{
    ivec2 local = ivec2(gl_LocalInvocationID.xy), size = ivec2(gl_WorkGroupSize.xy);
    ivec2 inner = ivec2(push.ni, push.nj);
    // Neighbours' cells, which all iterations but the last one update.
    ivec2 before = ivec2(push.rims & 0xff, push.rims >> 16 & 0xff);
    ivec2 after = inner + ivec2(push.rims >> 8 & 0xff, push.rims >> 24);
    uvec3 group = group_id();
    ivec2 corner = ivec2(group.xy) * (size - 2 * OVERLAP) - OVERLAP;
    ivec2 cell = corner + local;
    bool updated = all(greaterThanEqual(cell, -before)) && all(lessThan(cell, after));
    bool kept = all(greaterThanEqual(local, ivec2(OVERLAP))) &&
                all(lessThan(local, size - OVERLAP)) && all(lessThan(cell, inner));
    uint item = gl_LocalInvocationIndex;
    uint mine = uint(local.y + 1) * ROW + uint(local.x + 1);

    uint rim_from[LOADS];
    [[unroll]] for (uint n = 0; n < LOADS; n++) {
        ivec2 at = ivec2((item + n * ITEMS) % ROW, (item + n * ITEMS) / ROW) - 1 + corner;
        at = clamp(at, -before - 1, after);
        rim_from[n] = uint(int(push.p_base) + at.y * int(push.p_row) + at.x);
    }
    ivec2 nearest = clamp(cell, -before, after - 1);
    int cell_from = int(cell_row(uint(nearest.x))) + nearest.y * int(push.c_row);
    int p_from = int(push.p_base) + cell.y * int(push.p_row) + cell.x;

    int first = int(group.z * MARCH), end = min(first + int(MARCH), int(push.nk));
    int k = first - OVERLAP;
    uint ring[3] = {0, PLANE, 2 * PLANE}; // where planes k + 1, k, k - 1 of a level are
    float next[LOADS];
    [[unroll]] for (uint n = 0; n < LOADS; n++) {
        uint to = item + n * ITEMS;
        if (to < PLANE) {
            levels[ring[2] + to] = p_in[int(rim_from[n]) + present(k - 1, 1) * int(push.p_plane)];
            levels[ring[1] + to] = p_in[int(rim_from[n]) + present(k, 1) * int(push.p_plane)];
        }
        next[n] = p_in[int(rim_from[n]) + present(k + 1, 1) * int(push.p_plane)];
    }
    Cell cells[STEPS];
    float squares[STEPS];
    [[unroll]] for (uint s = 0; s < STEPS; s++) {
        cells[s] = load_cell(uint(cell_from + present(k, 0) * int(push.c_plane)));
        squares[s] = 0.0;
    }

    for (; k < end + OVERLAP; k++) {
        [[unroll]] for (uint n = 0; n < LOADS; n++)
            if (item + n * ITEMS < PLANE)
                levels[ring[0] + item + n * ITEMS] = next[n];
        barrier();
        // The loads of the next front are under way while this one is computed.
        [[unroll]] for (uint n = 0; n < LOADS; n++)
            next[n] = p_in[int(rim_from[n]) + present(k + 2, 1) * int(push.p_plane)];
        Cell following = load_cell(uint(cell_from + present(k + 1, 0) * int(push.c_plane)));
        [[unroll]] for (uint s = 0; s < STEPS; s++) {
            int plane = k - int(s);
            uint level = s * 3 * PLANE + mine;
            float value = levels[level + ring[(s + 1) % 3]];
            if (updated && plane == present(plane, 0)) {
                float ss = residual(shared_plane(level + ring[(s + 2) % 3]),
                                    shared_plane(level + ring[(s + 1) % 3]),
                                    shared_plane(level + ring[s % 3]), cells[s]);
                value = relaxed(value, ss);
                if (kept && plane >= first && plane < end) {
                    squares[s] += ss * ss;
                    if (s + 1 == STEPS)
                        p_out[p_from + plane * int(push.p_plane)] = value;
                }
            }
            if (s + 1 < STEPS) {
                levels[level + 3 * PLANE + ring[(s + 1) % 3]] = value;
                barrier();
            }
        }
        if (STEPS == 1) // no other barrier keeps the next front from a plane that is still read
            barrier();
        [[unroll]] for (uint s = STEPS - 1; s > 0; s--)
            cells[s] = cells[s - 1];
        cells[0] = following;
        uint oldest = ring[2];
        ring[2] = ring[1];
        ring[1] = ring[0];
        ring[0] = oldest;
    }
    [[unroll]] for (uint s = 0; s < STEPS; s++)
        store_partial(s, squares[s]);
}
