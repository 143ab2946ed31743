// MODULE laplace_gate_* DEFINES RECORDED
#version 450
#extension GL_GOOGLE_include_directive : require
// Before the first iteration of a recorded solve: the state, with what is wanted by |b|, and the
// sizes of the dispatches. One work-group.
#include "laplace_problem.glsl"

layout(std430, set = 0, binding = 0) buffer State { REAL state[]; };
layout(std430, set = 0, binding = 0) buffer Words { uint words[]; };
// The state as it begins, with the square of the tolerance as what is wanted, and the full sizes.
layout(std430, set = 0, binding = 1) readonly buffer Begin { REAL begin_state[]; };
layout(std430, set = 0, binding = 1) readonly buffer BeginWords { uint begin_words[]; };
layout(std430, set = 0, binding = 2) readonly restrict buffer U { REAL u[]; };

shared REAL sums[gl_WorkGroupSize.x];

REAL cell(uint x, uint y)
{
    return u[y * push.nx + x];
}

// What the border contributes to the equation of an inner cell.
REAL border_sum(uint x, uint y)
{
    REAL sum = REAL(0);
    if (x == 1)
        sum += cell(0, y);
    if (x + 2 == push.nx)
        sum += cell(x + 1, y);
    if (y == 1)
        sum += cell(x, 0);
    if (y + 2 == push.end)
        sum += cell(x, y + 1);
    return sum;
}

void main()
{
    const uint size = gl_WorkGroupSize.x;
    uint item = gl_LocalInvocationIndex, last_x = push.nx - 2, last_y = push.end - 2;
    REAL squares = REAL(0);
    for (uint x = 1 + item; x <= last_x; x += size) {
        REAL first = border_sum(x, 1), last = last_y > 1 ? border_sum(x, last_y) : REAL(0);
        squares += first * first + last * last;
    }
    for (uint y = 2 + item; y < last_y; y += size) {
        REAL first = border_sum(1, y), last = last_x > 1 ? border_sum(last_x, y) : REAL(0);
        squares += first * first + last * last;
    }
    sums[item] = squares;
    barrier();
    for (uint half_size = size / 2; half_size > 0; half_size /= 2) {
        if (item < half_size)
            sums[item] += sums[item + half_size];
        barrier();
    }
    REAL norm = sums[0];
    // Where the border is zero, so is the solution.
    uint status = isnan(norm) || isinf(norm) ? LAPLACE_NOT_FINITE
                  : norm == REAL(0)          ? LAPLACE_CONVERGED
                                             : LAPLACE_RUNNING;
    for (uint i = item; i < LAPLACE_STATE_END; i += size) {
        REAL value = begin_state[i];
        if (i == LAPLACE_WANTED)
            value *= norm;
        if (i == LAPLACE_FIXED)
            value = REAL(push.sequence & 2); // WF_SOLVE_FIXED
        if (i == LAPLACE_NORM)
            value = norm;
        if (i == LAPLACE_STATUS)
            value = REAL(status);
        state[i] = value;
    }
    for (uint i = item; i < 3 * push.sizes; i += size)
        words[push.sizes_at + i] =
            status == LAPLACE_RUNNING || i % 3 != 0 ? begin_words[push.sizes_at + i] : 0;
}
