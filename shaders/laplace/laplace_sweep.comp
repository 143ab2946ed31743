// MODULE laplace_sweep_*
#version 450
#extension GL_GOOGLE_include_directive : require
// Over-relaxes the cells of one colour: u += omega (mean of the four neighbours - u). A work-item
// goes down a column of MARCH rows with its three neighbours of the other colour in registers.
#include "laplace_problem.glsl"
layout(constant_id = LAPLACE_ID_MARCH) const uint MARCH = 8;

layout(std430, set = 0, binding = 0) restrict buffer Own { REAL own[]; };
layout(std430, set = 0, binding = 1) readonly restrict buffer Other { REAL other[]; };
layout(std430, set = 0, binding = 2) readonly restrict buffer State { REAL state[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint y = push.first + gl_GlobalInvocationID.y * MARCH, end = min(y + MARCH, push.end);
    if (state[LAPLACE_STATUS] != REAL(0) || i >= push.cells || y >= end)
        return;
    REAL omega = state[LAPLACE_OMEGA];
    REAL north = other[row(y - 1) + i], here = other[row(y) + i];
    for (; y < end; y++) {
        REAL south = other[row(y + 1) + i];
        uint s = shift(y), x = 2 * i + s, at = row(y) + i;
        if (x >= 1 && x + 1 < push.nx) {
            REAL side = other[at + 2 * s - 1], u = own[at];
            own[at] = u + omega * (REAL(0.25) * (north + south + here + side) - u);
        }
        north = here;
        here = south;
    }
}
