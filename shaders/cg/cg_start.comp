// MODULE cg_start_*
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// x = 0, u = M r, p = s = 0, where the host has written r = b; partial sums of r u and r r.
#include "cg_problem.glsl"

void main()
{
    uint side = max(push.block, 1u);
    REAL ru = REAL(0), rr = REAL(0);
    FOR_EACH_BLOCK(first, side)
        for (uint i = first; i < min(first + side, push.count); i++) {
            REAL r = R(i), u = preconditioned(i, r);
            X(i) = REAL(0);
            P(i) = REAL(0);
            S(i) = REAL(0);
            if (push.block != 0)
                U(i) = u;
            ru += r * u;
            rr += r * r;
        }
    put_partials(0, ru, rr);
}
