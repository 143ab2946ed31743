// MODULE peaks_matrix_f16 DEFINES ELEMENT=float16_t SUM=float16_t REQUIRES cooperative_matrix
// MODULE peaks_matrix_f16_f32 DEFINES ELEMENT=float16_t SUM=float REQUIRES cooperative_matrix
// MODULE peaks_matrix_bf16 DEFINES ELEMENT=float16_t SUM=float BFLOAT16
// MODULE peaks_matrix_i8 DEFINES ELEMENT=int8_t SUM=int REQUIRES cooperative_matrix
#version 450
#extension GL_GOOGLE_include_directive : require
#include "../common/matrix.glsl"
// Products of cooperative matrices that stay in registers: each subgroup has two fragments of A,
// two of B and four sums. A's sign alternates, so that the sums stay bounded: memory has A, -A and
// B, since matrices of bf16 can be multiplied but not negated (SPV_KHR_bfloat16). ELEMENT is the
// type of A and B, SUM that of C. For bf16 the build renames float16_t in the module
// (cmake/pack/spirv.c).
#include "peaks_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = PEAKS_ID_UNROLL) const uint UNROLL = 16;
layout(constant_id = PEAKS_ID_M) const uint M = 16;
layout(constant_id = PEAKS_ID_N) const uint N = 16;
layout(constant_id = PEAKS_ID_K) const uint K = 16;

layout(std430, set = 0, binding = 0) writeonly restrict buffer To { SUM to[]; };
layout(std430, set = 0, binding = 1) readonly restrict buffer From { ELEMENT from[]; };
layout(push_constant) uniform Push { uint loops; uint never; } push;

#define MATRIX_A coopmat<ELEMENT, gl_ScopeSubgroup, M, K, gl_MatrixUseA>
#define MATRIX_B coopmat<ELEMENT, gl_ScopeSubgroup, K, N, gl_MatrixUseB>
#define MATRIX_C coopmat<SUM, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>

void main()
{
    MATRIX_A a0, a1, n0, n1;
    MATRIX_B b0, b1;
    coopMatLoad(a0, from, 0, K, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(a1, from, M * K, K, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(n0, from, 2 * M * K, K, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(n1, from, 3 * M * K, K, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(b0, from, 4 * M * K, N, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(b1, from, 4 * M * K + K * N, N, gl_CooperativeMatrixLayoutRowMajor);
    MATRIX_C c00 = MATRIX_C(SUM(0)), c01 = c00, c10 = c00, c11 = c00;
    for (uint i = 0; i < push.loops; i++)
        for (uint j = 0; j < UNROLL; j += 2) {
            c00 = coopMatMulAdd(a0, b0, c00);
            c01 = coopMatMulAdd(a0, b1, c01);
            c10 = coopMatMulAdd(a1, b0, c10);
            c11 = coopMatMulAdd(a1, b1, c11);
            c00 = coopMatMulAdd(n0, b0, c00);
            c01 = coopMatMulAdd(n0, b1, c01);
            c10 = coopMatMulAdd(n1, b0, c10);
            c11 = coopMatMulAdd(n1, b1, c11);
        }
    // The compiler must keep the products for these stores, which never happen.
    if (push.never != 0) {
        coopMatStore(c00, to, 0, N, gl_CooperativeMatrixLayoutRowMajor);
        coopMatStore(c01, to, M * N, N, gl_CooperativeMatrixLayoutRowMajor);
        coopMatStore(c10, to, 2 * M * N, N, gl_CooperativeMatrixLayoutRowMajor);
        coopMatStore(c11, to, 3 * M * N, N, gl_CooperativeMatrixLayoutRowMajor);
    }
}
