#version 450
#extension GL_GOOGLE_include_directive : require
// x = 0, r = b (already there), p = z = D^-1 r; partial sums of r z and r r.
#include "cg_problem.glsl"

void main()
{
    REAL rz = REAL(0), rr = REAL(0);
    FOR_EACH(i) {
        REAL r = VECTOR(R, i), z = preconditioned(i, r);
        VECTOR(X, i) = REAL(0);
        VECTOR(P, i) = z;
        rz += r * z;
        rr += r * r;
    }
    put_partial(RZ, rz);
    put_partial(RR, rr);
}
