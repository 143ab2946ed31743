#version 450
#extension GL_GOOGLE_include_directive : require
// A partial sum a work-group of the squares of the residual, (A u) of a cell = sum of its neighbours -
// 4 u, and of the squares of what it is a difference of, which tell how much of it is rounding.
#include "laplace_problem.glsl"

// Of one array, both are the same memory.
layout(std430, set = 0, binding = 0) readonly buffer Own { REAL own[]; };
layout(std430, set = 0, binding = 1) readonly buffer Other { REAL other[]; };
layout(std430, set = 0, binding = 2) readonly restrict buffer State { REAL state[]; };
layout(std430, set = 0, binding = 3) restrict buffer Partials { REAL partials[]; };

shared REAL sums[2 * gl_WorkGroupSize.x];

void main()
{
    if (state[LAPLACE_STATUS] != REAL(0))
        return;
    const uint size = gl_WorkGroupSize.x;
    uint item = gl_LocalInvocationIndex;
    REAL squares = REAL(0), scales = REAL(0);
    for (uint y = push.first + gl_WorkGroupID.x; y < push.end; y += push.groups) {
        uint s = shift(y);
        for (uint i = item; i < push.cells; i += size) {
            uint x = COLOURED != 0 ? 2 * i + s : i, at = row(y) + i;
            if (x == 0 || x + 1 >= push.nx)
                continue;
            REAL u = own[at], west = other[at + s - 1],
                 east = other[at + (COLOURED != 0 ? s : 1)], north = other[at - push.stride],
                 south = other[at + push.stride];
            REAL rest = (west - u) + (east - u) + (north - u) + (south - u);
            REAL scale = abs(west) + abs(east) + abs(north) + abs(south) + REAL(4) * abs(u);
            squares += rest * rest;
            scales += scale * scale;
        }
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
    if (item == 0) {
        uint at = 2 * (push.turn * push.partials + push.from + gl_WorkGroupID.x);
        partials[at] = sums[0];
        partials[at + 1] = sums[size];
    }
}
