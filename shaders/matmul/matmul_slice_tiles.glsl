// Tiles of A and B for matmul_subgroup_k.comp. Their place in the sum tells where they are loaded
// from, since each slice of k skips the tiles of the others. ITEM is a work-item's number in its
// slice, which has THREADS of them.
#define JOINED
#define ROWS_A MATMUL_ROWS_PADDED
#define ROWS_B MATMUL_ROWS_PADDED
#include "matmul_tiles.glsl"

#define BEGUN(X, n, p)

#define DEFINE_OPERAND(X, low)                                                                     \
    DEFINE_HAS(X)                                                                                  \
    /* .x along m or n, .y along k */                                                              \
    uvec2 place_##X(uint n)                                                                        \
    {                                                                                              \
        uint item = ITEM + n * THREADS;                                                            \
        uint fast = item % FIRST_##X * STEP_##X, slow = item / FIRST_##X;                          \
        return BY_K_##X ? uvec2(slow, fast) : uvec2(fast, slow);                                   \
    }                                                                                              \
    DEFINE_READS(X, low)                                                                           \
    void fetch_##X(uint k)                                                                         \
    {                                                                                              \
        [[unroll]] for (uint n = 0; n < FETCH_##X; n++)                                            \
            if (has_##X(n))                                                                        \
                read_##X(n, source_##X(n) + step_##X(k));                                          \
    }                                                                                              \
    void keep_##X(uint half_)                                                                      \
    {                                                                                              \
        [[unroll]] for (uint n = 0; n < FETCH_##X; n++) {                                          \
            uvec2 p = place_##X(n);                                                                \
            uint at = (half_ * TILE_K + p.y) * PITCH_##X + p.x / 4;                                \
            KEEP(X, n, p, at)                                                                      \
        }                                                                                          \
    }

DEFINE_OPERAND(A, a)
DEFINE_OPERAND(B, b)
