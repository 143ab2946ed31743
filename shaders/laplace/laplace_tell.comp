// MODULE laplace_tell_*
#version 450
#extension GL_GOOGLE_include_directive : require
// Leaves a recorded solve's state where the application reads it.
#include "laplace_problem.glsl"

layout(std430, set = 0, binding = 0) readonly restrict buffer State { REAL state[]; };
layout(std430, set = 0, binding = 1) writeonly restrict buffer Told {
    uint status, iterations;
    float residual;
    uint reserved;
} told;

void main()
{
    if (gl_GlobalInvocationID.x != 0)
        return;
    uint status = uint(state[LAPLACE_STATUS]), iterations = uint(state[LAPLACE_ITERATIONS]);
    uint check = (iterations / push.every + LAPLACE_CHECKS - 1) % LAPLACE_CHECKS;
    told.status = status == LAPLACE_RUNNING     ? 1 // wf_laplace_status
                  : status == LAPLACE_CONVERGED ? 0
                                                : status;
    told.iterations = iterations;
    told.residual = iterations == 0
                        ? 0.0
                        : float(sqrt(state[LAPLACE_HISTORY + check] / state[LAPLACE_NORM]));
    told.reserved = 0;
}
