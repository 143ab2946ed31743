// MODULE image_load_r32f_32 DEFINES FORMAT=r32f
// MODULE image_load_r16f_32 DEFINES FORMAT=r16f
// MODULE image_load_rgba16f_32 DEFINES FORMAT=rgba16f FOUR
// MODULE image_load_rgba8_32 DEFINES FORMAT=rgba8 FOUR
// MODULE image_load_r32f_16 DEFINES FORMAT=r32f NARROW
// MODULE image_load_r16f_16 DEFINES FORMAT=r16f NARROW
// MODULE image_load_rgba16f_16 DEFINES FORMAT=rgba16f FOUR NARROW
// MODULE image_load_rgba8_16 DEFINES FORMAT=rgba8 FOUR NARROW
#version 450
#extension GL_GOOGLE_include_directive : require
// From a storage image to a matrix in a buffer, one work-item a texel.
#include "image_rows.glsl"
layout(FORMAT, set = 0, binding = 0) readonly restrict uniform image2D from;
layout(std430, set = 0, binding = 1) writeonly buffer To { ELEMENT to[]; };

void main()
{
    uvec2 at = gl_GlobalInvocationID.xy;
    uint column = at.x * ELEMENTS;
    if (at.y >= push.rows || column >= push.columns)
        return;
    vec4 texel = imageLoad(from, ivec2(at));
    for (uint i = 0; i < ELEMENTS && column + i < push.columns; i++)
        to[at.y * push.ld + column + i] = ELEMENT(texel[i]);
}
