/* The search spaces of the plain matmul variants: parameters, constraints, geometry. */
#include "core/arithmetic.h"
#include "core/vendors.h"
#include "kernels/matmul/matmul.h"

static const uint32_t naive_x[] = {8, 16, 32, 64, 128}, naive_y[] = {1, 2, 4, 8, 16};

const wfi_parameter wfi_matmul_naive_parameters[WFI_NAIVE_PARAMETERS] = {
    {"local_x", MATMUL_ID_LOCAL_X, 16, 5, naive_x, "work-items along the columns of C"},
    {"local_y", MATMUL_ID_LOCAL_Y, 8, 5, naive_y, "work-items along the rows of C"},
};

static const uint32_t tiles[] = {8, 16, 32, 64, 128}, depths[] = {4, 8, 16, 32},
                      outputs[] = {1, 2, 4, 8};

const wfi_parameter wfi_matmul_register_parameters[WFI_REGISTER_PARAMETERS] = {
    {"tile_m", MATMUL_ID_TILE_M, 32, 5, tiles, "rows of C a work-group computes"},
    {"tile_n", MATMUL_ID_TILE_N, 32, 5, tiles, "columns of C a work-group computes"},
    {"tile_k", MATMUL_ID_TILE_K, 8, 4, depths, "steps of the sum held in shared memory"},
    {"thread_m", MATMUL_ID_THREAD_M, 4, 4, outputs, "rows of C a work-item computes"},
    {"thread_n", MATMUL_ID_THREAD_N, 4, 4, outputs, "columns of C a work-item computes"},
};

static const uint32_t vector_tiles[] = {16, 32, 64, 128, 256}, vector_depths[] = {4, 8, 16, 32},
                      vector_outputs[] = {4, 8, 16}, vec4s[] = {0, 1, 2, 3, 4, 7},
                      lanes[] = {1, 2, 4, 8, 16}, swizzles[] = {1, 2, 4, 8, 16},
                      splits[] = {1, 2, 4, 8, 16, 64}, unrolls[] = {2, 4, 8, 16}, off_on[] = {0, 1},
                      serpentines[] = {0, 1, 2, 3}, packs[] = {0, 3},
                      stream_k_counts[] = {0, 1, 2, 4};

const wfi_parameter wfi_matmul_vector_parameters[WFI_VECTOR_PARAMETERS] = {
    {"tile_m", MATMUL_ID_TILE_M, 64, 5, vector_tiles, "rows of C a work-group computes"},
    {"tile_n", MATMUL_ID_TILE_N, 64, 5, vector_tiles, "columns of C a work-group computes"},
    {"tile_k", MATMUL_ID_TILE_K, 8, 4, vector_depths, "steps of the sum held in shared memory"},
    {"thread_m", MATMUL_ID_THREAD_M, 8, 3, vector_outputs, "rows of C a work-item computes"},
    {"thread_n", MATMUL_ID_THREAD_N, 8, 3, vector_outputs, "columns of C a work-item computes"},
    {"vec4", MATMUL_ID_VEC4, 0, 6, vec4s, "memory moves four at a time: 1 A, 2 B, 4 C, added"},
    {"lanes_m", MATMUL_ID_LANES_M, 4, 5, lanes, "work-items of a block of them along rows"},
    {"lanes_n", MATMUL_ID_LANES_N, 8, 5, lanes, "work-items of a block of them along columns"},
    {"swizzle", MATMUL_ID_SWIZZLE, 1, 5, swizzles,
     "tile rows that neighbouring work-groups go down"},
    {"split_k", MATMUL_ID_SPLIT_K, 1, 6, splits,
     "parts of the sum that different work-groups make"},
    {"unroll", MATMUL_ID_UNROLL, 8, 4, unrolls,
     "steps of the sum without a branch between; all of tile_k with double_buffer"},
    {"double_buffer", MATMUL_ID_DOUBLE_BUFFER, 1, 2, off_on,
     "1: registers are loaded a step of the sum ahead"},
    {"pairs", MATMUL_ID_PAIRS, 0, 2, off_on,
     "1: work-items side by side share columns of C, and every second one rows"},
    {"pack", MATMUL_ID_PACK, 0, 2, packs, "3: A and B are copied to aligned rows first"},
    {"serpentine", MATMUL_ID_SERPENTINE, 0, 4, serpentines,
     "1 to 3: each product shares an operand with the one before, along rows, columns, or in "
     "blocks of 4 x 4"},
    {"stream_k", MATMUL_ID_STREAM_K, 0, 4, stream_k_counts,
     "work-groups a compute unit that share the sums of the tiles that whole rounds of them leave"},
};

static const uint32_t squares[] = {4, 8, 16, 32}, square_depths[] = {4, 8, 16, 32, 64};

const wfi_parameter wfi_matmul_square_parameters[WFI_SQUARE_PARAMETERS] = {
    {"tile", MATMUL_ID_TILE_M, 8, 4, squares, "rows and columns of C a work-group computes"},
    {"tile_k", MATMUL_ID_TILE_K, 16, 5, square_depths, "steps of the sum held in shared memory"},
};

static const uint32_t matvec_x[] = {4, 8, 16, 32, 64, 128}, matvec_y[] = {1, 2, 4, 8, 16, 32, 64},
                      matvec_splits[] = {1, 2, 4, 8, 16, 32}, matvec_loads[] = {2, 4, 8},
                      matvec_chunks[] = {1, 2, 4, 8};

const wfi_parameter wfi_matmul_matvec_parameters[WFI_MATVEC_PARAMETERS] = {
    {"local_x", MATMUL_ID_LOCAL_X, 32, 6, matvec_x,
     "work-items along the rows of the large matrix, as it lies"},
    {"local_y", MATMUL_ID_LOCAL_Y, 4, 7, matvec_y, "work-items down the rows of the large matrix"},
    {"vec4", MATMUL_ID_VEC4, 0, 6, vec4s, "memory moves four at a time: 1 A, 2 B, 4 C, added"},
    {"split_k", MATMUL_ID_SPLIT_K, 1, 6, matvec_splits,
     "parts of the sum that different work-groups make"},
    {"loads", MATMUL_ID_LOADS, 4, 3, matvec_loads, "loads of the large matrix under way an item"},
    {"chunks", MATMUL_ID_CHUNKS, 1, 4, matvec_chunks,
     "parts of the sum made in turn, from either end: caches still hold the last"},
};

bool wfi_matmul_sizes_positive(const wfi_point *point)
{
    for (int i = MATMUL_ID_TILE_M; i <= MATMUL_ID_THREAD_N; i++)
        if (point->values[i] == 0 || point->values[i] > 1024)
            return false;
    return true;
}

static bool m_divides(const wfi_point *point)
{
    return point->values[MATMUL_ID_TILE_M] % point->values[MATMUL_ID_THREAD_M] == 0;
}

static bool n_divides(const wfi_point *point)
{
    return point->values[MATMUL_ID_TILE_N] % point->values[MATMUL_ID_THREAD_N] == 0;
}

bool wfi_matmul_few_registers(const wfi_point *point)
{
    return point->values[MATMUL_ID_THREAD_M] * point->values[MATMUL_ID_THREAD_N] <= 256;
}

#define POSITIVE                                                                                   \
    {                                                                                              \
        "tile and thread sizes must be between 1 and 1024", wfi_matmul_sizes_positive              \
    }
#define M_DIVIDES                                                                                  \
    {                                                                                              \
        "tile_m must be a multiple of thread_m, since each work-item computes a whole block",      \
            m_divides                                                                              \
    }
#define N_DIVIDES                                                                                  \
    {                                                                                              \
        "tile_n must be a multiple of thread_n, since each work-item computes a whole block",      \
            n_divides                                                                              \
    }
#define FEW_REGISTERS                                                                              \
    {                                                                                              \
        "thread_m x thread_n must be at most 256, since the sums live in registers",               \
            wfi_matmul_few_registers                                                               \
    }

const wfi_constraint wfi_matmul_register_constraints[WFI_REGISTER_CONSTRAINTS] = {
    POSITIVE, M_DIVIDES, N_DIVIDES, FEW_REGISTERS};

bool wfi_matmul_fours(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return v[MATMUL_ID_TILE_K] % 4 == 0 && v[MATMUL_ID_THREAD_M] % 4 == 0 &&
           v[MATMUL_ID_THREAD_N] % 4 == 0;
}

static bool row_of_fours(uint64_t extent, uint64_t ld, uint64_t stride)
{
    return extent % 4 == 0 && ld % 4 == 0 && stride % 4 == 0;
}

uint32_t wfi_matmul_vec4_bits(const wfi_matmul_problem *p)
{
    const bool a = row_of_fours(p->transpose_a ? p->m : p->k, p->lda, p->stride_a);
    const bool b = row_of_fours(p->transpose_b ? p->k : p->n, p->ldb, p->stride_b);
    const bool c = row_of_fours(p->n, p->ldc, p->stride_c);
    return (a ? 1u : 0u) | (b ? 2u : 0u) | (c ? 4u : 0u);
}

bool wfi_matmul_vec4_allowed(const wfi_point *point, uint32_t bits)
{
    return (bits & ~wfi_matmul_vec4_bits(&point->problem->matmul)) == 0;
}

static bool vec4_allowed(const wfi_point *point)
{
    return wfi_matmul_vec4_allowed(point, point->values[MATMUL_ID_VEC4]);
}

/* Of vector, which may read copies. */
static bool vec4_or_packed(const wfi_point *point)
{
    return wfi_matmul_vec4_allowed(point,
                                   point->values[MATMUL_ID_VEC4] & ~point->values[MATMUL_ID_PACK]);
}

static bool both_packed(const wfi_point *point)
{
    const uint32_t pack = point->values[MATMUL_ID_PACK];
    return pack == 0 ||
           (pack == 3 && point->problem->type == WF_TYPE_F32 &&
            64 % point->values[MATMUL_ID_TILE_K] == 0 && wfi_matmul_can_pack(point, pack));
}

bool wfi_matmul_lanes_divide(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return v[MATMUL_ID_LANES_M] && v[MATMUL_ID_LANES_N] &&
           v[MATMUL_ID_TILE_M] / v[MATMUL_ID_THREAD_M] % v[MATMUL_ID_LANES_M] == 0 &&
           v[MATMUL_ID_TILE_N] / v[MATMUL_ID_THREAD_N] % v[MATMUL_ID_LANES_N] == 0;
}

static bool swizzle_positive(const wfi_point *point)
{
    return point->values[MATMUL_ID_SWIZZLE] >= 1 && point->values[MATMUL_ID_SWIZZLE] <= 65536;
}

static bool unroll_divides(const wfi_point *point)
{
    const uint32_t unroll = point->values[MATMUL_ID_UNROLL];
    return unroll > 0 && point->values[MATMUL_ID_TILE_K] % unroll == 0;
}

static bool switches_off_or_on(const wfi_point *point)
{
    return point->values[MATMUL_ID_DOUBLE_BUFFER] <= 1 && point->values[MATMUL_ID_PAIRS] <= 1 &&
           point->values[MATMUL_ID_SERPENTINE] <= 3;
}

static bool split_k_positive(const wfi_point *point)
{
    return point->values[MATMUL_ID_SPLIT_K] >= 1 && point->values[MATMUL_ID_SPLIT_K] <= 4096;
}

/* What a work-item moves of a tile waits in its registers; beyond this, compilers take minutes. */
bool wfi_matmul_few_moved(const wfi_point *point)
{
    const uint32_t *v = point->values;
    const uint64_t elements =
        (uint64_t)v[MATMUL_ID_TILE_K] * ((uint64_t)v[MATMUL_ID_TILE_M] + v[MATMUL_ID_TILE_N]);
    return elements <= UINT64_C(64) * wfi_matmul_tile_threads(v);
}

wfi_matmul_tile wfi_matmul_vector_tile(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return (wfi_matmul_tile){.m = v[MATMUL_ID_TILE_M],
                             .n = v[MATMUL_ID_TILE_N],
                             .k = v[MATMUL_ID_TILE_K],
                             .split_k = v[MATMUL_ID_SPLIT_K],
                             .stream_k = v[MATMUL_ID_STREAM_K],
                             .swizzle = v[MATMUL_ID_SWIZZLE]};
}

static bool may_stream_k(const wfi_point *point)
{
    const wfi_matmul_tile tile = wfi_matmul_vector_tile(point);
    return wfi_matmul_may_stream_k(point, &tile);
}

const wfi_constraint wfi_matmul_vector_constraints[WFI_VECTOR_CONSTRAINTS] = {
    {WFI_VEC4_REASON ", or that are copied", vec4_or_packed},
    POSITIVE,
    {"tile_k, thread_m and thread_n must be multiples of 4, since values move four at a time",
     wfi_matmul_fours},
    M_DIVIDES,
    N_DIVIDES,
    FEW_REGISTERS,
    {"lanes_m and lanes_n must divide the work-items along rows and columns, since blocks of them "
     "are whole",
     wfi_matmul_lanes_divide},
    {"swizzle must be between 1 and 65536", swizzle_positive},
    {"split_k must be between 1 and 4096", split_k_positive},
    {"unroll must divide tile_k, since it is steps of one tile", unroll_divides},
    {"double_buffer and pairs must be 0 or 1, snake at most 3", switches_off_or_on},
    {"tile_k x (tile_m + tile_n) must be at most 64 a work-item, since they wait in registers",
     wfi_matmul_few_moved},
    {"pack must be 0, or 3 for f32 where the copies fit one storage-buffer binding each and tile_k "
     "divides 64, since they are whole tiles long",
     both_packed},
    {WFI_STREAM_K_REASON, may_stream_k},
};

void wfi_matmul_naive_group(const wfi_point *point, uint32_t size[3])
{
    size[0] = point->values[MATMUL_ID_LOCAL_X];
    size[1] = point->values[MATMUL_ID_LOCAL_Y];
    size[2] = 1;
}

uint32_t wfi_matmul_tile_threads(const uint32_t *values)
{
    return values[MATMUL_ID_TILE_M] / values[MATMUL_ID_THREAD_M] *
           (values[MATMUL_ID_TILE_N] / values[MATMUL_ID_THREAD_N]);
}

void wfi_matmul_tile_group(const wfi_point *point, uint32_t size[3])
{
    size[0] = wfi_matmul_tile_threads(point->values);
    size[1] = size[2] = 1;
}

uint64_t wfi_matmul_register_shared(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return (uint64_t)v[MATMUL_ID_TILE_K] * (v[MATMUL_ID_TILE_M] + 1 + v[MATMUL_ID_TILE_N] + 1) *
           wfi_matmul_sum_size(point->problem->type);
}

/* Registers of 32 bits a work-item of `vector` takes by count: sums, the values that feed them, what is on
 * its way to shared memory, and where that goes if it moves singly. */
uint32_t wfi_matmul_vector_registers(const wfi_point *point)
{
    const uint32_t *v = point->values;
    const wf_type type = point->problem->type;
    const uint32_t words = type == WF_TYPE_F64 ? 2 : 1, place = type == WF_TYPE_I8 ? 8 : 1;
    const uint32_t threads = wfi_matmul_tile_threads(v);
    const uint32_t a = (v[MATMUL_ID_TILE_K] * v[MATMUL_ID_TILE_M] + threads - 1) / threads,
                   b = (v[MATMUL_ID_TILE_K] * v[MATMUL_ID_TILE_N] + threads - 1) / threads;
    const uint32_t wide = wfi_matmul_vec4_bits(&point->problem->matmul);
    return words * (v[MATMUL_ID_THREAD_M] * v[MATMUL_ID_THREAD_N] + a + b +
                    (v[MATMUL_ID_THREAD_M] + v[MATMUL_ID_THREAD_N]) *
                        (v[MATMUL_ID_DOUBLE_BUFFER] ? 2 : 1)) +
           place * ((wide & 1 ? 0 : a) + (wide & 2 ? 0 : b));
}

uint64_t wfi_matmul_tiles_shared(const wfi_point *point, uint32_t padding)
{
    const uint32_t *v = point->values;
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint64_t pads = (p->transpose_a ? 0u : padding) + (p->transpose_b ? 1u : 0u);
    return UINT64_C(2) * v[MATMUL_ID_TILE_K] *
           (v[MATMUL_ID_TILE_M] / 4 + v[MATMUL_ID_TILE_N] / 4 + pads) * 4 *
           wfi_matmul_sum_size(point->problem->type);
}

#define UNIT_REGISTERS 65536 /* of 32 bits, of a compute unit of NVIDIA's */

/* Padding spares bank conflicts of stores. NVIDIA's driver gives all work-groups of a compute unit
 * together no more shared memory than one may have (bench/notes/matmul.md#clocks): there padding
 * that costs a work-group its place is left out. */
static uint32_t padding(const wfi_point *point)
{
    const uint32_t items = wfi_matmul_tile_threads(point->values) *
                           (wfi_matmul_vector_registers(point) + WFI_OTHER_REGISTERS);
    const uint64_t most = point->caps->max_shared_bytes, held = UNIT_REGISTERS / items,
                   padded = wfi_least(held, most / wfi_matmul_tiles_shared(point, 1)),
                   bare = wfi_least(held, most / wfi_matmul_tiles_shared(point, 0));
    return point->caps->vendor_id != WFI_NVIDIA || wfi_is_cpu(point->caps) || bare == padded;
}

uint64_t wfi_matmul_vector_shared(const wfi_point *point)
{
    return wfi_matmul_tiles_shared(point, padding(point));
}

void wfi_matmul_vector_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    wfi_pipeline_constant(desc, MATMUL_ID_PADDED, padding(point));
    wfi_matmul_constants(point, desc);
}

/* -------------------------------------------------------------------------- 8-bit dot products */

static const uint32_t dot_depths[] = {8, 16, 32, 64, 128}, dot_vec4s[] = {0, 1, 2, 3};

const wfi_parameter wfi_matmul_dot_parameters[WFI_DOT_PARAMETERS] = {
    {"tile_m", MATMUL_ID_TILE_M, 32, 5, tiles, "rows of C a work-group computes"},
    {"tile_n", MATMUL_ID_TILE_N, 32, 5, tiles, "columns of C a work-group computes"},
    {"tile_k", MATMUL_ID_TILE_K, 32, 5, dot_depths, "steps of the sum held in shared memory"},
    {"thread_m", MATMUL_ID_THREAD_M, 4, 4, outputs, "rows of C a work-item computes"},
    {"thread_n", MATMUL_ID_THREAD_N, 4, 4, outputs, "columns of C a work-item computes"},
    {"vec4", MATMUL_ID_VEC4, 0, 4, dot_vec4s, "memory moves four at a time: 1 A, 2 B, added"},
};

static bool whole_words(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return v[MATMUL_ID_TILE_M] % 4 == 0 && v[MATMUL_ID_TILE_N] % 4 == 0 &&
           v[MATMUL_ID_TILE_K] % 4 == 0;
}

const wfi_constraint wfi_matmul_dot_constraints[WFI_DOT_CONSTRAINTS] = {
    POSITIVE,
    M_DIVIDES,
    N_DIVIDES,
    FEW_REGISTERS,
    {WFI_VEC4_REASON, vec4_allowed},
    {"tile_m, tile_n and tile_k must be multiples of 4, since a word holds four elements",
     whole_words},
};

uint64_t wfi_matmul_dot_shared(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return (uint64_t)v[MATMUL_ID_TILE_K] * (v[MATMUL_ID_TILE_M] + 1 + v[MATMUL_ID_TILE_N] + 1);
}

/* --------------------------------------------------------------------- one dispatch an element */

static bool few_elements(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double most = point->caps->push_descriptors ? 65536 : 4096;
    return (double)p->m * (double)p->n * (double)p->batch <= most;
}

const wfi_constraint wfi_matmul_dispatch_constraints[1] = {
    {"m x n must be at most 65536, or 4096 without push descriptors, since each element is a "
     "dispatch of its own",
     few_elements},
};

void wfi_matmul_dispatch_group(const wfi_point *point, uint32_t size[3])
{
    (void)point;
    size[0] = size[1] = size[2] = 1;
}

/* --------------------------------------------------------------------------------- square tiles */

void wfi_matmul_square_group(const wfi_point *point, uint32_t size[3])
{
    const uint32_t tile = point->values[MATMUL_ID_TILE_M];
    size[0] = tile <= 1024 ? tile * tile : 0;
    size[1] = size[2] = 1;
}

static uint64_t square_shared(const wfi_point *point, uint64_t depth)
{
    return depth * 2 * (point->values[MATMUL_ID_TILE_M] + UINT64_C(1)) *
           wfi_matmul_sum_size(point->problem->type);
}

uint64_t wfi_matmul_tiled_shared(const wfi_point *point)
{
    return square_shared(point, point->values[MATMUL_ID_TILE_M]);
}

uint64_t wfi_matmul_kstep_shared(const wfi_point *point)
{
    return square_shared(point, point->values[MATMUL_ID_TILE_K]);
}

/* --------------------------------------------------------------------------------------- matvec */

static bool few_vectors(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    return (p->m < p->n ? p->m : p->n) <= WFI_MOST_VECTORS;
}

static bool matvec_vec4_allowed(const wfi_point *point)
{
    return wfi_matmul_vec4_allowed(point, point->values[MATMUL_ID_VEC4]);
}

static bool matvec_split_k_positive(const wfi_point *point)
{
    return point->values[MATMUL_ID_SPLIT_K] >= 1 && point->values[MATMUL_ID_SPLIT_K] <= 4096;
}

static bool matvec_registers(const wfi_point *point)
{
    const uint32_t loads = point->values[MATMUL_ID_LOADS], chunks = point->values[MATMUL_ID_CHUNKS];
    return loads >= 1 && loads <= 16 && chunks >= 1 && chunks <= 16;
}

const wfi_constraint wfi_matmul_matvec_constraints[WFI_MATVEC_CONSTRAINTS] = {
    {"m or n must be at most 8, since every vector's sums live in registers", few_vectors},
    {WFI_VEC4_REASON, matvec_vec4_allowed},
    {"split_k must be between 1 and 4096", matvec_split_k_positive},
    {"loads and chunks must be between 1 and 16, since they live in registers", matvec_registers},
};

bool wfi_matmul_matrix_is_b(const wfi_matmul_problem *p)
{
    return p->m <= p->n;
}

bool wfi_matmul_by_sum(const wfi_matmul_problem *p)
{
    return wfi_matmul_matrix_is_b(p) ? p->transpose_b : !p->transpose_a;
}

void wfi_matmul_matvec_group(const wfi_point *point, uint32_t size[3])
{
    size[0] = point->values[MATMUL_ID_LOCAL_X];
    size[1] = point->values[MATMUL_ID_LOCAL_Y];
    size[2] = 1;
}

uint64_t wfi_matmul_matvec_shared(const wfi_point *point)
{
    return UINT64_C(4) * point->values[MATMUL_ID_LOCAL_X] * point->values[MATMUL_ID_LOCAL_Y] *
           wfi_matmul_sum_size(point->problem->type);
}

uint32_t wfi_matmul_matvec_outputs(const wfi_point *point)
{
    return wfi_matmul_by_sum(&point->problem->matmul) ? point->values[MATMUL_ID_LOCAL_Y]
                                                      : 4 * point->values[MATMUL_ID_LOCAL_X];
}
