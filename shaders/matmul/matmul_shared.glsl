// Shared memory of the cooperative kernels: the tiles, later the sums on their way to C. And C four
// elements at a time.
const uint A_CHUNKS =
    TRANSPOSE_A != 0 ? TILE_K * (TILE_M / CHUNK + 1) : TILE_M * (TILE_K / CHUNK + 1);
const uint B_CHUNKS =
    TRANSPOSE_B != 0 ? TILE_N * (TILE_K / CHUNK + 1) : TILE_K * (TILE_N / CHUNK + 1);
const uint SUM_CHUNKS = SUBS_M * SUBS_N * SUBS_K * OUT;
const uint SHARED = A_CHUNKS + B_CHUNKS > SUM_CHUNKS ? A_CHUNKS + B_CHUNKS : SUM_CHUNKS;
shared uvec4 tiles[SHARED];

#include "matmul_c4.glsl"

void write_c4(uint at, ACC4 value)
{
#ifdef NARROW
    if (OUTPUT != 0)
        c_sums4[at] = value;
    else
        c4[at] = TO_STORED4(value);
#else
    c4[at] = value;
#endif
}

ACC sum_of(uint bits)
{
#ifdef WHOLE
    return int(bits);
#else
    return uintBitsToFloat(bits);
#endif
}

ACC4 sums4(uvec4 bits)
{
#ifdef WHOLE
    return ivec4(bits);
#else
    return uintBitsToFloat(bits);
#endif
}
