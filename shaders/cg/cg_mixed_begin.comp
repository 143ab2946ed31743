// MODULE cg_mixed_begin DEFINES RECORDED
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Begins a correction: r is brought to length one, u = M r, x = p = s = 0; partial sums of r u and
// r r.
#include "cg_mixed.glsl"

void main()
{
    uint side = max(push.block, 1u);
    float all[3] = group_sums(others(RR_AT, push.groups, 0), 0, 0);
    float by_norm = 1 / sqrt(all[0]), ru = 0, rr = 0;
    FOR_EACH_BLOCK(first, side) {
        uint end = min(first + side, push.count);
        for (uint i = first; i < end; i++) {
            R(i) *= by_norm;
            X(i) = 0;
            P(i) = 0;
            S(i) = 0;
        }
        for (uint i = first; i < end; i++) {
            float r = R(i), u = preconditioned(i, r);
            if (push.block != 0)
                U(i) = u;
            ru += r * u;
            rr += r * r;
        }
    }
    put_partials(0, ru, rr);
}
