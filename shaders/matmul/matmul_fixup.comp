// MODULE matmul_fixup_*
// MODULE matmul_fixup_f16x2 DEFINES F16X2
#version 450
#extension GL_GOOGLE_include_directive : require
// The fixup of stream-K: adds partial tiles (matmul_stream_k.glsl) in order of their work-groups
// and applies the epilogue. A work-item has four elements of a row; the z axis of the dispatch is
// the tile. F16X2: the sums are of f32 numbers as two f16.
#include "matmul_types.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#define A_ELEMENT ACC
#define MATMUL_ALIASED
#include "matmul_problem.glsl"
layout(constant_id = MATMUL_ID_TILE_M) const uint TILE_M = 64;
layout(constant_id = MATMUL_ID_TILE_N) const uint TILE_N = 64;
layout(constant_id = MATMUL_ID_SWIZZLE) const uint SWIZZLE = 1;
layout(constant_id = MATMUL_ID_VEC4) const uint VEC4 = 0; // 4: C moves four elements at a time
layout(std430, set = 0, binding = 0) readonly buffer Partials { ACC4 partials[]; };
const bool VEC4_C = (VEC4 & 4) != 0;
#include "matmul_store4.glsl"
#include "matmul_stream_k.glsl"
#ifdef F16X2
#include "matmul_rescaled.glsl"
#endif

void main()
{
    uint item = tile_index() * gl_WorkGroupSize.x + gl_LocalInvocationID.x, tile = gl_WorkGroupID.z;
    if (item >= TILE_M * TILE_N / 4)
        return;
    uint first = tile * push.tile_steps, last = first + push.tile_steps - 1;
    ACC4 sum = ACC4(0);
    for (uint group = group_of(first); group <= group_of(last); group++)
        sum += partials[(group + tile) * (TILE_M * TILE_N / 4) + item];
    uvec2 place = tile_place(push.shared_from + tile) * uvec2(TILE_M, TILE_N);
    uint row = item * 4 / TILE_N, column = item * 4 % TILE_N;
#ifdef F16X2
    [[unroll]] for (uint j = 0; j < 4; j++) // what is not in C is not stored
        sum[j] = rescaled(sum[j], min(place.x + row, push.m - 1),
                          min(place.y + column + j, push.n - 1));
#endif
    store4(push.base_c, place.x + row, place.y + column, sum);
}
