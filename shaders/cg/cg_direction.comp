#version 450
#extension GL_GOOGLE_include_directive : require
// p = z + beta p, beta = (new r z) / (old r z); the first work-group keeps |r|^2 and says whether
// the run goes on. It alone writes the status, at the end: no other reads it in this dispatch.
#include "cg_problem.glsl"

void keep_state(REAL pq, REAL rr)
{
    if (scalars[STATUS] != REAL(RUNNING))
        return;
    if (isnan(pq) || isinf(pq) || isnan(rr) || isinf(rr)) {
        scalars[STATUS] = REAL(NOT_FINITE);
    } else if (pq <= REAL(0)) {
        scalars[STATUS] = REAL(INDEFINITE);
    } else {
        HISTORY(push.iteration) = rr;
        scalars[ITERATIONS] = REAL(push.iteration + 1);
        if (rr <= scalars[WANTED])
            scalars[STATUS] = REAL(CONVERGED);
    }
}

void main()
{
    uint even = push.iteration & 1;
    REAL beta = dot_of(RZ + 1 - even) / dot_of(RZ + even);
    if (gl_WorkGroupID.x == 0) {
        REAL pq = dot_of(PQ), rr = dot_of(RR);
        if (gl_LocalInvocationIndex == 0)
            keep_state(pq, rr);
    }
    FOR_EACH(i)
        VECTOR(P, i) = preconditioned(i, VECTOR(R, i)) + beta * VECTOR(P, i);
}
