// MODULE spmv_lanes_*
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
// LANES neighbouring lanes of a subgroup multiply a row and add up by shuffles. Rows are counted by
// subgroup and lane, since Vulkan does not tie these to the work-item's index.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "spmv_problem.glsl"
layout(constant_id = SPMV_ID_LANES) const uint LANES = 4;

void main()
{
    uint rows_a_group = gl_WorkGroupSize.x / LANES;
    uint row = group_index() * rows_a_group + gl_SubgroupID * (gl_SubgroupSize / LANES) +
               gl_SubgroupInvocationID / LANES;
    uint lane = gl_SubgroupInvocationID % LANES;
    REAL sum = REAL(0);
    if (row < push.rows)
        sum = partial_sum(pattern[row] + lane, pattern[row + 1], LANES);
    for (uint distance = LANES / 2; distance > 0; distance /= 2)
        sum += subgroupShuffleXor(sum, distance);
    if (row < push.rows && lane == 0)
        put_y(row, sum);
}
