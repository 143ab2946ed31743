// Sums of products of f32 numbers that were scaled before they were taken apart
// (matmul_f16x2.comp), scaled back.
layout(std430, set = 0, binding = 4) readonly buffer Exponents { int exponents[]; };

// Of rows of A, then of columns of B. Halved, since one step could leave the range that ldexp has.
float rescaled(float sum, uint row, uint column)
{
    int exponent = exponents[row] + exponents[push.m + column];
    return ldexp(ldexp(sum, exponent / 2), exponent - exponent / 2);
}
