// Tiles of A and B as they are stored, in chunks of 16 bytes: from memory to registers, and from
// there to shared memory. X is A or B; the stored rows of SUM_ROWS_X run along the sum. What lies
// past the rows and columns of the product is read from its last ones and never stored to C; what
// lies past the sum's end is zero.
//
// Needs CHUNK (elements of 16 bytes), TILE_M, TILE_N, TILE_K, THREADS and `tiles` in shared memory,
// tile A before tile B. Every stored row begins at a multiple of 16 bytes; with ANY_ROWS those of X
// do where VEC4_X (matmul_any_rows.glsl).
layout(std430, set = 0, binding = 0) readonly buffer ChunksA { uvec4 chunks_A[]; };
layout(std430, set = 0, binding = 1) readonly buffer ChunksB { uvec4 chunks_B[]; };

const uint ELEMENTS = CHUNK / 4; // of 32 bits
const bool SUM_ROWS_A = TRANSPOSE_A != 0, SUM_ROWS_B = TRANSPOSE_B == 0;
const uint COLUMNS_A = (SUM_ROWS_A ? TILE_M : TILE_K) / CHUNK;
const uint COLUMNS_B = (SUM_ROWS_B ? TILE_N : TILE_K) / CHUNK;
const uint ROWS_A = SUM_ROWS_A ? TILE_K : TILE_M, ROWS_B = SUM_ROWS_B ? TILE_K : TILE_N;
// A chunk of padding a row puts the rows that one load of a matrix reads on different banks.
const uint PITCH_A = COLUMNS_A + 1, PITCH_B = COLUMNS_B + 1;
const uint FIRST_A = 0, FIRST_B = ROWS_A * PITCH_A;
const uint TILE_CHUNKS = FIRST_B + ROWS_B * PITCH_B;
const uint COUNT_A = ROWS_A * COLUMNS_A, COUNT_B = ROWS_B * COLUMNS_B;
const uint FETCH_A = (COUNT_A + THREADS - 1) / THREADS, FETCH_B = (COUNT_B + THREADS - 1) / THREADS;

uvec4 fetched_A[FETCH_A], fetched_B[FETCH_B];
uint part_A = 0, part_B = 0; // elements from a row's beginning to the numbers that are read of it
// For each of them the chunk of memory that it comes from at k = 0.
uint from_A[FETCH_A], from_B[FETCH_B];

// extent: m or n; first: the first row or column of the product in this tile.
#define DEFINE_PLACES(X, x)                                                                        \
    uint item_##X(uint n)                                                                          \
    {                                                                                              \
        return gl_LocalInvocationIndex + n * THREADS;                                              \
    }                                                                                              \
    bool has_##X(uint n)                                                                           \
    {                                                                                              \
        return FETCH_##X * THREADS == COUNT_##X || item_##X(n) < COUNT_##X;                        \
    }                                                                                              \
    void begin_##X(uint first, uint extent)                                                        \
    {                                                                                              \
        UNROLLED for (uint n = 0; n < FETCH_##X; n++) {                                            \
            uint row = item_##X(n) / COLUMNS_##X, column = item_##X(n) % COLUMNS_##X * CHUNK;      \
            if (SUM_ROWS_##X)                                                                      \
                column = min(first + column, (extent - 1) / CHUNK * CHUNK);                        \
            else                                                                                   \
                row = min(first + row, extent - 1);                                                \
            from_##X[n] = (batch_##x() + row * push.ld##x + column) / FROM_UNIT_##X;               \
        }                                                                                          \
    }                                                                                              \
    uint step_##X(uint k0)                                                                         \
    {                                                                                              \
        return part_##X + k0 * (SUM_ROWS_##X ? push.ld##x : 1);                                    \
    }

// Tiles of vectors; of fetch_tail the steps from `end` on are zero.
#define DEFINE_FETCH(X, fetch)                                                                     \
    void fetch##_##X(uint k0)                                                                      \
    {                                                                                              \
        uint step = step_##X(k0) / CHUNK;                                                          \
        UNROLLED for (uint n = 0; n < FETCH_##X; n++)                                              \
            if (has_##X(n))                                                                        \
                fetched_##X[n] = chunks_##X[from_##X[n] + step];                                   \
    }                                                                                              \
    void fetch##_tail_##X(uint k0, uint end)                                                       \
    {                                                                                              \
        UNROLLED for (uint n = 0; n < FETCH_##X; n++) {                                            \
            uint row = item_##X(n) / COLUMNS_##X, column = item_##X(n) % COLUMNS_##X * CHUNK;      \
            bool inside = k0 + (SUM_ROWS_##X ? row : column) < end;                                \
            fetched_##X[n] = uvec4(0);                                                             \
            if (!has_##X(n) || !inside)                                                            \
                continue;                                                                          \
            fetched_##X[n] = chunks_##X[from_##X[n] + step_##X(k0) / CHUNK];                       \
        }                                                                                          \
    }

#ifdef ANY_ROWS
#include "matmul_any_rows.glsl"
#else
#define FROM_UNIT_A CHUNK
#define FROM_UNIT_B CHUNK
#define KEPT(X, n, row, column) fetched_##X[n]
DEFINE_PLACES(A, a)
DEFINE_PLACES(B, b)
DEFINE_FETCH(A, fetch)
DEFINE_FETCH(B, fetch)
#endif

// KEPT(X, n, row, column): what was fetched as number n, for that row and column of the tile.
#define DEFINE_KEEP(X)                                                                             \
    void keep_##X()                                                                                \
    {                                                                                              \
        UNROLLED for (uint n = 0; n < FETCH_##X; n++) {                                            \
            uint row = item_##X(n) / COLUMNS_##X, column = item_##X(n) % COLUMNS_##X;              \
            if (has_##X(n))                                                                        \
                tiles[FIRST_##X + row * PITCH_##X + column] = KEPT(X, n, row, column * CHUNK);     \
        }                                                                                          \
    }

DEFINE_KEEP(A)
DEFINE_KEEP(B)
