// MODULE himeno_shuffle_f32
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
// Himeno's relaxation with one work-item a cell; the neighbours along i come from the neighbouring
// work-items of the subgroup. Vulkan leaves it open how a driver lays work-items over subgroups, so
// each work-item asks which cells its neighbours have, and reads memory where it needs others.
#include "himeno_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "himeno_problem.glsl"
#include "himeno_partial.glsl"

uint west_lane, east_lane;
bool west_there, east_there;

void find_neighbours(uint at)
{
    uint lane = gl_SubgroupInvocationID;
    west_lane = max(lane, 1) - 1;
    east_lane = min(lane + 1, gl_SubgroupSize - 1);
    west_there = subgroupShuffle(at, west_lane) == at - 1;
    east_there = subgroupShuffle(at, east_lane) == at + 1;
}

Row shuffled_row(uint at)
{
    Row row;
    row.centre = p_in[at];
    row.west = subgroupShuffle(row.centre, west_lane);
    row.east = subgroupShuffle(row.centre, east_lane);
    if (!west_there)
        row.west = p_in[at - 1];
    if (!east_there)
        row.east = p_in[at + 1];
    return row;
}

Plane shuffled_plane(uint at)
{
    return Plane(shuffled_row(at - push.p_row), shuffled_row(at), shuffled_row(at + push.p_row));
}

void main()
{
    uvec3 cell = item_id(), last = uvec3(push.ni, push.nj, push.nk) - 1;
    bool inside = all(lessThanEqual(cell, last));
    // Work-items outside the grid take part too, since a shuffle needs all of a subgroup.
    cell = min(cell, last);
    uint at = push.p_base + cell.z * push.p_plane + cell.y * push.p_row + cell.x;
    uint from = cell_row(cell.x) + cell.y * push.c_row + cell.z * push.c_plane;
    find_neighbours(at);
    Plane mid = shuffled_plane(at);
    float ss = residual(shuffled_plane(at - push.p_plane), mid, shuffled_plane(at + push.p_plane),
                        load_cell(from));
    if (inside)
        p_out[at] = relaxed(mid.here.centre, ss);
    store_partial(0, inside ? ss * ss : 0.0);
}
