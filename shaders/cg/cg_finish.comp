// MODULE cg_finish_*
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// After an odd number of iterations: the step of x that the last one left to the next.
#include "cg_problem.glsl"

void main()
{
    REAL alpha = STATE(1, ALPHA);
    FOR_EACH_BLOCK(i, 1)
        X(i) = fma(alpha, P(i), X(i));
}
