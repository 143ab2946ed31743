// MODULE cg_dot_*
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Partial sums of u w, for products that do not leave them.
#include "cg_problem.glsl"

void main()
{
    REAL uw = REAL(0);
    FOR_EACH_BLOCK(i, 1)
        uw += (push.block != 0 ? U(i) : R(i)) * W(i);
    REAL all[3] = group_sums(uw, REAL(0), REAL(0));
    if (gl_LocalInvocationIndex == 0)
        scalars[push.partials_at + gl_WorkGroupID.x] = all[0];
}
