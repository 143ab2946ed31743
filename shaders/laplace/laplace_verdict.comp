// MODULE laplace_verdict_*
// MODULE laplace_verdict_recorded_* DEFINES RECORDED
#version 450
#extension GL_GOOGLE_include_directive : require
// Ends a check: one work-group sums the residual's norm and decides whether to go on.
#include "laplace_problem.glsl"

#ifdef RECORDED
// The sizes of the dispatches, each a VkDispatchIndirectCommand, are behind the state.
layout(std430, set = 0, binding = 0) buffer State { REAL state[]; };
layout(std430, set = 0, binding = 0) buffer Words { uint words[]; };
#else
layout(std430, set = 0, binding = 0) restrict buffer State { REAL state[]; };
#endif
layout(std430, set = 0, binding = 1) readonly restrict buffer Partials { REAL partials[]; };

shared REAL sums[2 * gl_WorkGroupSize.x];

REAL verdict(REAL squares, REAL scales)
{
#ifdef WF_TYPE_F64
    REAL rounding = REAL(1.1102230246251565e-16LF);
#else
    REAL rounding = 5.9604645e-8;
#endif
    if (isnan(squares) || isinf(squares))
        return REAL(LAPLACE_NOT_FINITE);
#ifdef RECORDED
    if (state[LAPLACE_FIXED] != REAL(0))
        return REAL(LAPLACE_RUNNING);
#endif
    if (squares <= state[LAPLACE_WANTED])
        return REAL(LAPLACE_CONVERGED);
    // Rounding half an ulp of u in a cell makes a residual of this size.
    if (squares <= rounding * rounding * scales)
        return REAL(LAPLACE_STAGNATED);
    // Rounding errors that alternate in sign add up to more, so it is the lack of progress that
    // ends the run then: progress is a norm smaller by a tenth.
    if (push.sequence == 0 || squares <= REAL(0.81) * state[LAPLACE_MARK]) {
        state[LAPLACE_MARK] = squares;
        state[LAPLACE_MARK_CHECK] = REAL(push.sequence);
    }
    if (REAL(push.sequence) >= state[LAPLACE_MARK_CHECK] + REAL(push.patience))
        return REAL(LAPLACE_STAGNATED);
    return REAL(LAPLACE_RUNNING);
}

void main()
{
    if (state[LAPLACE_STATUS] != REAL(0))
        return;
    const uint size = gl_WorkGroupSize.x;
    uint item = gl_LocalInvocationIndex;
    uint count = COLOURED != 0 ? 2 * push.partials : push.partials;
    REAL squares = REAL(0), scales = REAL(0);
    for (uint i = item; i < count; i += size) {
        squares += partials[2 * i];
        scales += partials[2 * i + 1];
    }
    sums[item] = squares;
    sums[size + item] = scales;
    barrier();
    for (uint half_size = size / 2; half_size > 0; half_size /= 2) {
        if (item < half_size) {
            sums[item] += sums[item + half_size];
            sums[size + item] += sums[size + item + half_size];
        }
        barrier();
    }
    if (item != 0)
        return;
    squares = sums[0];
    scales = sums[size];
    state[LAPLACE_HISTORY + push.sequence % LAPLACE_CHECKS] = squares;
    state[LAPLACE_ITERATIONS] = REAL(min((push.sequence + 1) * push.every, push.most));
    REAL status = verdict(squares, scales);
    state[LAPLACE_STATUS] = status;
#ifdef RECORDED
    if (status != REAL(LAPLACE_RUNNING))
        for (uint i = 0; i < push.sizes; i++)
            words[push.sizes_at + 3 * i] = 0;
#endif
}
