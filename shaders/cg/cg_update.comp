#version 450
#extension GL_GOOGLE_include_directive : require
// An iteration's scalars and vectors: p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s, u =
// M r; partial sums of the new r u and r r. All work-groups come to the same scalars and the same
// verdict; the first writes them where the next iteration reads them.
#include "cg_problem.glsl"

// p A p = u w - beta ru / alpha, all but the first time. What is lost in that difference says
// nothing of its sign: the matrix is then singular as far as these numbers can tell.
REAL verdict(REAL rr, REAL curvature, REAL scale)
{
#ifdef WF_TYPE_F64
    REAL rounding = REAL(1.8e-15LF);
#else
    REAL rounding = 9.6e-7;
#endif
    if (!finite(rr))
        return REAL(NOT_FINITE);
    if (rr <= WANTED)
        return REAL(CONVERGED);
    if (!finite(curvature))
        return REAL(NOT_FINITE);
    if (abs(curvature) <= rounding * scale)
        return REAL(BREAKDOWN);
    return curvature < REAL(0) ? REAL(INDEFINITE) : REAL(RUNNING);
}

void keep_state(uint next, REAL status, REAL gamma, REAL alpha, REAL rr, REAL iterations)
{
    STATE(next, STATUS) = status;
    STATE(next, ITERATIONS) = iterations;
    STATE(next, GAMMA) = gamma;
    STATE(next, ALPHA) = alpha;
    if (push.iteration > 0 && iterations == REAL(push.iteration))
        HISTORY(push.iteration - 1) = rr;
}

void main()
{
    uint now = push.iteration & 1, next = 1 - now;
    REAL before = STATE(now, STATUS), iterations = STATE(now, ITERATIONS);
    REAL all[3] = dots(now);
    REAL gamma = all[0], rr = all[1];
    REAL beta = REAL(0), curvature = all[2], scale = abs(all[2]);
    if (push.iteration > 0) {
        beta = gamma / STATE(now, GAMMA);
        REAL taken = beta * gamma / STATE(now, ALPHA);
        curvature -= taken;
        scale += abs(taken);
    }
    REAL status = before;
    if (before == REAL(RUNNING)) {
        status = verdict(rr, curvature, scale);
        iterations = REAL(push.iteration);
    }
    REAL alpha = gamma / curvature;
    if (gl_GlobalInvocationID.x == 0)
        keep_state(next, status, gamma, alpha, rr, iterations);
    if (status != REAL(RUNNING))
        return;

    uint side = max(push.block, 1u);
    REAL new_ru = REAL(0), new_rr = REAL(0);
    FOR_EACH_BLOCK(first, side) {
        uint end = min(first + side, push.count);
        for (uint i = first; i < end; i++) {
            REAL r = R(i), u = push.block != 0 ? U(i) : r;
            REAL p = u + beta * P(i), s = W(i) + beta * S(i);
            P(i) = p;
            S(i) = s;
            X(i) += alpha * p;
            r -= alpha * s;
            R(i) = r;
            new_rr += r * r;
            if (push.block == 0)
                new_ru += r * r;
        }
        for (uint i = first; i < end && push.block != 0; i++) {
            REAL r = R(i), u = preconditioned(i, r);
            U(i) = u;
            new_ru += r * u;
        }
    }
    put_partials(next, new_ru, new_rr);
}
