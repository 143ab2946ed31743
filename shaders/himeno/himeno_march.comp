// MODULE himeno_march_f32
// MODULE himeno_march4_f32 DEFINES WIDTH=4
// MODULE himeno_march4_subgroup_f32 DEFINES WIDTH=4 SUBGROUP
// MODULE himeno_pairs_f32 DEFINES WIDTH=4 PAIRS
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Himeno's relaxation in columns: a work-item keeps three planes of its cells' neighbours in
// registers and marches along k, so that each value of p is loaded for one plane of updates, not
// for three. A work-item updates WIDTH cells along i.
#ifdef PAIRS
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#endif
#ifdef SUBGROUP
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif
#include "himeno_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = HIMENO_ID_MARCH) const uint MARCH = 8;
#include "himeno_problem.glsl"
#include "himeno_partial.glsl"

void main()
{
    uvec3 id = item_id();
    uint i = id.x * WIDTH, j = id.y, k = id.z * MARCH;
    VEC squares = VEC(0);
    if (i < push.ni && j < push.nj && k < push.nk) {
        uint at = push.p_base + k * push.p_plane + j * push.p_row + i;
        uint from = cell_row(i) + j * push.c_row + k * push.c_plane;
        uint end = min(k + MARCH, push.nk);
        Plane down = load_plane(at - push.p_plane, i), mid = load_plane(at, i);
        for (; k < end; k++) {
            Plane up = load_plane(at + push.p_plane, i);
            VEC ss = residual(down, mid, up, load_cell(from));
            squares += store_cells(at, i, mid.here.centre, relaxed(mid.here.centre, ss), ss);
            down = mid;
            mid = up;
            at += push.p_plane;
            from += push.c_plane;
        }
    }
    store_partial(0, total(squares));
}
