// MODULE cg_state_*
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Ends a batch of iterations: puts the state and the residual where the host reads them. One
// work-group.
#include "cg_problem.glsl"

void main()
{
    uint now = push.iteration & 1;
    REAL before = STATE(now, STATUS);
    REAL all[3] = dots(now);
    if (gl_LocalInvocationIndex != 0 || before != REAL(RUNNING) || push.iteration == 0)
        return;
    HISTORY(push.iteration - 1) = all[1];
    STATE(now, ITERATIONS) = REAL(push.iteration);
    if (!finite(all[1]))
        STATE(now, STATUS) = REAL(NOT_FINITE);
    else if (all[1] <= WANTED)
        STATE(now, STATUS) = REAL(CONVERGED);
}
