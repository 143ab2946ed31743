// Bindings and push constants of the variants on compressed sparse rows: y = alpha A x + beta y.
// Row offsets and column indices share one buffer, so that four storage buffers, all that Vulkan
// guarantees a stage, are enough. The third dimension of the dispatch is the right-hand side.
#include "spmv_ids.h"
// f16 is a type of the matrix alone: its values are read as packed halves, which needs no feature,
// and everything else is f32.
#include "common/real.glsl"
#ifdef PLAIN
#define READ
#define WRITE
#else
#define READ readonly restrict
#define WRITE restrict
#endif
// 1: x or y has a stride. Without one no multiplication delays the loads of x.
layout(constant_id = SPMV_ID_STRIDED) const uint STRIDED = 0;
layout(std430, set = 0, binding = 0) READ buffer Pattern { uint pattern[]; };
#ifdef WF_TYPE_F16
layout(std430, set = 0, binding = 1) READ buffer Values { uint values[]; };
#else
layout(std430, set = 0, binding = 1) READ buffer Values { REAL values[]; };
#endif
#ifdef TEXEL
#ifdef WF_TYPE_F64
layout(set = 0, binding = 2) uniform usamplerBuffer x;
#else
layout(set = 0, binding = 2) uniform samplerBuffer x;
#endif
#else
layout(std430, set = 0, binding = 2) READ buffer X { REAL x[]; };
#endif
#ifdef Y_AS_BITS
layout(std430, set = 0, binding = 3) WRITE buffer Y { Y_AS_BITS y[]; };
#else
layout(std430, set = 0, binding = 3) WRITE buffer Y { REAL y[]; };
#endif
layout(push_constant) uniform Push {
    REAL alpha, beta;
    uint rows;
    uint columns_at; // where the column indices begin in pattern
    uint base_y;     // elements between the binding of y and the first row's
    uint x_stride, y_stride;
    uint more; // the variant's own
} push;

uint group_index()
{
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

REAL load_value(uint i)
{
#ifdef WF_TYPE_F16
    vec2 pair = unpackHalf2x16(values[i >> 1]);
    return (i & 1) == 0 ? pair.x : pair.y;
#else
    return values[i];
#endif
}

REAL load_x(uint column)
{
    uint at = STRIDED != 0 ? column * push.x_stride + gl_WorkGroupID.z : column;
#ifdef TEXEL
#ifdef WF_TYPE_F64
    return packDouble2x32(texelFetch(x, int(at)).xy);
#else
    return texelFetch(x, int(at)).x;
#endif
#else
    return x[at];
#endif
}

uint place_of_y(uint row)
{
    return push.base_y + (STRIDED != 0 ? row * push.y_stride + gl_WorkGroupID.z : row);
}

#ifndef Y_AS_BITS
// Where beta is 0, y is not read, since it may hold anything.
void put_y(uint row, REAL sum)
{
    uint at = place_of_y(row);
    REAL result = push.alpha * sum;
    if (push.beta != REAL(0))
        result += push.beta * y[at];
    y[at] = result;
}
#endif

// The sum of entries begin + lane, begin + lane + step, … below end.
REAL partial_sum(uint begin, uint end, uint step)
{
    REAL sum = REAL(0);
    for (uint i = begin; i < end; i += step)
        sum += load_value(i) * load_x(pattern[push.columns_at + i]);
    return sum;
}
