// MODULE spmv_lanes_*
// MODULE spmv_lanes_tree_* DEFINES TREE
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
// LANES neighbouring lanes of a subgroup multiply a row and add up by shuffles. Rows are counted by
// subgroup and lane, since Vulkan does not tie these to the work-item's index. TREE: LANES may be
// more than a subgroup has; then each subgroup of a row leaves its sum in shared memory, where a
// tree adds them up.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "spmv_problem.glsl"
layout(constant_id = SPMV_ID_LANES) const uint LANES = 4;

#ifdef TREE
shared REAL sums[gl_WorkGroupSize.x]; // one a subgroup, which may be a single work-item

void main()
{
    uint item = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
    uint row = group_index() * (gl_WorkGroupSize.x / LANES) + item / LANES;
    uint lane = item % LANES;
    REAL sum = REAL(0);
    if (row < push.rows)
        sum = partial_sum(pattern[row] + lane, pattern[row + 1], LANES);
    for (uint distance = min(LANES, gl_SubgroupSize) / 2; distance > 0; distance /= 2)
        sum += subgroupShuffleXor(sum, distance);
    uint subgroups = LANES / gl_SubgroupSize, mine = lane / gl_SubgroupSize;
    bool first = lane % gl_SubgroupSize == 0;
    if (subgroups > 1) {
        if (first)
            sums[gl_SubgroupID] = sum;
        barrier();
        for (uint distance = subgroups / 2; distance > 0; distance /= 2) {
            if (first && mine < distance)
                sums[gl_SubgroupID] += sums[gl_SubgroupID + distance];
            barrier();
        }
        sum = sums[gl_SubgroupID];
    }
    if (row < push.rows && lane == 0)
        put_y(row, sum);
}
#else
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
#endif
