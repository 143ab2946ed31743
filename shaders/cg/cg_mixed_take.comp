// MODULE cg_mixed_take DEFINES RECORDED OWN_BINDINGS
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Takes b, and x where the solve begins from it, from the application's buffers. Any two floats
// may be a number there; sums of pairs want the low one to be the high one's rounding error.
#include "cg_mixed.glsl"
#include "double_single.glsl"
layout(std430, set = 0, binding = 1) readonly restrict buffer Given { vec2 given[]; };
layout(std430, set = 0, binding = 2) readonly buffer Start { vec2 start[]; };

void main()
{
    uint flags = push.iteration;
    FOR_EACH_BLOCK(i, 1) {
        vec2 x = (flags & WARM) != 0 ? two_sum(start[i].x, start[i].y) : vec2(0);
        vec2 b = two_sum(given[i].x, given[i].y);
        HIGH(SOLUTION, i) = x.x;
        LOW(SOLUTION, i) = x.y;
        HIGH(RIGHT_SIDE, i) = b.x;
        LOW(RIGHT_SIDE, i) = b.y;
    }
    if (gl_GlobalInvocationID.x < 3 * push.refiners)
        words[push.sizes_at + 3 * push.sizes + gl_GlobalInvocationID.x] =
            gl_GlobalInvocationID.x % 3 != 0 ? 1 : 0;
    if (gl_GlobalInvocationID.x != 0)
        return;
    OVERALL = REAL(RUNNING);
    NORM = 3e38;
    SCALE = 1;
    DONE = 0;
    REFINEMENTS = 0;
    IS_FIXED = REAL(flags & FIXED);
    scalars[11] = 0;
    for (uint parity = 0; parity < 2; parity++) {
        STATE(parity, STATUS) = REAL(RUNNING);
        STATE(parity, ITERATIONS) = 0;
    }
}
