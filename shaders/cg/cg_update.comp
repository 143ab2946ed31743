// MODULE cg_update_*
// MODULE cg_update_recorded_* DEFINES RECORDED
// MODULE cg_update_part_* DEFINES PART
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// An iteration's scalars and vectors: p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s, u
// = M r; partial sums of the new r u and r r. Odd iterations add two steps to x at once, that of
// the iteration before too, whose p they still have, so that x is read and written half as often.
// All work-groups compute the same scalars and the same verdict; the first one writes them where
// the next iteration reads them.
#include "cg_problem.glsl"
#ifdef PART
layout(std430, set = 0, binding = 4) readonly restrict buffer Factors { REAL factors[]; };
#define ADDS_TO_X (factors[3] != REAL(0))
#else
#define ADDS_TO_X ((push.iteration & 1) != 0)


// p A p = u w - beta ru / alpha, but for the first iteration. Where rounding takes all digits of
// the difference, its sign means nothing, and the matrix is singular as far as these numbers can
// tell.
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
    if (push.iteration > BASE && iterations == REAL(push.iteration))
        HISTORY(push.iteration - 1) = rr;
}

#ifdef WF_TYPE_F64
const REAL NEARLY_ZERO = 1e-300LF, LIFT = 1.2676506002282294e30LF;
#else
const REAL NEARLY_ZERO = 1e-30, LIFT = 1.2676506002282294e30; // 2^100
#endif
#endif

// Elements that a work-item loads before it needs the first scalar, so that it waits once for them
// and for the partial sums.
const uint AT_ONCE = 2;
REAL xs[AT_ONCE], rs[AT_ONCE], ps[AT_ONCE], ss[AT_ONCE], us[AT_ONCE], ws[AT_ONCE], ms[AT_ONCE];

uint place(uint start, uint k)
{
    return start + k * push.groups * gl_WorkGroupSize.x;
}

void load(uint start)
{
    bool second = ADDS_TO_X;
    for (uint k = 0; k < AT_ONCE; k++) {
        uint i = min(place(start, k), push.count - 1);
        xs[k] = second ? X(i) : REAL(0);
        rs[k] = R(i);
        ps[k] = P(i);
        ss[k] = S(i);
        ws[k] = W(i);
        us[k] = push.block != 0 ? U(i) : rs[k];
        ms[k] = push.block != 0 ? M(i) : REAL(1);
    }
}

void store(uint start, REAL alpha, REAL beta, REAL old_alpha, inout REAL ru, inout REAL rr)
{
    bool second = ADDS_TO_X;
    for (uint k = 0; k < AT_ONCE; k++) {
        uint i = place(start, k);
        REAL p = us[k] + beta * ps[k], s = ws[k] + beta * ss[k], r = rs[k] - alpha * s;
        REAL u = ms[k] * r;
        if (i < push.count) { // a break would keep the loop from being unrolled
            P(i) = p;
            S(i) = s;
            if (second)
                X(i) = fma(alpha, p, fma(old_alpha, ps[k], xs[k]));
            R(i) = r;
            if (push.block != 0)
                U(i) = u;
            ru += r * u;
            rr += r * r;
        }
    }
}

// With blocks every work-item takes whole ones, whose new r it can then read again.
void update_blocks(REAL alpha, REAL beta, REAL old_alpha, inout REAL ru, inout REAL rr)
{
    bool second = ADDS_TO_X;
    FOR_EACH_BLOCK(first, push.block) {
        uint end = min(first + push.block, push.count);
        for (uint i = first; i < end; i++) {
            REAL old_p = P(i), p = U(i) + beta * old_p;
            REAL s = W(i) + beta * S(i), r = R(i) - alpha * s;
            P(i) = p;
            S(i) = s;
            if (second)
                X(i) = fma(alpha, p, fma(old_alpha, old_p, X(i)));
            R(i) = r;
            rr += r * r;
        }
        for (uint i = first; i < end; i++) {
            REAL r = R(i), u = preconditioned(i, r);
            U(i) = u;
            ru += r * u;
        }
    }
}

// Where there are no blocks, the first elements have been loaded.
void update(uint start, bool blocks, REAL alpha, REAL beta, REAL old_alpha, uint next)
{
    REAL ru = REAL(0), rr = REAL(0);
    if (blocks) {
        update_blocks(alpha, beta, old_alpha, ru, rr);
    } else {
        uint step = AT_ONCE * push.groups * gl_WorkGroupSize.x;
        store(start, alpha, beta, old_alpha, ru, rr);
        for (uint at = start + step; at < push.count; at += step) {
            load(at);
            store(at, alpha, beta, old_alpha, ru, rr);
        }
    }
    put_partials(next, ru, rr);
}

#ifdef PART
void main()
{
    uint start = gl_GlobalInvocationID.x;
    bool blocks = push.block > 1;
    if (!blocks)
        load(start);
    update(start, blocks, factors[0], factors[1], factors[2], 0);
}
#else
void main()
{
    uint now = push.iteration & 1, next = 1 - now, start = gl_GlobalInvocationID.x;
    bool blocks = push.block > 1;
    REAL before = STATE(now, STATUS), iterations = STATE(now, ITERATIONS);
    REAL old_gamma = STATE(now, GAMMA), old_alpha = STATE(now, ALPHA);
    // Divisions take long and come before the sums. The inverse of what is nearly 0 would overflow.
    REAL lift = old_gamma < NEARLY_ZERO ? LIFT : REAL(1);
    REAL by_gamma = REAL(1) / (old_gamma * lift), by_alpha = REAL(1) / old_alpha;
    if (!blocks)
        load(start);
    REAL all[3] = dots(now);
    REAL gamma = all[0], rr = all[1];
    REAL beta = REAL(0), curvature = all[2], scale = abs(all[2]);
    if (push.iteration > BASE) {
        beta = gamma * lift * by_gamma;
        REAL taken = beta * (gamma * by_alpha);
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
        keep_state(next, status, gamma, status == REAL(RUNNING) ? alpha : old_alpha, rr,
                   iterations);
#ifdef RECORDED
    if (status != REAL(RUNNING) && gl_GlobalInvocationID.x < push.sizes)
        words[push.sizes_at + 3 * gl_GlobalInvocationID.x] = 0;
    if (status == REAL(CONVERGED) && gl_GlobalInvocationID.x < push.refiners)
        words[push.sizes_at + 3 * (push.sizes + gl_GlobalInvocationID.x)] =
            gl_GlobalInvocationID.x + 1 < push.refiners ? push.groups : 1;
#endif
    if (status != REAL(RUNNING))
        return;
    update(start, blocks, alpha, beta, old_alpha, next);
}
#endif
