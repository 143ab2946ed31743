// MODULE peaks_fma_* TYPES f32 f64
// MODULE peaks_fma_* TYPES f16 REQUIRES float16
#version 450
#extension GL_GOOGLE_include_directive : require
// Independent chains of multiply-adds in registers. REAL is the arithmetic type, CHAIN the type of
// a chain's value (two packed values for 16-bit floats, with which hardware doubles their rate).
#ifdef WF_TYPE_F16
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#define CHAIN f16vec2
// Compilers fuse 32- and 64-bit operations by themselves, and 16-bit ones where fma asks for it.
#define STEP(c) c = fma(c, m, a)
#elif defined(WF_TYPE_F64)
#define CHAIN double
#else
#define CHAIN float
#endif
#ifndef STEP
#define STEP(c) c = c * m + a
#endif
#include "peaks_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = PEAKS_ID_UNROLL) const uint UNROLL = 16;

layout(std430, set = 0, binding = 0) writeonly restrict buffer To { float to[]; };
layout(push_constant) uniform Push { uint loops; float scale; float shift; } push;

void main()
{
    CHAIN m = CHAIN(push.scale), a = CHAIN(push.shift);
    CHAIN c0 = CHAIN(float(gl_LocalInvocationIndex) * 1e-3);
    CHAIN c1 = c0 + a, c2 = c1 + a, c3 = c2 + a, c4 = c3 + a, c5 = c4 + a, c6 = c5 + a,
          c7 = c6 + a;
    for (uint i = 0; i < push.loops; i++)
        for (uint j = 0; j < UNROLL; j++) {
            STEP(c0); STEP(c1); STEP(c2); STEP(c3);
            STEP(c4); STEP(c5); STEP(c6); STEP(c7);
        }
    CHAIN sum = ((c0 + c1) + (c2 + c3)) + ((c4 + c5) + (c6 + c7));
#ifdef WF_TYPE_F16
    float result = float(sum.x) + float(sum.y);
#else
    float result = float(sum);
#endif
    // The compiler must keep the chains for this store, which never happens and costs no bandwidth.
    if (result == -12345.0)
        to[gl_LocalInvocationIndex] = result;
}
