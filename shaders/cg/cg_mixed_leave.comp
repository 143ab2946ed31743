// MODULE cg_mixed_leave DEFINES RECORDED OWN_BINDINGS
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Ends a recorded solve: x and the state to the application's buffers. The residual of this x was
// computed just before.
#include "cg_mixed.glsl"
layout(std430, set = 0, binding = 1) writeonly restrict buffer Solution { vec2 solution[]; };
layout(std430, set = 0, binding = 2) writeonly restrict buffer State {
    uint status, iterations;
    float residual;
    uint refinements;
} told;

void main()
{
    bool zero = BB == 0;
    FOR_EACH_BLOCK(i, 1)
        solution[i] = zero ? vec2(0) : vec2(HIGH(SOLUTION, i), LOW(SOLUTION, i));
    if (gl_WorkGroupID.x != 0)
        return;
    float all[3] = group_sums(others(RR_AT, push.groups, 0), 0, 0);
    if (gl_LocalInvocationIndex != 0)
        return;
    float residual = zero ? 0.0 : sqrt(all[0]) / SCALE / sqrt(BB);
    uint overall = uint(OVERALL), ended = ended_state(push.iteration);
    uint iterations = uint(DONE), refinements = uint(REFINEMENTS), status = overall;
    if (overall == RUNNING) {
        uint last = uint(STATE(ended, ITERATIONS)) - BASE;
        status = uint(STATE(ended, STATUS));
        iterations += last;
        if (adds(status)) {
            refinements += last > 0 ? 1 : 0;
            status = IS_FIXED == 0 && residual <= push.tolerance ? CONVERGED : RUNNING;
        }
    }
    // wf_cg_status
    told.status = status == RUNNING || status == STALLED ? 1 : status == CONVERGED ? 0 : status;
    told.iterations = iterations;
    told.residual = residual;
    told.refinements = refinements;
}
