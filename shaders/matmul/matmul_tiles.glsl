// What matmul_fours.glsl and matmul_slice_tiles.glsl have in common: tiles of A and B on their way
// from memory to shared memory, along the sum there; X is A or B. Elements move four at a time
// where VEC4_X, else singly; a tile's are numbered as memory has them: along the sum first
// (BY_K_X), or along m or n. Rows and columns outside the matrices are read from inside instead,
// since their results are not stored; steps past the end of the sum are zero.  Needs TILE_M,
// TILE_N, TILE_K, VEC4_A, VEC4_B, the buffers as a, a4, b, b4, and: THREADS, the work-items that
// move a tile; ITEM, the number of one of them; TILE_SETS, the tiles of an operand in shared
// memory; ROWS_X, how rows lie where elements along k are stored across them (MATMUL_ROWS_); and
// place_X, which the includer defines between DEFINE_HAS and DEFINE_READS. With JOINED the tiles of
// B lie behind those of A in one array, `tiles`, in which the includer keeps other things when the
// tiles are no longer needed.
const bool BY_K_A = TRANSPOSE_A == 0, BY_K_B = TRANSPOSE_B != 0;
const uint STEP_A = VEC4_A ? 4 : 1, STEP_B = VEC4_B ? 4 : 1;
// The elements of a tile along m or n. In packed copies, which end in zeros, the last tile is whole
// too.
const uint LINE_A = BY_K_A ? 1 : STEP_A, LINE_B = BY_K_B ? 1 : STEP_B;
// The length of a tile's row in shared memory, in units of four elements, with padding where
// elements along k are loaded and stored across the rows.
const uint PITCH_A = TILE_M / 4 + (BY_K_A && ROWS_A == MATMUL_ROWS_PADDED ? 1 : 0);
const uint PITCH_B = TILE_N / 4 + (BY_K_B && ROWS_B == MATMUL_ROWS_PADDED ? 1 : 0);
// How many elements, or units of four, a work-item loads. Of the arrays of either kind one is used,
// and the other costs nothing.
const uint COUNT_A = TILE_M * TILE_K / STEP_A, COUNT_B = TILE_N * TILE_K / STEP_B;
const uint FETCH_A = (COUNT_A + THREADS - 1) / THREADS, FETCH_B = (COUNT_B + THREADS - 1) / THREADS;
// The elements, or units of four, of a tile's row in memory.
const uint FIRST_A = (BY_K_A ? TILE_K : TILE_M) / STEP_A;
const uint FIRST_B = (BY_K_B ? TILE_K : TILE_N) / STEP_B;
// Where rows run along m or n, a work-item's loads come from BASES_X places of a row, from the same
// places SKIPPED_X rows further on, and so on, so that few addresses take registers: with one for
// each load an H100 held a work-group less (bench/notes/matmul.md#addresses). Where rows run along
// the sum each load has an address, since the last row stands in for those outside.
const bool REPEATS_A = (FIRST_A > THREADS ? FIRST_A % THREADS : THREADS % FIRST_A) == 0;
const bool REPEATS_B = (FIRST_B > THREADS ? FIRST_B % THREADS : THREADS % FIRST_B) == 0;
const uint BASES_A =
    BY_K_A || !REPEATS_A ? FETCH_A : FIRST_A > THREADS ? FIRST_A / THREADS : 1;
const uint BASES_B =
    BY_K_B || !REPEATS_B ? FETCH_B : FIRST_B > THREADS ? FIRST_B / THREADS : 1;
const uint SKIPPED_A = FIRST_A > THREADS ? 1 : THREADS / FIRST_A;
const uint SKIPPED_B = FIRST_B > THREADS ? 1 : THREADS / FIRST_B;

const uint FOURS_A = TILE_SETS * TILE_K * PITCH_A, FOURS_B = TILE_SETS * TILE_K * PITCH_B;
#ifdef JOINED
shared ACC4 tiles[FOURS_A + FOURS_B];
#define TILE_A_AT(at) tiles[at]
#define TILE_B_AT(at) tiles[FOURS_A + (at)]
#else
#ifdef WF_TYPE_F64
// The first two of each four, and behind them the other two: work-items side by side then read 16
// bytes side by side. Of 32 bytes each, of which devices read 16 at a time, every second bank would
// wait for the others.
shared dvec2 tile_A[2 * FOURS_A]; // [half of four][slice][k][row / 4]
shared dvec2 tile_B[2 * FOURS_B];
#define TILE_A_AT(at) dvec4(tile_A[at], tile_A[FOURS_A + (at)])
#define TILE_B_AT(at) dvec4(tile_B[at], tile_B[FOURS_B + (at)])
#define KEEP_FOUR(X, at, four)                                                                     \
    {                                                                                              \
        tile_##X[at] = (four).xy;                                                                  \
        tile_##X[FOURS_##X + (at)] = (four).zw;                                                    \
    }
#define ONE_OF(X, at, place) tile_##X[(place) / 2 * FOURS_##X + (at)][(place) % 2]
#else
shared ACC4 tile_A[FOURS_A]; // [slice][k][row / 4]
shared ACC4 tile_B[FOURS_B]; // [slice][k][column / 4]
#define TILE_A_AT(at) tile_A[at]
#define TILE_B_AT(at) tile_B[at]
#endif
#endif
#ifndef KEEP_FOUR
#define KEEP_FOUR(X, at, four) TILE_##X##_AT(at) = four;
#define ONE_OF(X, at, place) TILE_##X##_AT(at)[place]
#endif

ACC ones_A[FETCH_A], ones_B[FETCH_B];
ACC4 fours_A[FETCH_A], fours_B[FETCH_B];
// Where the first of them come from behind the first tile, and how far apart the others are, in
// STEP_X.
uint from_A[BASES_A], from_B[BASES_B], apart_A, apart_B;

#define DEFINE_HAS(X)                                                                              \
    bool has_##X(uint n)                                                                           \
    {                                                                                              \
        return COUNT_##X % THREADS == 0 || ITEM + n * THREADS < COUNT_##X;                         \
    }
// BEGUN(X, n, p): what the includer remembers of element n, whose place is p.
#define DEFINE_READS(X, low)                                                                       \
    uint step_##X(uint k)                                                                          \
    {                                                                                              \
        return k * (BY_K_##X ? 1 : push.ld##low) / STEP_##X;                                       \
    }                                                                                              \
    void read_##X(uint n, uint at)                                                                 \
    {                                                                                              \
        if (VEC4_##X)                                                                              \
            fours_##X[n] = TO_ACC4(low##4[at]);                                                    \
        else                                                                                       \
            ones_##X[n] = TO_ACC(low[at]);                                                         \
    }                                                                                              \
    /* Fetches the first tile, of `steps` from k0 on. more: others follow; if not, they are read   \
       from where there surely is something. */                                                    \
    void begin_##X(uint first, uint extent, uint k0, uint steps, bool more)                        \
    {                                                                                              \
        [[unroll]] for (uint n = 0; n < FETCH_##X; n++) {                                          \
            uvec2 p = place_##X(n);                                                                \
            uint line = min(first + p.x, (extent - 1) / LINE_##X * LINE_##X), k = k0 + p.y;        \
            uint from = (batch_##low() + (BY_K_##X ? line * push.ld##low + k                       \
                                                   : k * push.ld##low + line)) / STEP_##X;         \
            ones_##X[n] = ACC(0);                                                                  \
            fours_##X[n] = ACC4(0);                                                                \
            if (has_##X(n) && p.y < steps)                                                         \
                read_##X(n, from);                                                                 \
            if (n < BASES_##X)                                                                     \
                from_##X[n] = more ? from + step_##X(steps) : 0;                                   \
            BEGUN(X, n, p)                                                                         \
        }                                                                                          \
        apart_##X = more ? step_##X(SKIPPED_##X) : 0;                                              \
    }                                                                                              \
    uint source_##X(uint n)                                                                        \
    {                                                                                              \
        return from_##X[n % BASES_##X] + n / BASES_##X * apart_##X;                                \
    }
// In a loop over n: element n, whose place is p, goes to `at`.
#define KEEP(X, n, p, at)                                                                          \
    if (!has_##X(n))                                                                               \
        continue;                                                                                  \
    if (!VEC4_##X)                                                                                 \
        ONE_OF(X, at, p.x % 4) = ones_##X[n];                                                      \
    else if (!BY_K_##X)                                                                            \
        KEEP_FOUR(X, at, fours_##X[n])                                                             \
    else                                                                                           \
        [[unroll]] for (uint j = 0; j < 4; j++)                                                    \
            ONE_OF(X, at + j * PITCH_##X, p.x % 4) = fours_##X[n][j];
