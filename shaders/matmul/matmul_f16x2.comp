// MODULE matmul_f16x2
#version 450
#extension GL_EXT_control_flow_attributes : require
// Splits a stored f32 matrix, scaled by its rows' or columns' exponents, into two f16 numbers an
// element: the nearest of 11 bits, and 2^11 times the nearest of the rest (Ootomo and Yokota 2022).
// A row of the copy holds the first numbers of all its elements, then the second ones, each padded
// with zeros. A work-item writes eight of either.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint BY_COLUMN = 0;
layout(std430, set = 0, binding = 0) readonly buffer From { float from[]; };
layout(std430, set = 0, binding = 1) readonly buffer Exponents { int exponents[]; };
layout(std430, set = 0, binding = 2) writeonly buffer To { uvec4 to[]; };
layout(push_constant) uniform Push {
    uint rows, columns, ld;
    uint to_rows, to_chunks, first; // chunks of a row's first numbers; first: of the exponents
} push;

// Rounds to 11 bits. What f16 cannot hold below 2^-14 does not matter beside the row's largest
// number, which is 2^14 or more.
float nearest(float x)
{
    return uintBitsToFloat((floatBitsToUint(x) + 0x1000u) & 0xffffe000u);
}

void main()
{
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x +
                 gl_LocalInvocationID.x;
    uint row = index / push.to_chunks, column = index % push.to_chunks * 8;
    if (row >= push.to_rows)
        return;
    uvec4 first = uvec4(0), second = uvec4(0);
    [[unroll]] for (uint j = 0; j < 8; j++) {
        if (row >= push.rows || column + j >= push.columns)
            continue;
        float x = from[row * push.ld + column + j];
        float scaled = ldexp(x, -exponents[push.first + (BY_COLUMN != 0 ? column + j : row)]);
        bool finite = (floatBitsToUint(x) & 0x7f800000u) != 0x7f800000u;
        float high = finite ? nearest(scaled) : x;
        float low = finite ? nearest((scaled - high) * 2048.0) : 0.0;
        first[j / 2] |= packHalf2x16(vec2(high, 0.0)) << (16 * (j % 2));
        second[j / 2] |= packHalf2x16(vec2(low, 0.0)) << (16 * (j % 2));
    }
    uint at = row * push.to_chunks * 2 + index % push.to_chunks;
    to[at] = first;
    to[at + push.to_chunks] = second;
}
