// MODULE cg_finish_*
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// After an odd number of iterations: adds the step that the last one left to the next one to x.
#include "cg_problem.glsl"

void main()
{
    REAL alpha = STATE(1, ALPHA);
    FOR_EACH_BLOCK(i, 1)
        X(i) = fma(alpha, P(i), X(i));
}
