// Padding is a negative zero, which no entry of a matrix is kept as (src/kernels/spmv/arrays.c,
// spmv_update.comp). Its product with an x that is not finite is NaN, so a sum that is NaN is
// computed again without padding: finite sums cost one comparison, and infinities come out as they
// would without padding.
bool is_padding(REAL value)
{
#ifdef WF_TYPE_F64
    return unpackDouble2x32(value) == uvec2(0u, 0x80000000u);
#else
    return floatBitsToUint(value) == 0x80000000u;
#endif
}

REAL product_of(REAL value, REAL x)
{
    return is_padding(value) ? REAL(0) : value * x;
}
