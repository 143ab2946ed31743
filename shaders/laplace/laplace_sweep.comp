// MODULE laplace_sweep_*
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Over-relaxes the cells of one colour: u += omega (mean of the four neighbours - u). A work-item
// has a column of MARCH rows, whose neighbours of the other colour it keeps in registers. Nothing
// that it loads waits for another load: rows behind the last and cells at the sides load what is
// there, and store nothing.
#include "laplace_problem.glsl"
layout(constant_id = LAPLACE_ID_MARCH) const uint MARCH = 8;
const uint MOST_MARCH = 8;

layout(std430, set = 0, binding = 0) restrict buffer Own { REAL own[]; };
layout(std430, set = 0, binding = 1) readonly restrict buffer Other { REAL other[]; };
layout(std430, set = 0, binding = 2) readonly restrict buffer State { REAL state[]; };

bool is_inner(uint x)
{
    return x >= 1 && x + 1 < push.nx;
}

void main()
{
    uint i = gl_GlobalInvocationID.x, first = push.first + gl_GlobalInvocationID.y * MARCH;
    if (i >= push.cells || first >= push.end)
        return;
    REAL middle[MOST_MARCH + 2], side[MOST_MARCH], u[MOST_MARCH];
    REAL status = state[LAPLACE_STATUS], omega = state[LAPLACE_OMEGA];
    [[unroll]] for (uint k = 0; k < MARCH + 2; k++)
        middle[k] = other[row(min(first + k - 1, push.end)) + i];
    [[unroll]] for (uint k = 0; k < MARCH; k++) {
        uint y = min(first + k, push.end - 1), s = shift(y), at = row(y) + i;
        side[k] = other[is_inner(2 * i + s) ? at + 2 * s - 1 : at];
        u[k] = own[at];
    }
    if (status != REAL(0))
        return;
    [[unroll]] for (uint k = 0; k < MARCH; k++) {
        uint y = first + k;
        REAL sum = middle[k] + middle[k + 2] + middle[k + 1] + side[k];
        if (y < push.end && is_inner(2 * i + shift(y)))
            own[row(y) + i] = u[k] + omega * (REAL(0.25) * sum - u[k]);
    }
}
