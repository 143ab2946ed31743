// Stores four elements of a row of C, at once with VEC4_C, else one by one. base: batch_c(), plus
// where the part's sums begin if the sum is split.
#include "matmul_c4.glsl"

void store4(uint base, uint row, uint column, ACC4 value)
{
    if (row >= push.m)
        return;
    if (!VEC4_C) {
        [[unroll]] for (uint j = 0; j < 4; j++)
            if (column + j < push.n)
                store(base, row, column + j, value[j]);
        return;
    }
    if (column >= push.n)
        return;
    uint at = (base + row * push.ldc + column) / 4;
    value *= push.alpha;
#ifdef NARROW
    if (BETA != 0)
        value += push.beta * (OUTPUT != 0 ? c_sums4[at] : FROM_STORED4(c4[at]));
#else
    if (BETA != 0)
        value += push.beta * c4[at];
#endif
    [[unroll]] for (uint j = 0; j < 4; j++) {
        if (BIAS != 0)
            value[j] += bias[push.base_bias + column + j];
        value[j] = activate(value[j]);
    }
#ifdef NARROW
    if (OUTPUT != 0)
        c_sums4[at] = value;
    else
        c4[at] = TO_STORED4(value);
#else
    c4[at] = value;
#endif
}
