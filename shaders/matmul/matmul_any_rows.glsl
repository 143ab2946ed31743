// The operands of matmul_operands.glsl where rows begin at any element: CHUNK elements then lie in
// two chunks of memory, which are put together when both have arrived, on their way to shared
// memory. Behind the last column of the product lies what follows in memory, which reaches no
// element that is stored. Where VEC4_X an operand moves as it does there.
//
// Needs RAW, an unsigned type of an element's width.
layout(std430, set = 0, binding = 0) readonly buffer RawA { RAW raw_A[]; };
layout(std430, set = 0, binding = 1) readonly buffer RawB { RAW raw_B[]; };
const bool VEC4_A = (VEC4 & 1) != 0, VEC4_B = (VEC4 & 2) != 0;
// Where VEC4_X is false, from_X tells elements.
const uint FROM_UNIT_A = VEC4_A ? CHUNK : 1, FROM_UNIT_B = VEC4_B ? CHUNK : 1;
uvec4 behind_A[VEC4_A ? 1 : FETCH_A], behind_B[VEC4_B ? 1 : FETCH_B];
// Of the tile that was fetched, where VEC4_X is false: elements from there to where it comes from,
// and its steps before the sum's end.
uint moved_A, moved_B, left_A, left_B;

// The chunk that begins `bytes` (< 16) behind the first byte of `low`; `high` follows that.
uvec4 across(uvec4 low, uvec4 high, uint bytes)
{
    bool two = (bytes & 8) != 0, one = (bytes & 4) != 0;
    uint words[6] = {two ? low.z : low.x,  two ? low.w : low.y,  two ? high.x : low.z,
                     two ? high.y : low.w, two ? high.z : high.x, two ? high.w : high.y};
    uint from[5];
    [[unroll]] for (uint i = 0; i < 5; i++)
        from[i] = one ? words[i + 1] : words[i];
    uvec4 chunk;
    uint bits = bytes % 4 * 8;
    [[unroll]] for (uint i = 0; i < 4; i++)
        chunk[i] = bits == 0 ? from[i] : from[i] >> bits | from[i + 1] << (32 - bits);
    return chunk;
}

// The first `count` elements of a chunk, and zeros.
uvec4 first_of(uvec4 chunk, uint count)
{
    [[unroll]] for (uint i = 0; i < 4; i++) {
        uint inside = max(count, i * ELEMENTS) - i * ELEMENTS;
        if (inside < ELEMENTS)
            chunk[i] &= (1u << 32 / ELEMENTS * inside) - 1;
    }
    return chunk;
}

#define DEFINE_OPERAND(X)                                                                          \
    /* Fetches two chunks for each; past the last whole chunk of memory, that one. */              \
    void fetch_across_##X(uint k0, uint left)                                                      \
    {                                                                                              \
        uint last = chunks_##X.length() - 1;                                                       \
        moved_##X = step_##X(k0);                                                                  \
        left_##X = left;                                                                           \
        UNROLLED for (uint n = 0; n < FETCH_##X; n++)                                              \
            if (has_##X(n)) {                                                                      \
                uint chunk = (from_##X[n] + moved_##X) / CHUNK;                                    \
                fetched_##X[n] = chunks_##X[min(chunk, last)];                                     \
                behind_##X[n] = chunks_##X[min(chunk + 1, last)];                                  \
            }                                                                                      \
    }                                                                                              \
    void fetch_##X(uint k0)                                                                        \
    {                                                                                              \
        if (VEC4_##X)                                                                              \
            fetch_vectors_##X(k0);                                                                 \
        else                                                                                       \
            fetch_across_##X(k0, TILE_K);                                                          \
    }                                                                                              \
    void fetch_tail_##X(uint k0, uint end)                                                         \
    {                                                                                              \
        if (VEC4_##X)                                                                              \
            fetch_vectors_tail_##X(k0, end);                                                       \
        else                                                                                       \
            fetch_across_##X(k0, end - k0);                                                        \
    }                                                                                              \
    /* CHUNK elements from `at` on, singly, where memory ends within a chunk. */                   \
    uvec4 gather_##X(uint at)                                                                      \
    {                                                                                              \
        uvec4 chunk = uvec4(0);                                                                    \
        [[dont_unroll]] for (uint j = 0; j < CHUNK; j++) {                                         \
            uint bits = uint(raw_##X[min(at + j, raw_##X.length() - 1)]);                          \
            chunk = across(chunk, uvec4(bits), 16 / CHUNK);                                        \
        }                                                                                          \
        return chunk;                                                                              \
    }                                                                                              \
    /* What was fetched for n, with zeros past the sum's end. */                                   \
    uvec4 chunk_##X(uint n, uint row, uint column)                                                 \
    {                                                                                              \
        uint at = from_##X[n] + moved_##X;                                                         \
        uvec4 chunk = across(fetched_##X[n], behind_##X[n], at % CHUNK * (16 / CHUNK));            \
        if (at / CHUNK + 1 >= chunks_##X.length())                                                 \
            chunk = gather_##X(at);                                                                \
        if (left_##X < TILE_K)                                                                     \
            chunk = first_of(chunk, SUM_ROWS_##X ? (row < left_##X ? CHUNK : 0)                    \
                                                 : max(left_##X, column) - column);                \
        return chunk;                                                                              \
    }

#define KEPT(X, n, row, column) (VEC4_##X ? fetched_##X[n] : chunk_##X(n, row, column))

DEFINE_PLACES(A, a)
DEFINE_PLACES(B, b)
DEFINE_FETCH(A, fetch_vectors)
DEFINE_FETCH(B, fetch_vectors)
DEFINE_OPERAND(A)
DEFINE_OPERAND(B)
