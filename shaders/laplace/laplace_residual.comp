// MODULE laplace_residual_*
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Each work-group leaves a partial sum of the squares of the residual, which of a cell is the sum
// of its neighbours less 4 u, and one of the squares of the terms of that difference, which tell
// how much of it is rounding.
#include "laplace_problem.glsl"

// For Jacobi both bindings are the same array.
layout(std430, set = 0, binding = 0) readonly buffer Own { REAL own[]; };
layout(std430, set = 0, binding = 1) readonly buffer Other { REAL other[]; };
layout(std430, set = 0, binding = 2) readonly restrict buffer State { REAL state[]; };
layout(std430, set = 0, binding = 3) restrict buffer Partials { REAL partials[]; };

shared REAL sums[2 * gl_WorkGroupSize.x];

const uint CELLS = 4; // a work-item, whose loads are under way together

REAL squares = REAL(0), scales = REAL(0);

// Adds cell i of row y to the sums unless it is beyond `last`, which is read in its place then:
// loads within a branch would wait for one another.
void add_cell(uint y, uint i, uint last)
{
    uint s = shift(y), at = row(y) + min(i, last);
    REAL u = own[at], west = other[at + s - 1], east = other[at + (COLOURED != 0 ? s : 1)],
         north = other[at - push.stride], south = other[at + push.stride];
    REAL residual = (west - u) + (east - u) + (north - u) + (south - u);
    REAL scale = abs(west) + abs(east) + abs(north) + abs(south) + REAL(4) * abs(u);
    squares += i > last ? REAL(0) : residual * residual;
    scales += i > last ? REAL(0) : scale * scale;
}

void main()
{
    if (state[LAPLACE_STATUS] != REAL(0))
        return;
    const uint size = gl_WorkGroupSize.x;
    uint item = gl_LocalInvocationIndex;
    for (uint y = push.first + gl_WorkGroupID.x; y < push.end; y += push.groups) {
        // The row's inner cells: x = 2 i + s, or i, from 1 to nx - 2.
        uint s = shift(y), first = COLOURED != 0 ? 1 - s : 1;
        uint last = COLOURED != 0 ? (push.nx - 2 - s) / 2 : push.nx - 2;
        for (uint i = first + item; i <= last; i += CELLS * size)
            [[unroll]] for (uint n = 0; n < CELLS; n++)
                add_cell(y, i + n * size, last);
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
        uint at = 2 * (push.sequence * push.partials + push.from + gl_WorkGroupID.x);
        partials[at] = sums[0];
        partials[at + 1] = sums[size];
    }
}
