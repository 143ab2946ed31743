// MODULE stencil_naive_*
#version 450
#extension GL_GOOGLE_include_directive : require
// A star or box stencil with one work-item a cell, which reads everything from memory.
#include "stencil_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "stencil_problem.glsl"

ACC star(ivec3 at)
{
    precise ACC sum = coefficients[0] * load(at.x, at.y, at.z);
    for (int d = 1; d <= RADIUS; d++) {
        uint tap = star_tap(0, d);
        sum = fma(coefficients[tap], load(mapped(at.x - d, push.ni), at.y, at.z), sum);
        sum = fma(coefficients[tap + 1], load(mapped(at.x + d, push.ni), at.y, at.z), sum);
    }
    for (int d = 1; d <= RADIUS_J; d++) {
        uint tap = star_tap(1, d);
        sum = fma(coefficients[tap], load(at.x, mapped(at.y - d, push.nj), at.z), sum);
        sum = fma(coefficients[tap + 1], load(at.x, mapped(at.y + d, push.nj), at.z), sum);
    }
    for (int d = 1; d <= RADIUS; d++) {
        uint tap = star_tap(AXIS_K, d);
        sum = fma(coefficients[tap], load(at.x, at.y, mapped(at.z - d, push.nk)), sum);
        sum = fma(coefficients[tap + 1], load(at.x, at.y, mapped(at.z + d, push.nk)), sum);
    }
    return sum;
}

ACC box(ivec3 at)
{
    precise ACC sum = ACC(0);
    uint tap = 0;
    for (int dk = -RADIUS; dk <= RADIUS; dk++)
        for (int dj = -RADIUS_J; dj <= RADIUS_J; dj++)
            for (int di = -RADIUS; di <= RADIUS; di++) {
                ACC value = load(mapped(at.x + di, push.ni), mapped(at.y + dj, push.nj),
                                 mapped(at.z + dk, push.nk));
                sum = fma(coefficients[tap++], value, sum);
            }
    return sum;
}

void main()
{
    ivec3 at = ivec3(gl_GlobalInvocationID) + ivec3(first_i(), first_j(), push.first);
    if (at.x >= end_i() || at.y >= end_j() || at.z >= push.end || stopped())
        return;
    ACC value;
    if (fixed_cell(at.x, at.y, at.z))
        value = load(at.x, at.y, at.z);
    else if (SHAPE == STENCIL_STAR)
        value = rounded(star(at));
    else
        value = rounded(box(at));
    values_out[push.base_out + element(at.x, at.y, at.z)] = REAL(value);
}
