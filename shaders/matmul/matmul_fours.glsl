// Tiles of A and B for matmul_vector.comp: where the next element comes from and goes to is carried
// from tile to tile.
#define TILE_SETS 2
#define ITEM gl_LocalInvocationIndex
#include "matmul_tiles.glsl"

// With swizzled rows (MATMUL_ROWS_SWIZZLED) the fours of each four rows change places, by an
// exclusive or with a number of up to three bits: work-items side by side, whose steps are four
// apart, then store into different banks at no cost of memory. The banks have eight fours.
const uint BANK_FOURS = 8, SPREAD = TILE_K < 32 ? BANK_FOURS * 4 / TILE_K : 1;
// Those of the three bits that keep a four within its row.
const uint BITS_A = BY_K_A && ROWS_A == MATMUL_ROWS_SWIZZLED
                        ? (TILE_M / 4 & ~(TILE_M / 4) + 1) - 1 & BANK_FOURS - 1
                        : 0;
const uint BITS_B = BY_K_B && ROWS_B == MATMUL_ROWS_SWIZZLED
                        ? (TILE_N / 4 & ~(TILE_N / 4) + 1) - 1 & BANK_FOURS - 1
                        : 0;
// Where a row of step k has its four number `four`.
uint place_in_row_A(uint four, uint k)
{
    return BITS_A == 0 ? four : four ^ (k / 4 * SPREAD & BITS_A);
}
uint place_in_row_B(uint four, uint k)
{
    return BITS_B == 0 ? four : four ^ (k / 4 * SPREAD & BITS_B);
}

const int HALF_A = int(TILE_K * PITCH_A), HALF_B = int(TILE_K * PITCH_B);
uint to_A[FETCH_A], to_B[FETCH_B]; // where each goes in a half; with EVEN_X the first tells
// Whether a work-item's elements lie at the same distance, APART_X, from each other in shared
// memory, so that one address tells where all of them are.
const uint LINES_A = THREADS / FIRST_A, LINES_B = THREADS / FIRST_B;
const uint ALIKE_A = BITS_A == 0 ? 4 : 4 * BANK_FOURS, ALIKE_B = BITS_B == 0 ? 4 : 4 * BANK_FOURS;
const bool EVEN_A = THREADS % FIRST_A == 0 && (!BY_K_A || LINES_A % ALIKE_A == 0);
const bool EVEN_B = THREADS % FIRST_B == 0 && (!BY_K_B || LINES_B % ALIKE_B == 0);
const uint APART_A = BY_K_A ? LINES_A / 4 : LINES_A * PITCH_A;
const uint APART_B = BY_K_B ? LINES_B / 4 : LINES_B * PITCH_B;

#define BEGUN(X, n, p) to_##X[n] = p.y * PITCH_##X + place_in_row_##X(p.x / 4, p.y);

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
    void fetch_##X(bool more)                                                                      \
    {                                                                                              \
        uint next = more ? step_##X(TILE_K) : 0;                                                   \
        [[unroll]] for (uint n = 0; n < FETCH_##X; n++)                                            \
            if (has_##X(n))                                                                        \
                read_##X(n, source_##X(n));                                                        \
        [[unroll]] for (uint n = 0; n < BASES_##X; n++)                                            \
            from_##X[n] += next;                                                                   \
    }                                                                                              \
    void move_##X(int next)                                                                        \
    {                                                                                              \
        [[unroll]] for (uint n = 0; n < FETCH_##X; n++)                                            \
            to_##X[n] += next;                                                                     \
    }                                                                                              \
    void keep_##X(uint half_)                                                                      \
    {                                                                                              \
        [[unroll]] for (uint n = 0; n < FETCH_##X; n++) {                                          \
            uvec2 p = place_##X(EVEN_##X ? 0 : n);                                                 \
            uint at =                                                                              \
                half_ * uint(HALF_##X) + (EVEN_##X ? to_##X[0] + n * APART_##X : to_##X[n]);       \
            KEEP(X, n, p, at)                                                                      \
        }                                                                                          \
    }

DEFINE_OPERAND(A, a)
DEFINE_OPERAND(B, b)
