// MODULE cg_leave_*
#version 450
#extension GL_GOOGLE_include_directive : require
// Ends a recorded solve: x with the step that it still lacks after an odd number of iterations, and
// the state, to the application's buffers.
#include "common/real.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(std430, set = 0, binding = 0) readonly restrict buffer A { REAL a[]; }; // x, r, p
layout(std430, set = 0, binding = 1) writeonly restrict buffer Solution { REAL solution[]; };
layout(std430, set = 0, binding = 2) writeonly restrict buffer State {
    uint status, iterations;
    float residual;
    uint reserved;
} state;
layout(std430, set = 0, binding = 3) readonly restrict buffer Scalars { REAL scalars[]; };
layout(push_constant) uniform Push {
    uint iterations; // recorded
    uint count, stride, block, groups, partials_at, partials, history_at;
} push;

// As in cg_problem.glsl.
#define STATE(parity, which) scalars[4 * (parity) + (which)]
#define BB scalars[9]
#define FIRST_RR scalars[10]
const uint RUNNING = 0, CONVERGED = 1;

void main()
{
    // The iteration that ended the solve left its verdict in one of the two states.
    uint ended = STATE(0, 0) != REAL(RUNNING) ? 0 : STATE(1, 0) != REAL(RUNNING) ? 1
                                                                              : push.iterations & 1;
    uint status = uint(STATE(ended, 0)), iterations = uint(STATE(ended, 1));
    REAL alpha = (iterations & 1) != 0 ? STATE(1, 3) : REAL(0);
    bool zero = BB == REAL(0);
    for (uint i = gl_GlobalInvocationID.x; i < push.count; i += push.groups * gl_WorkGroupSize.x) {
        REAL x = a[i];
        if (alpha != REAL(0))
            x = fma(alpha, a[2 * push.stride + i], x);
        solution[i] = zero ? REAL(0) : x;
    }
    if (gl_GlobalInvocationID.x != 0)
        return;
    REAL rr = iterations > 0 ? scalars[push.history_at + iterations - 1] : FIRST_RR;
    state.status = status == RUNNING ? 1 : status == CONVERGED ? 0 : status; // wf_cg_status
    state.iterations = iterations;
    state.residual = zero ? 0.0 : float(sqrt(rr / BB));
    state.reserved = 0;
}
