// MODULE selftest_matrix_f16 DEFINES ELEMENT=float16_t SUM=float16_t REQUIRES cooperative_matrix
// MODULE selftest_matrix_f16_f32 DEFINES ELEMENT=float16_t SUM=float REQUIRES cooperative_matrix
// MODULE selftest_matrix_i8 DEFINES ELEMENT=int8_t SUM=int REQUIRES cooperative_matrix
#version 450
#extension GL_GOOGLE_include_directive : require
#ifdef EMULATED
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#else
#include "../common/matrix.glsl"
#endif
// One product of cooperative matrices, A B + C, where every element of C is B's first.
#include "../peaks/peaks_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = PEAKS_ID_M) const uint M = 16;
layout(constant_id = PEAKS_ID_N) const uint N = 16;
layout(constant_id = PEAKS_ID_K) const uint K = 16;

layout(std430, set = 0, binding = 0) readonly restrict buffer From { ELEMENT from[]; };
layout(std430, set = 0, binding = 1) writeonly restrict buffer To { SUM to[]; };

#ifdef EMULATED
// Stands in on drivers that have no such matrices, for the tests.
void main()
{
    for (uint at = gl_LocalInvocationIndex; at < M * N;
         at += gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z) {
        SUM sum = SUM(from[M * K]);
        for (uint k = 0; k < K; k++)
            sum += SUM(from[at / N * K + k]) * SUM(from[M * K + k * N + at % N]);
        to[at] = sum;
    }
}
#else
void main()
{
    coopmat<ELEMENT, gl_ScopeSubgroup, M, K, gl_MatrixUseA> a;
    coopmat<ELEMENT, gl_ScopeSubgroup, K, N, gl_MatrixUseB> b;
    coopMatLoad(a, from, 0, K, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(b, from, M * K, N, gl_CooperativeMatrixLayoutRowMajor);
    coopmat<SUM, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator> c =
        coopmat<SUM, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>(SUM(from[M * K]));
    c = coopMatMulAdd(a, b, c);
    coopMatStore(c, to, 0, N, gl_CooperativeMatrixLayoutRowMajor);
}
#endif
