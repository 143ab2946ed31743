// MODULE laplace_leave_*
#version 450
#extension GL_GOOGLE_include_directive : require
// Ends a recorded solve: copies its inner cells to the application's buffer. A work-item goes down
// a column.
#include "laplace_problem.glsl"

layout(std430, set = 0, binding = 0) readonly restrict buffer First { REAL first_array[]; };
layout(std430, set = 0, binding = 1) readonly restrict buffer Second { REAL second_array[]; };
layout(std430, set = 0, binding = 2) writeonly restrict buffer U { REAL u[]; };
layout(std430, set = 0, binding = 3) readonly restrict buffer State { REAL state[]; };

void leave(uint x, uint y)
{
    uint checks = uint(state[LAPLACE_ITERATIONS]) / push.every;
    bool first = COLOURED != 0 ? ((x + y) & 1) == 0 : (checks & 1) == 0;
    uint at = y * push.stride + (COLOURED != 0 ? x / 2 : x);
    REAL value;
    if (first)
        value = first_array[at];
    else
        value = second_array[at];
    u[y * push.nx + x] = state[LAPLACE_NORM] == REAL(0) ? REAL(0) : value;
}

void main()
{
    uint x = gl_GlobalInvocationID.x;
    if (x < 1 || x + 1 >= push.nx)
        return;
    for (uint y = gl_GlobalInvocationID.y; y + 1 < push.end; y += gl_NumWorkGroups.y)
        if (y > 0)
            leave(x, y);
}
