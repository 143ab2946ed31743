// Bindings, push constants and epilogue of every matmul variant:
//   C = activation(alpha op(A) op(B) + beta C + bias), op(A) m x k, op(B) k x n, C m x n,
// all row-major with leading dimensions; the z axis of the dispatch is the batch. The bases are
// what is left of an offset after the binding's own, which must be aligned. Needs
// matmul_types.glsl. MATMUL_ALIASED: the including shader declares the buffers once more, as
// another type.
#include "matmul_ids.h"
#if defined(MATMUL_ALIASED) || defined(NARROW)
#define RESTRICT
#else
#define RESTRICT restrict
#endif
layout(constant_id = MATMUL_ID_TRANSPOSE_A) const uint TRANSPOSE_A = 0; // 1: A is k x m
layout(constant_id = MATMUL_ID_TRANSPOSE_B) const uint TRANSPOSE_B = 0; // 1: B is n x k
layout(constant_id = MATMUL_ID_BETA) const uint BETA = 0;               // 0: C is not read
layout(constant_id = MATMUL_ID_BIAS) const uint BIAS = 0;
layout(constant_id = MATMUL_ID_ACTIVATION) const uint ACTIVATION = 0; // wf_activation
layout(constant_id = MATMUL_ID_OUTPUT) const uint OUTPUT = 0; // 1: C holds sums, not elements

// A module that reads sums in place of A says so.
#ifndef A_ELEMENT
#define A_ELEMENT ELEMENT
#endif
layout(std430, set = 0, binding = 0) readonly RESTRICT buffer A { A_ELEMENT a[]; };
layout(std430, set = 0, binding = 1) readonly RESTRICT buffer B { ELEMENT b[]; };
#ifdef NARROW
layout(std430, set = 0, binding = 2) buffer C { ELEMENT c[]; };
layout(std430, set = 0, binding = 2) buffer CSums { ACC c_sums[]; };
#else
layout(std430, set = 0, binding = 2) RESTRICT buffer C { ACC c[]; };
#endif
layout(std430, set = 0, binding = 3) readonly RESTRICT buffer Bias { ACC bias[]; };
layout(push_constant) uniform Push {
    uint m, n, k;
    uint lda, ldb, ldc;
    uint base_a, base_b, base_c, base_bias;
    uint stride_a, stride_b, stride_c; // from one product of the batch to the next
    uint tiles_m, tiles_n;             // output tiles
    uint chunk;                        // steps of the sum that one split makes; k: no splits
    layout(offset = 64) ACC alpha;
    layout(offset = 72) ACC beta;
    layout(offset = 80) uint stride_split; // elements of C from one split's sums to the next
    uint reversed; // 1: kernels that turn around begin at the other end
    // Of tiles whose sums work-groups share (matmul_stream_k.glsl).
    uint shared_from, tile_steps, group_steps, longer_groups;
} push;

// The number of this work-group. There can be more work-groups than tiles and parts of the sum.
uint tile_index()
{
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

// The same, but where the work begins at the other end the last tile and part come first.
uint reversed_index()
{
    uint count = push.tiles_m * push.tiles_n * ((push.k - 1) / push.chunk + 1),
         index = tile_index();
    return push.reversed != 0 && index < count ? count - 1 - index : index;
}

uint batch_a()
{
    return push.base_a + gl_WorkGroupID.z * push.stride_a;
}

uint batch_b()
{
    return push.base_b + gl_WorkGroupID.z * push.stride_b;
}

uint batch_c()
{
    return push.base_c + gl_WorkGroupID.z * push.stride_c;
}

uint at_a(uint row, uint k)
{
    return batch_a() + (TRANSPOSE_A != 0 ? k * push.lda + row : row * push.lda + k);
}

uint at_b(uint k, uint column)
{
    return batch_b() + (TRANSPOSE_B != 0 ? column * push.ldb + k : k * push.ldb + column);
}

#ifdef WF_TYPE_F64
// GLSL has exp for f32 only: x = n ln 2 + r, and Taylor's series to the 14th power of |r| < 0.35.
double exponential(double x)
{
    double n = roundEven(x * 1.4426950408889634LF);
    double r = (x - n * 0.693147180369123816490LF) - n * 1.90821492927058770002e-10LF;
    double sum = 1.0LF;
    [[unroll]] for (int i = 14; i > 0; i--)
        sum = 1.0LF + sum * r / double(i);
    return ldexp(sum, int(n));
}
#elif !defined(WHOLE)
float exponential(float x)
{
    return exp(x);
}
#endif

// This looks at the bits, since a driver may turn a comparison with 0 and the choice that follows
// into a maximum, which is 0 where x is NaN.
bool is_negative(ACC x)
{
#if defined WHOLE
    return x < 0;
#elif defined WF_TYPE_F64
    uvec2 bits = unpackDouble2x32(x);
    return bits.y >= 0x80000000u && (bits.y < 0xfff00000u || bits == uvec2(0, 0xfff00000u));
#else
    uint bits = floatBitsToUint(x);
    return bits >= 0x80000000u && bits <= 0xff800000u;
#endif
}

#ifndef WHOLE
bool is_negative_infinity(ACC x)
{
#ifdef WF_TYPE_F64
    return unpackDouble2x32(x) == uvec2(0, 0xfff00000u);
#else
    return floatBitsToUint(x) == 0xff800000u;
#endif
}
#endif

#ifndef WHOLE
// 2 sqrt(2 / pi), and 0.044715 times that. Without a suffix a literal is of f32 precision.
#ifdef WF_TYPE_F64
const ACC GELU_LINEAR = 1.5957691216057307LF, GELU_CUBIC = 0.07135481627260025LF;
#else
const ACC GELU_LINEAR = 1.5957691216057307, GELU_CUBIC = 0.07135481627260025;
#endif
#endif

ACC activate(ACC x)
{
    if (ACTIVATION == 1)
        return is_negative(x) ? ACC(0) : x; // NaN stays NaN
#ifndef WHOLE
    if (ACTIVATION == 2) {
        // x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3), as x / (1 + exp(-2 u)).
        // Beyond 80 either way the quotient is x or next to nothing, and for infinity it is the
        // limit.
        ACC u2 = x * (GELU_LINEAR + GELU_CUBIC * x * x);
        return is_negative_infinity(x) ? ACC(0)
                                       : x / (ACC(1) + exponential(clamp(-u2, ACC(-80), ACC(80))));
    }
#endif
    return x;
}

ACC read_c(uint at)
{
#ifdef NARROW
    return OUTPUT != 0 ? c_sums[at] : TO_ACC(c[at]);
#else
    return c[at];
#endif
}

void write_c(uint at, ACC value)
{
#ifdef NARROW
    if (OUTPUT != 0)
        c_sums[at] = value;
    else
        c[at] = FROM_ACC(value);
#else
    c[at] = value;
#endif
}

// base: batch_c(), plus where the part's sums begin if the sum is split.
void store(uint base, uint row, uint column, ACC sum)
{
    uint at = base + row * push.ldc + column;
    ACC value = push.alpha * sum;
    if (BETA != 0)
        value += push.beta * read_c(at);
    if (BIAS != 0)
        value += bias[push.base_bias + column];
    write_c(at, activate(value));
}
