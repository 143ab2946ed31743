#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Himeno's relaxation, STEPS iterations a pass, for grids so small that starting a dispatch costs
// more than its work: a work-group holds a box of p in shared memory and each work-item one cell's
// coefficients in registers. Each iteration is right one cell less deep into the box than the one
// before, so neighbouring boxes overlap by STEPS - 1 cells on each side, which both compute.
#include "stencil_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = STENCIL_ID_STEPS) const uint STEPS = 2;
#include "himeno_problem.glsl"
#include "himeno_partial.glsl"

const uint ITEMS = gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z;
const uint ROW = gl_WorkGroupSize.x + 2; // of a box with its rim of one cell
const uint PLANE = ROW * (gl_WorkGroupSize.y + 2);
const uint BOX = PLANE * (gl_WorkGroupSize.z + 2);
const int OVERLAP = int(STEPS) - 1;

shared float boxes[2 * BOX];

Row shared_row(uint at)
{
    return Row(boxes[at], boxes[at - 1], boxes[at + 1]);
}

Plane shared_plane(uint at)
{
    return Plane(shared_row(at - ROW), shared_row(at), shared_row(at + ROW));
}

void main()
{
    ivec3 local = ivec3(gl_LocalInvocationID), size = ivec3(gl_WorkGroupSize);
    ivec3 low = ivec3(0, 0, -int(push.lower)); // cells of which there are coefficients
    ivec3 high = ivec3(push.ni, push.nj, push.nk + push.upper) - 1;
    ivec3 corner = ivec3(gl_WorkGroupID) * (size - 2 * OVERLAP) - OVERLAP;
    ivec3 cell = corner + local;
    bool updated = cell == clamp(cell, low, high);
    bool kept = updated && local == clamp(local, ivec3(OVERLAP), size - OVERLAP - 1) &&
                cell.z == clamp(cell.z, 0, int(push.nk) - 1);
    uint item = gl_LocalInvocationIndex;
    uint mine = uint(local.z + 1) * PLANE + uint(local.y + 1) * ROW + uint(local.x + 1);

    ivec3 nearest = clamp(cell, low, high);
    Cell coefficients_here =
        load_cell(uint(int(cell_row(uint(nearest.x))) + nearest.y * int(push.c_row) +
                       nearest.z * int(push.c_plane)));
    for (uint n = item; n < BOX; n += ITEMS) {
        ivec3 at = corner - 1 + ivec3(n % ROW, n % PLANE / ROW, n / PLANE);
        at = clamp(at, low - 1, high + 1);
        boxes[n] = p_in[int(push.p_base) + at.z * int(push.p_plane) + at.y * int(push.p_row) +
                        at.x];
    }
    barrier();

    float squares[STEPS];
    uint from = mine, to = BOX + mine;
    [[unroll]] for (uint s = 0; s < STEPS; s++) {
        float value = boxes[from];
        squares[s] = 0.0;
        if (updated) {
            float ss = residual(shared_plane(from - PLANE), shared_plane(from),
                                shared_plane(from + PLANE), coefficients_here);
            value = relaxed(value, ss);
            if (kept)
                squares[s] = ss * ss;
        }
        if (s + 1 < STEPS) {
            boxes[to] = value;
            barrier();
            uint swap = from;
            from = to;
            to = swap;
        } else if (kept) {
            p_out[int(push.p_base) + cell.z * int(push.p_plane) + cell.y * int(push.p_row) +
                  cell.x] = value;
        }
    }
    [[unroll]] for (uint s = 0; s < STEPS; s++)
        store_partial(s, squares[s]);
}
