// MODULE image_store_r32f_32 DEFINES FORMAT=r32f
// MODULE image_store_r16f_32 DEFINES FORMAT=r16f
// MODULE image_store_rgba16f_32 DEFINES FORMAT=rgba16f FOUR
// MODULE image_store_rgba8_32 DEFINES FORMAT=rgba8 FOUR
// MODULE image_store_r32f_16 DEFINES FORMAT=r32f NARROW
// MODULE image_store_r16f_16 DEFINES FORMAT=r16f NARROW
// MODULE image_store_rgba16f_16 DEFINES FORMAT=rgba16f FOUR NARROW
// MODULE image_store_rgba8_16 DEFINES FORMAT=rgba8 FOUR NARROW
#version 450
#extension GL_GOOGLE_include_directive : require
// From a matrix in a buffer to a storage image, one work-item a texel. What a row's last texel has
// beyond the row becomes 0.
#include "image_rows.glsl"
layout(FORMAT, set = 0, binding = 0) writeonly restrict uniform image2D to;
layout(std430, set = 0, binding = 1) readonly buffer From { ELEMENT from[]; };

void main()
{
    uvec2 at = gl_GlobalInvocationID.xy;
    uint column = at.x * ELEMENTS;
    if (at.y >= push.rows || column >= push.columns)
        return;
    vec4 texel = vec4(0);
    for (uint i = 0; i < ELEMENTS && column + i < push.columns; i++)
        texel[i] = float(from[at.y * push.ld + column + i]);
    imageStore(to, ivec2(at), texel);
}
