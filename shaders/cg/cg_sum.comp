// MODULE cg_sum_* DEFINES PART NO_VECTORS OWN_BINDINGS
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// r u, u w and r r of a part of a system, for the host, which adds up those of all parts. One
// work-group.
#include "cg_problem.glsl"
layout(std430, set = 0, binding = 0) readonly restrict buffer Product { REAL product[]; };
layout(std430, set = 0, binding = 1) writeonly restrict buffer Sums { REAL of_part[]; };

void main()
{
    REAL uw = others(push.partials_at, push.partials, 0);
    for (uint i = gl_LocalInvocationIndex; i < push.products; i += gl_WorkGroupSize.x)
        uw += product[i];
    REAL all[3] = group_sums(others(PARTIALS_AT(RU), push.groups, 0), uw,
                             others(PARTIALS_AT(RR), push.groups, 0));
    if (gl_LocalInvocationIndex < 3)
        of_part[gl_LocalInvocationIndex] = all[gl_LocalInvocationIndex];
}
