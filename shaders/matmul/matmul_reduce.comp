// MODULE matmul_reduce_*
#version 450
#extension GL_GOOGLE_include_directive : require
// The reduction of split-K: adds k partial sums an element, which are stride_split apart in m x n
// with rows of lda, and applies the epilogue. Without any, C = activation(beta C + bias). A
// work-group has elements along x; work-items along y share the partial sums of an element.
#include "matmul_types.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#define A_ELEMENT ACC
#include "matmul_problem.glsl"

const uint AT_ONCE = 8; // loads under way an item

shared ACC partials[gl_WorkGroupSize.x * gl_WorkGroupSize.y];

void main()
{
    uint index = tile_index() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    uint row = index / push.n, column = index % push.n;
    bool inside = row < push.m;
    ACC sum = ACC(0);
    if (inside) {
        uint from = batch_a() + row * push.lda + column, s = gl_LocalInvocationID.y;
        for (; s < push.k; s += AT_ONCE * gl_WorkGroupSize.y) {
            ACC values[AT_ONCE];
            [[unroll]] for (uint i = 0; i < AT_ONCE; i++) {
                uint split = s + i * gl_WorkGroupSize.y;
                values[i] = ACC(0);
                if (split < push.k)
                    values[i] = a[from + split * push.stride_split];
            }
            [[unroll]] for (uint i = 0; i < AT_ONCE; i++)
                sum += values[i];
        }
    }
    // Where nobody shares there is nothing to exchange, and V3DV (Mesa 25.0.7) never ends compiling
    // the barrier behind that loop.
    if (gl_WorkGroupSize.y > 1) {
        partials[gl_LocalInvocationIndex] = sum;
        barrier();
    }
    if (gl_LocalInvocationID.y != 0 || !inside)
        return;
    for (uint y = 1; y < gl_WorkGroupSize.y; y++)
        sum += partials[y * gl_WorkGroupSize.x + gl_LocalInvocationID.x];
    store(batch_c(), row, column, sum);
}
