// MODULE spmv_merge_fix_*
#version 450
#extension GL_GOOGLE_include_directive : require
// Adds the carries of a row to the sum that was stored by the work-group that ended the row. The
// work-item of a row's first carry adds up all of them, in the order of the work-groups.
#include "common/real.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(std430, set = 0, binding = 0) readonly restrict buffer Carries { uvec4 carries[]; };
layout(std430, set = 0, binding = 1) restrict buffer Y { REAL y[]; };
layout(push_constant) uniform Push {
    REAL alpha, beta;
    uint rows, groups, base_y;
} push;

REAL sum_of(uvec4 carry)
{
#ifdef WF_TYPE_F64
    return packDouble2x32(carry.zw);
#else
    return uintBitsToFloat(carry.z);
#endif
}

void main()
{
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint at = group * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (at >= push.groups)
        return;
    uint row = carries[at].x;
    if (row >= push.rows || (at > 0 && carries[at - 1].x == row))
        return;
    REAL sum = REAL(0);
    for (; at < push.groups && carries[at].x == row; at++)
        sum += sum_of(carries[at]);
    y[push.base_y + row] += push.alpha * sum;
}
