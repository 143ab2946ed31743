// MODULE cg_begin_* DEFINES RECORDED
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// r = b - A x where the solve begins from x (w = A x then), u = M r, p = s = 0; partial sums of
// r u, r r and b b.
#include "cg_problem.glsl"

void main()
{
    uint side = max(push.block, 1u);
    REAL ru = REAL(0), rr = REAL(0), bb = REAL(0);
    FOR_EACH_BLOCK(first, side) {
        uint end = min(first + side, push.count);
        for (uint i = first; i < end; i++) {
            REAL b_i = R(i);
            bb += b_i * b_i;
            if ((push.iteration & WARM) != 0)
                R(i) = b_i - W(i);
            P(i) = REAL(0);
            S(i) = REAL(0);
        }
        for (uint i = first; i < end; i++) {
            REAL r = R(i), u = preconditioned(i, r);
            if (push.block != 0)
                U(i) = u;
            ru += r * u;
            rr += r * r;
        }
    }
    REAL all[3] = group_sums(ru, rr, bb);
    if (gl_LocalInvocationIndex == 0) {
        PARTIAL(RU, gl_WorkGroupID.x) = all[0];
        PARTIAL(RR, gl_WorkGroupID.x) = all[1];
        PARTIAL(RU + 1, gl_WorkGroupID.x) = all[2]; // free until the first iteration
    }
}
