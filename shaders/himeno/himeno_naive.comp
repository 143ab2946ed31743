// MODULE himeno_naive_f32
// MODULE himeno_subgroup_f32 DEFINES SUBGROUP
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef SUBGROUP
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif
// Himeno's relaxation with one work-item a cell, which reads everything from memory.
#include "himeno_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
// 1: updates p; 2: sums gosa; 3: does both.
layout(constant_id = HIMENO_ID_PASSES) const uint PASSES = 3;
#include "himeno_problem.glsl"
#include "himeno_partial.glsl"

void main()
{
    uvec3 cell = item_id();
    float square = 0.0;
    if (cell.x < push.ni && cell.y < push.nj && cell.z < push.nk) {
        uint at = push.p_base + cell.z * push.p_plane + cell.y * push.p_row + cell.x;
        uint from = cell_row(cell.x) + cell.y * push.c_row + cell.z * push.c_plane;
        Plane mid = load_plane(at, cell.x);
        float ss = residual(load_plane(at - push.p_plane, cell.x), mid,
                            load_plane(at + push.p_plane, cell.x), load_cell(from));
        square = ss * ss;
        if ((PASSES & 1) != 0)
            p_out[at] = relaxed(mid.here.centre, ss);
    }
    if ((PASSES & 2) != 0)
        store_partial(0, square);
}
