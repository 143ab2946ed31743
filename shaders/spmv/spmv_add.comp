// MODULE spmv_add_*
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
// Each subgroup multiplies a row and adds up its sums by the device's own subgroup addition.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "spmv_problem.glsl"

void main()
{
    uint row = group_index() * gl_NumSubgroups + gl_SubgroupID;
    if (row >= push.rows)
        return;
    REAL sum = subgroupAdd(partial_sum(pattern[row] + gl_SubgroupInvocationID, pattern[row + 1],
                                       gl_SubgroupSize));
    if (subgroupElect())
        put_y(row, sum);
}
