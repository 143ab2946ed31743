// MODULE himeno_shared_f32
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Himeno's relaxation with one work-item a cell, which reads p through a tile in shared memory. The
// tile has a halo of one cell on every side.
#include "himeno_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "himeno_problem.glsl"
#include "himeno_partial.glsl"

const uint ROW = gl_WorkGroupSize.x + 2;
const uint PLANE = ROW * (gl_WorkGroupSize.y + 2);
const uint TILE = PLANE * (gl_WorkGroupSize.z + 2);
shared float tile[TILE];

Row shared_row(uint at)
{
    return Row(tile[at], tile[at - 1], tile[at + 1]);
}

Plane shared_plane(uint at)
{
    return Plane(shared_row(at - ROW), shared_row(at), shared_row(at + ROW));
}

void main()
{
    uvec3 cell = item_id(), local = gl_LocalInvocationID;
    uvec3 corner = group_id() * gl_WorkGroupSize;
    uvec3 inner = uvec3(push.ni, push.nj, push.nk);
    // Coordinates here count from the border: 0 is cell -1.
    for (uint n = gl_LocalInvocationIndex; n < TILE; n += GROUP_ITEMS) {
        uvec3 at = corner + uvec3(n % ROW, n % PLANE / ROW, n / PLANE);
        at = min(at, inner + 1);
        tile[n] = p_in[push.p_base - push.p_plane - push.p_row - 1 + at.z * push.p_plane +
                       at.y * push.p_row + at.x];
    }
    barrier();
    float square = 0.0;
    if (all(lessThan(cell, inner))) {
        uint at = push.p_base + cell.z * push.p_plane + cell.y * push.p_row + cell.x;
        uint from = cell_row(cell.x) + cell.y * push.c_row + cell.z * push.c_plane;
        uint mine = (local.z + 1) * PLANE + (local.y + 1) * ROW + local.x + 1;
        float ss = residual(shared_plane(mine - PLANE), shared_plane(mine),
                            shared_plane(mine + PLANE), load_cell(from));
        p_out[at] = relaxed(tile[mine], ss);
        square = ss * ss;
    }
    store_partial(0, square);
}
