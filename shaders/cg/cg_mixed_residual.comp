// MODULE cg_mixed_residual DEFINES RECORDED OWN_BINDINGS
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// r = b - A x, with b, A and x in pairs and r in f32, times SCALE; partial sums of r r and b b.
#include "cg_mixed.glsl"
#include "double_single.glsl"
// row_offsets, column_indices, and the values in pairs
layout(std430, set = 0, binding = 1) readonly restrict buffer Matrix { uint matrix[]; };

void main()
{
    uint columns = push.count + 1, values = columns + matrix[push.count];
    float scale = SCALE, rr = 0, bb = 0;
    FOR_EACH_BLOCK(row, 1) {
        vec2 sum = vec2(HIGH(RIGHT_SIDE, row), LOW(RIGHT_SIDE, row));
        bb += sum.x * sum.x;
        for (uint i = matrix[row]; i < matrix[row + 1]; i++) {
            uint column = matrix[columns + i];
            vec2 value = uintBitsToFloat(uvec2(matrix[values + 2 * i], matrix[values + 2 * i + 1]));
            vec2 x = vec2(HIGH(SOLUTION, column), LOW(SOLUTION, column));
            sum = ds_add(sum, ds_multiply(-value, x));
        }
        float r = sum.x * scale;
        R(row) = r;
        rr += r * r;
    }
    float all[3] = group_sums(rr, bb, 0);
    if (gl_LocalInvocationIndex == 0) {
        scalars[RR_AT + gl_WorkGroupID.x] = all[0];
        scalars[BB_AT + gl_WorkGroupID.x] = all[1];
    }
}
