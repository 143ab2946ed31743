// MODULE laplace_take_*
#version 450
#extension GL_GOOGLE_include_directive : require
// Takes the grid of a recorded solve from the application's buffer. A work-item goes down a column.
#include "laplace_problem.glsl"

layout(std430, set = 0, binding = 0) writeonly restrict buffer First { REAL first_array[]; };
layout(std430, set = 0, binding = 1) writeonly restrict buffer Second { REAL second_array[]; };
layout(std430, set = 0, binding = 2) readonly restrict buffer U { REAL u[]; };

void take(uint x, uint y)
{
    bool inner = x > 0 && x + 1 < push.nx && y > 0 && y + 1 < push.end;
    // The sequence number is that of WF_SOLVE_...: 1, the solve begins from u.
    REAL value = inner && (push.sequence & 1) == 0 ? REAL(0) : u[y * push.nx + x];
    if (COLOURED == 0) { // the border is in both arrays
        first_array[y * push.stride + x] = value;
        second_array[y * push.stride + x] = value;
    } else if (((x + y) & 1) == 0) {
        first_array[y * push.stride + x / 2] = value;
    } else {
        second_array[y * push.stride + x / 2] = value;
    }
}

void main()
{
    uint x = gl_GlobalInvocationID.x;
    for (uint y = gl_GlobalInvocationID.y; x < push.nx && y < push.end; y += gl_NumWorkGroups.y)
        take(x, y);
}
