// MODULE cg_gate_* DEFINES RECORDED
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Before the first iteration of a recorded solve: what is wanted, by |b|, and the sizes of the
// dispatches. One work-group.
#include "cg_problem.glsl"

void main()
{
    REAL bb = others(PARTIALS_AT(RU + 1), push.groups, 0),
         rr = others(PARTIALS_AT(RR), push.groups, 0);
    REAL all[3] = group_sums(bb, rr, REAL(0));
    bb = all[0];
    rr = all[1];
    // Where b is zero, so is x.
    uint status = !finite(bb) || !finite(rr) ? NOT_FINITE : bb == REAL(0) ? CONVERGED : RUNNING;
    for (uint i = gl_LocalInvocationIndex; i < 3 * push.sizes; i += gl_WorkGroupSize.x)
        words[push.sizes_at + i] =
            status == RUNNING || i % 3 != 0 ? c_words[push.full_sizes_at + i] : 0;
    if (gl_LocalInvocationIndex != 0)
        return;
    REAL tolerance = REAL(push.tolerance);
    BB = bb;
    FIRST_RR = rr;
    scalars[11] = REAL(0);
    WANTED = (push.iteration & FIXED) != 0 ? REAL(0) : tolerance * tolerance * bb;
    for (uint parity = 0; parity < 2; parity++) {
        STATE(parity, STATUS) = REAL(status);
        STATE(parity, ITERATIONS) = REAL(0);
        STATE(parity, GAMMA) = REAL(0);
        STATE(parity, ALPHA) = REAL(0);
    }
}
