// The products of fragments that one subgroup makes, and its way from sums to shared memory:
// cooperative matrices or, with MATMUL_EMULATED, plain code that computes the same from the same
// tiles on any device, which tests everything around them.
const uint DEPTH = TILE_K / SUBS_K; // steps of a tile that one subgroup adds

#ifdef MATMUL_EMULATED
const uint PER_LANE = (FRAG_M * FRAG_N + LANES - 1) / LANES;
ACC sum[FRAGS_M * FRAGS_N * PER_LANE];

uint subgroup()
{
    return gl_LocalInvocationIndex / LANES;
}

// The block of the tile that this subgroup computes, and its part of each tile's steps.
uint block()
{
    return SUBS_K > 1 ? subgroup() % BLOCKS : subgroup();
}

uint slice_k()
{
    return SUBS_K > 1 ? subgroup() / BLOCKS : 0;
}

void subgroup_barrier()
{
    barrier();
}

void clear()
{
    for (uint i = 0; i < FRAGS_M * FRAGS_N * PER_LANE; i++)
        sum[i] = ACC(0);
}

ACC element(uint chunk, uint index)
{
    uint bits = tiles[chunk + index / CHUNK][index % CHUNK / ELEMENTS];
    uint shift = 32 / ELEMENTS * (index % ELEMENTS);
#if defined(WF_TYPE_I8)
    return bitfieldExtract(int(bits), int(shift), 8);
#elif defined(WF_TYPE_BF16)
    return uintBitsToFloat(bits >> shift << 16);
#else
    return unpackHalf2x16(bits >> shift).x;
#endif
}

ACC element_a(uint row, uint k)
{
    return SUM_ROWS_A ? element(FIRST_A + k * PITCH_A, row) : element(FIRST_A + row * PITCH_A, k);
}

ACC element_b(uint k, uint column)
{
    return SUM_ROWS_B ? element(FIRST_B + k * PITCH_B, column)
                      : element(FIRST_B + column * PITCH_B, k);
}

void multiply(uint row0, uint column0)
{
    uint lane = gl_LocalInvocationIndex % LANES, first = slice_k() * DEPTH;
    for (uint f = 0; f < FRAGS_M * FRAGS_N; f++)
        for (uint e = lane, at = f * PER_LANE; e < FRAG_M * FRAG_N; e += LANES, at++) {
            uint row = row0 + f / FRAGS_N * FRAG_M + e / FRAG_N;
            uint column = column0 + f % FRAGS_N * FRAG_N + e % FRAG_N;
            for (uint k = 0; k < DEPTH; k++)
                sum[at] += element_a(row, first + k) * element_b(first + k, column);
        }
}

void scale(float factor)
{
    for (uint i = 0; i < FRAGS_M * FRAGS_N * PER_LANE; i++)
        sum[i] = ACC(float(sum[i]) * factor);
}

void put(uint fragment, uint chunk)
{
    uint lane = gl_LocalInvocationIndex % LANES;
    for (uint e = lane, at = fragment * PER_LANE; e < FRAG_M * FRAG_N; e += LANES, at++)
#ifdef WF_TYPE_I8
        tiles[chunk + e / FRAG_N * OUT_PITCH + e % FRAG_N / 4][e % 4] = uint(sum[at]);
#else
        tiles[chunk + e / FRAG_N * OUT_PITCH + e % FRAG_N / 4][e % 4] = floatBitsToUint(sum[at]);
#endif
}
#else
coopmat<ACC, gl_ScopeSubgroup, FRAG_M, FRAG_N, gl_MatrixUseAccumulator> sum[FRAGS_M * FRAGS_N];

uint subgroup()
{
    return gl_SubgroupID;
}

// The block of the tile that this subgroup computes, and its part of each tile's steps.
uint block()
{
    return SUBS_K > 1 ? subgroup() % BLOCKS : subgroup();
}

uint slice_k()
{
    return SUBS_K > 1 ? subgroup() / BLOCKS : 0;
}

void subgroup_barrier()
{
    subgroupBarrier();
}

void clear()
{
    [[unroll]] for (uint i = 0; i < FRAGS_M * FRAGS_N; i++)
        sum[i] = coopmat<ACC, gl_ScopeSubgroup, FRAG_M, FRAG_N, gl_MatrixUseAccumulator>(ACC(0));
}

void multiply(uint row0, uint column0)
{
    uint first = slice_k() * DEPTH;
    [[unroll]] for (uint step = 0; step < DEPTH; step += FRAG_K) {
        uint k = first + step;
        coopmat<FACTOR, gl_ScopeSubgroup, FRAG_M, FRAG_K, gl_MatrixUseA> left[FRAGS_M];
        [[unroll]] for (uint i = 0; i < FRAGS_M; i++) {
            uint row = row0 + i * FRAG_M;
            if (SUM_ROWS_A)
                coopMatLoad(left[i], tiles, FIRST_A + k * PITCH_A + row / CHUNK, PITCH_A,
                            gl_CooperativeMatrixLayoutColumnMajor);
            else
                coopMatLoad(left[i], tiles, FIRST_A + row * PITCH_A + k / CHUNK, PITCH_A,
                            gl_CooperativeMatrixLayoutRowMajor);
        }
        [[unroll]] for (uint j = 0; j < FRAGS_N; j++) {
            coopmat<FACTOR, gl_ScopeSubgroup, FRAG_K, FRAG_N, gl_MatrixUseB> right;
            uint column = column0 + j * FRAG_N;
            if (SUM_ROWS_B)
                coopMatLoad(right, tiles, FIRST_B + k * PITCH_B + column / CHUNK, PITCH_B,
                            gl_CooperativeMatrixLayoutRowMajor);
            else
                coopMatLoad(right, tiles, FIRST_B + column * PITCH_B + k / CHUNK, PITCH_B,
                            gl_CooperativeMatrixLayoutColumnMajor);
            [[unroll]] for (uint i = 0; i < FRAGS_M; i++)
                sum[i * FRAGS_N + j] = coopMatMulAdd(left[i], right, sum[i * FRAGS_N + j]);
        }
    }
}

void scale(float factor)
{
    [[unroll]] for (uint i = 0; i < FRAGS_M * FRAGS_N; i++)
        sum[i] *= ACC(factor);
}

void put(uint fragment, uint chunk)
{
    coopMatStore(sum[fragment], tiles, chunk, OUT_PITCH, gl_CooperativeMatrixLayoutRowMajor);
}
#endif
