#version 450
#extension GL_GOOGLE_include_directive : require
// alpha = (r z) / (p q), x += alpha p, r -= alpha q; partial sums of the new r z and r r. A
// direction of no or negative curvature ends the run before anything is changed.
#include "cg_problem.glsl"

void main()
{
    uint even = push.iteration & 1;
    if (scalars[STATUS] != REAL(RUNNING))
        return;
    REAL pq = dot_of(PQ), old = dot_of(RZ + even);
    if (!(pq > REAL(0)) || isinf(pq)) // the same in all work-groups
        return;
    REAL alpha = old / pq, rz = REAL(0), rr = REAL(0);
    FOR_EACH(i) {
        REAL r = VECTOR(R, i) - alpha * VECTOR(Q, i);
        VECTOR(X, i) += alpha * VECTOR(P, i);
        VECTOR(R, i) = r;
        rz += r * preconditioned(i, r);
        rr += r * r;
    }
    put_partial(RZ + 1 - even, rz);
    put_partial(RR, rr);
}
