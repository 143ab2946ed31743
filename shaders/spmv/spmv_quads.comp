// MODULE spmv_quads_*
#version 450
#extension GL_GOOGLE_include_directive : require
// One work-item a row, four entries a load, the matrix through texel buffers: drivers that run
// shaders on the host's processor do not test for each lane whether a texel is inside the buffer,
// and fetch four words at the cost of one. src/kernels/spmv/variants/quads.c makes the format.
#include "common/real.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
// A texel for each row, in the order of their lengths: its first quad, the one behind its last, and
// its number.
layout(set = 0, binding = 0) uniform usamplerBuffer rows;
layout(set = 0, binding = 1) uniform usamplerBuffer columns;
layout(std430, set = 0, binding = 2) readonly restrict buffer X { REAL x[]; };
layout(std430, set = 0, binding = 3) restrict buffer Y { REAL y[]; };
#ifdef WF_TYPE_F32
layout(set = 0, binding = 4) uniform samplerBuffer values;
#else
layout(set = 0, binding = 4) uniform usamplerBuffer values;
#endif
layout(push_constant) uniform Push {
    REAL alpha, beta;
    uint count; // rows
    uint base_y;
} push;

#ifdef WF_TYPE_F64
#define REAL4 dvec4
REAL4 load_values(int quad)
{
    uvec4 low = texelFetch(values, 2 * quad), high = texelFetch(values, 2 * quad + 1);
    return REAL4(packDouble2x32(low.xy), packDouble2x32(low.zw), packDouble2x32(high.xy),
                 packDouble2x32(high.zw));
}
#else
#define REAL4 vec4
REAL4 load_values(int quad)
{
#ifdef WF_TYPE_F16
    uvec2 halves = texelFetch(values, quad).xy;
    return vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y));
#else
    return texelFetch(values, quad);
#endif
}
#endif

#include "spmv_padding.glsl"

REAL sum_without_padding(uvec4 row)
{
    REAL sum = REAL(0);
    for (uint quad = row.x; quad < row.y; quad++) {
        uvec4 c = texelFetch(columns, int(quad));
        REAL4 a = load_values(int(quad));
        sum += product_of(a.x, x[c.x]) + product_of(a.y, x[c.y]) + product_of(a.z, x[c.z]) +
               product_of(a.w, x[c.w]);
    }
    return sum;
}

void main()
{
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint at = group * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (at >= push.count)
        return;
    REAL sum = REAL(0);
    uvec4 row = texelFetch(rows, int(at));
    for (uint quad = row.x; quad < row.y; quad++) {
        uvec4 c = texelFetch(columns, int(quad));
        REAL4 a = load_values(int(quad));
        sum += a.x * x[c.x];
        sum += a.y * x[c.y];
        sum += a.z * x[c.z];
        sum += a.w * x[c.w];
    }
    if (isnan(sum))
        sum = sum_without_padding(row);
    uint to = push.base_y + row.z;
    REAL result = push.alpha * sum;
    if (push.beta != REAL(0))
        result += push.beta * y[to];
    y[to] = result;
}
