#version 450
#extension GL_GOOGLE_include_directive : require
// Partial sums of p q, q = A p.
#include "cg_problem.glsl"

void main()
{
    REAL pq = REAL(0);
    if (scalars[STATUS] != REAL(RUNNING))
        return;
    FOR_EACH(i)
        pq += VECTOR(P, i) * VECTOR(Q, i);
    put_partial(PQ, pq);
}
