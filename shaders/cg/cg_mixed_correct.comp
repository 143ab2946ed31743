// MODULE cg_mixed_correct DEFINES RECORDED
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// x += |r| d in pairs, d with the step that it still lacks after an odd number of iterations.
#include "cg_mixed.glsl"
#include "double_single.glsl"

void main()
{
    uint ended = ended_state(push.iteration);
    if (!adds(uint(STATE(ended, STATUS))))
        return;
    bool odd = (uint(STATE(ended, ITERATIONS)) & 1) != 0;
    float alpha = odd ? STATE(1, ALPHA) : 0, norm = NORM;
    FOR_EACH_BLOCK(i, 1) {
        float d = odd ? fma(alpha, P(i), X(i)) : X(i);
        vec2 x = vec2(HIGH(SOLUTION, i), LOW(SOLUTION, i));
        x = ds_add(x, ds_multiply(vec2(norm, 0), vec2(d, 0)));
        HIGH(SOLUTION, i) = x.x;
        LOW(SOLUTION, i) = x.y;
    }
}
