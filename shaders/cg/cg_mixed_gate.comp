// MODULE cg_mixed_gate DEFINES RECORDED
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Before the first iteration of a correction: whether one is wanted, how far it is to go, and the
// sizes of the dispatches. One work-group.
#include "cg_mixed.glsl"

const float INNER_TOLERANCE = 1e-4; // of a correction; where f32 converges at all, it reaches this

uint verdict(float norm, float b_norm, float before)
{
    if (isnan(norm) || isinf(norm) || isnan(b_norm) || isinf(b_norm))
        return NOT_FINITE;
    if (norm == 0 || b_norm == 0)
        return CONVERGED;
    if (IS_FIXED != 0)
        return RUNNING;
    if (norm <= push.tolerance * b_norm)
        return CONVERGED;
    return norm > before / 2 ? STALLED : RUNNING;
}

void main()
{
    float scale = SCALE, before = NORM;
    float done = STATE(ended_state(push.iteration), ITERATIONS) - float(BASE);
    float all[3] = group_sums(others(RR_AT, push.groups, 0), others(BB_AT, push.groups, 0), 0);
    float norm = sqrt(all[0]) / scale, b_norm = sqrt(all[1]);
    uint status = verdict(norm, b_norm, before);
    for (uint i = gl_LocalInvocationIndex; i < 3 * push.sizes; i += gl_WorkGroupSize.x)
        words[push.sizes_at + i] =
            status == RUNNING || i % 3 != 0 ? c_words[push.full_sizes_at + i] : 0;
    if (gl_LocalInvocationIndex < push.refiners)
        words[push.sizes_at + 3 * (push.sizes + gl_LocalInvocationIndex)] = 0;
    if (gl_LocalInvocationIndex != 0)
        return;
    int exponent;
    frexp(b_norm, exponent);
    float inner = max(INNER_TOLERANCE, push.tolerance * b_norm / norm / 2);
    if (IS_FIXED != 0)
        inner = INNER_TOLERANCE;
    OVERALL = float(status);
    NORM = norm;
    SCALE = ldexp(1.0, clamp(30 - exponent, -100, 100));
    DONE += done;
    REFINEMENTS += push.iteration > 0 ? 1 : 0;
    BB = all[1];
    WANTED = inner * inner;
    scalars[11] = float(push.iteration);
    for (uint parity = 0; parity < 2; parity++) {
        STATE(parity, STATUS) = float(RUNNING);
        STATE(parity, ITERATIONS) = float(push.iteration);
        STATE(parity, GAMMA) = 0;
        STATE(parity, ALPHA) = 0;
    }
}
