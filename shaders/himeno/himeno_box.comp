// MODULE himeno_box_f32
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Himeno's relaxation, STEPS iterations a pass, on grids so small that the gap between dispatches is
// most of the time: a work-group holds a box of cells, its coefficients in registers and p in shared
// memory. Iteration s is right one cell less deep into the box than s - 1, so neighbouring boxes
// overlap by STEPS - 1 cells on each side, which both compute.
#include "himeno_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = HIMENO_ID_STEPS) const uint STEPS = 2;
layout(constant_id = HIMENO_ID_DEPTH) const uint DEPTH = 2; // cells along k that an item updates
#define STEPS_A_PASS STEPS
#include "himeno_problem.glsl"
#include "himeno_partial.glsl"

const uint ROW = gl_WorkGroupSize.x + 2;
const uint PLANE = ROW * (gl_WorkGroupSize.y + 2);
const uint TILE = PLANE * (gl_WorkGroupSize.z * DEPTH + 2);
const int OVERLAP = int(STEPS) - 1;
shared float levels[2 * TILE];

Row shared_row(uint at)
{
    return Row(levels[at], levels[at - 1], levels[at + 1]);
}

Plane shared_plane(uint at)
{
    return Plane(shared_row(at - ROW), shared_row(at), shared_row(at + ROW));
}

void main()
{
    ivec3 local = ivec3(gl_LocalInvocationID) * ivec3(1, 1, DEPTH);
    ivec3 size = ivec3(gl_WorkGroupSize) * ivec3(1, 1, DEPTH);
    ivec3 inner = ivec3(push.ni, push.nj, push.nk);
    ivec3 corner = ivec3(group_id()) * (size - 2 * OVERLAP) - OVERLAP;
    // Beyond this slab there may be another, which has coefficients here too.
    ivec3 low = -ivec3(0, 0, push.lower), high = inner + ivec3(0, 0, push.upper);
    Cell cells[DEPTH];
    [[unroll]] for (int n = 0; n < int(DEPTH); n++) {
        ivec3 cell = clamp(corner + local + ivec3(0, 0, n), low, high - 1);
        cells[n] = load_cell(uint(int(cell_row(uint(cell.x))) + cell.y * int(push.c_row) +
                                  cell.z * int(push.c_plane)));
    }
    for (uint n = gl_LocalInvocationIndex; n < TILE; n += GROUP_ITEMS) {
        ivec3 at = corner + ivec3(n % ROW, n % PLANE / ROW, n / PLANE) - 1;
        at = clamp(at, low - 1, high);
        levels[n] = p_in[int(push.p_base) + at.z * int(push.p_plane) + at.y * int(push.p_row) + at.x];
    }
    barrier();
    uint mine = uint(local.z + 1) * PLANE + uint(local.y + 1) * ROW + uint(local.x + 1);
    bool column = all(greaterThanEqual(local.xy, ivec2(OVERLAP))) &&
                  all(lessThan(local.xy, size.xy - OVERLAP));
    [[unroll]] for (uint s = 0; s < STEPS; s++) {
        uint level = (s & 1) * TILE + mine, next = TILE - (s & 1) * TILE + mine;
        float square = 0.0;
        [[unroll]] for (int n = 0; n < int(DEPTH); n++) {
            ivec3 cell = corner + local + ivec3(0, 0, n);
            bool kept = column && local.z + n >= OVERLAP && local.z + n < size.z - OVERLAP &&
                        cell.z < inner.z;
            float value = levels[level + uint(n) * PLANE];
            if (all(greaterThanEqual(cell, low)) && all(lessThan(cell, high))) {
                uint at = level + uint(n) * PLANE;
                float ss = residual(shared_plane(at - PLANE), shared_plane(at),
                                    shared_plane(at + PLANE), cells[n]);
                value = relaxed(value, ss);
                if (kept) {
                    square += ss * ss;
                    if (s + 1 == STEPS)
                        p_out[int(push.p_base) + cell.z * int(push.p_plane) +
                              cell.y * int(push.p_row) + cell.x] = value;
                }
            }
            if (s + 1 < STEPS)
                levels[next + uint(n) * PLANE] = value;
        }
        barrier();
        store_partial(s, square);
    }
}
