// MODULE stencil_image2_r32f DEFINES IMAGE=image2D FORMAT=r32f FLAT_IMAGE
// MODULE stencil_image2_r16f DEFINES IMAGE=image2D FORMAT=r16f FLAT_IMAGE
// MODULE stencil_image2_rgba16f DEFINES IMAGE=image2D FORMAT=rgba16f FLAT_IMAGE
// MODULE stencil_image2_rgba8 DEFINES IMAGE=image2D FORMAT=rgba8 FLAT_IMAGE
// MODULE stencil_image3_r32f DEFINES IMAGE=image3D FORMAT=r32f
// MODULE stencil_image3_r16f DEFINES IMAGE=image3D FORMAT=r16f
// MODULE stencil_image3_rgba16f DEFINES IMAGE=image3D FORMAT=rgba16f
// MODULE stencil_image3_rgba8 DEFINES IMAGE=image3D FORMAT=rgba8
#version 450
#extension GL_GOOGLE_include_directive : require
// A star or box stencil from one storage image to another, one work-item a texel, whose components
// are updated alike.
#include "stencil_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "stencil_problem.glsl"
layout(FORMAT, set = 0, binding = 0) readonly restrict uniform IMAGE image_in;
layout(FORMAT, set = 0, binding = 1) writeonly restrict uniform IMAGE image_out;

#ifdef FLAT_IMAGE
#define TEXEL(i, j, k) ivec2(i, k)
#else
#define TEXEL(i, j, k) ivec3(i, j, k)
#endif

vec4 load(int i, int j, int k)
{
    return imageLoad(image_in, TEXEL(i, j, k));
}

vec4 add(ACC tap, vec4 texel, vec4 sum)
{
    precise vec4 next = fma(vec4(tap), texel, sum);
    return next;
}

vec4 star(ivec3 at)
{
    precise vec4 sum = coefficients[0] * load(at.x, at.y, at.z);
    for (int d = 1; d <= RADIUS; d++) {
        uint tap = star_tap(0, d);
        sum = add(coefficients[tap], load(mapped(at.x - d, push.ni), at.y, at.z), sum);
        sum = add(coefficients[tap + 1], load(mapped(at.x + d, push.ni), at.y, at.z), sum);
    }
    for (int d = 1; d <= RADIUS_J; d++) {
        uint tap = star_tap(1, d);
        sum = add(coefficients[tap], load(at.x, mapped(at.y - d, push.nj), at.z), sum);
        sum = add(coefficients[tap + 1], load(at.x, mapped(at.y + d, push.nj), at.z), sum);
    }
    for (int d = 1; d <= RADIUS; d++) {
        uint tap = star_tap(AXIS_K, d);
        sum = add(coefficients[tap], load(at.x, at.y, mapped(at.z - d, push.nk)), sum);
        sum = add(coefficients[tap + 1], load(at.x, at.y, mapped(at.z + d, push.nk)), sum);
    }
    return sum;
}

vec4 box(ivec3 at)
{
    vec4 sum = vec4(0);
    uint tap = 0;
    for (int dk = -RADIUS; dk <= RADIUS; dk++)
        for (int dj = -RADIUS_J; dj <= RADIUS_J; dj++)
            for (int di = -RADIUS; di <= RADIUS; di++)
                sum = add(coefficients[tap++],
                          load(mapped(at.x + di, push.ni), mapped(at.y + dj, push.nj),
                               mapped(at.z + dk, push.nk)),
                          sum);
    return sum;
}

void main()
{
    ivec3 at = ivec3(gl_GlobalInvocationID) + ivec3(0, 0, push.first);
    if (at.x >= push.ni || at.y >= push.nj || at.z >= push.end)
        return;
    vec4 texel;
    if (fixed_cell(at.x, at.y, at.z))
        texel = load(at.x, at.y, at.z);
    else if (SHAPE == STENCIL_STAR)
        texel = star(at);
    else
        texel = box(at);
    imageStore(image_out, TEXEL(at.x, at.y, at.z), texel);
}
