// MODULE spmv_add_*
// MODULE spmv_add_tree_* DEFINES TREE
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
// Each subgroup multiplies a row and adds up its sums by the device's own subgroup addition. TREE:
// LANES work-items multiply a row. Where a subgroup has fewer, each leaves its sum in shared
// memory, where a tree adds them up; where it has more, it adds up one of its rows after the other.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "spmv_problem.glsl"

#ifdef TREE
layout(constant_id = SPMV_ID_LANES) const uint LANES = 32;

shared REAL sums[gl_WorkGroupSize.x]; // one a subgroup, which may be a single work-item

void main()
{
    uint item = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
    uint row = group_index() * (gl_WorkGroupSize.x / LANES) + item / LANES;
    uint lane = item % LANES;
    REAL partial = REAL(0), sum = REAL(0);
    if (row < push.rows)
        partial = partial_sum(pattern[row] + lane, pattern[row + 1], LANES);
    uint rows = max(gl_SubgroupSize / LANES, 1), place = gl_SubgroupInvocationID / LANES;
    for (uint i = 0; i < rows; i++) {
        REAL added = subgroupAdd(i == place || rows == 1 ? partial : REAL(0));
        if (i == place || rows == 1)
            sum = added;
    }
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
    uint row = group_index() * gl_NumSubgroups + gl_SubgroupID;
    if (row >= push.rows)
        return;
    REAL sum = subgroupAdd(partial_sum(pattern[row] + gl_SubgroupInvocationID, pattern[row + 1],
                                       gl_SubgroupSize));
    if (subgroupElect())
        put_y(row, sum);
}
#endif
