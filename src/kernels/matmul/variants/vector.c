/* Large products: vec4 loads, double buffering of tiles and of registers, split-K, stream-K. */
#include "core/arithmetic.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/model.h"
#include "kernels/matmul/tile.h"
#include "kernels/matmul/pack.h"
#include "kernels/matmul/tile_time.h"
#include "kernels/matmul/traffic.h"
#include "kernels/matmul/variants/list.h"
#include "kernels/matmul/vector_blocks.h"

static const uint32_t tiles[] = {16, 32, 64, 128, 256}, depths[] = {4, 8, 16, 32},
                      outputs[] = {4, 8, 16}, vec4s[] = {0, 1, 2, 3, 4, 7},
                      lanes[] = {1, 2, 4, 8, 16}, swizzles[] = {1, 2, 4, 8, 16},
                      split_ks[] = {1, 2, 4, 8, 16, 64}, off_on[] = {0, 1},
                      serpentines[] = {0, 1, 2, 3}, packs[] = {0, 1, 2, 3},
                      stream_ks[] = {0, 1, 2, 4};

static const wfi_parameter parameters[] = {
    WFI_TILE_ROWS(64, tiles),
    WFI_TILE_K_ROW(8, depths),
    WFI_THREAD_ROWS(8, outputs),
    {"vec4", MATMUL_ID_VEC4, 0, WFI_COUNT(vec4s), vec4s,
     "matrices that memory moves four elements at a time, beside copies: the sum of 1 for A, 2 for "
     "B, 4 for C"},
    {"lanes_m", MATMUL_ID_LANES_M, 4, WFI_COUNT(lanes), lanes,
     "work-items along the rows of a block of consecutive ones"},
    {"lanes_n", MATMUL_ID_LANES_N, 8, WFI_COUNT(lanes), lanes,
     "work-items along the columns of a block of consecutive ones"},
    WFI_SWIZZLE_ROW(1, swizzles),
    WFI_SPLIT_K_ROW(split_ks),
    {"double_buffer", MATMUL_ID_DOUBLE_BUFFER, 1, WFI_COUNT(off_on), off_on,
     "1: registers are loaded a step of the sum before they are multiplied"},
    {"pairs", MATMUL_ID_PAIRS, 0, WFI_COUNT(off_on), off_on,
     "1: work-items side by side share columns of C, and every second one rows"},
    {"pack", MATMUL_ID_PACK, 0, WFI_COUNT(packs), packs,
     "operands that are copied to aligned rows first: the sum of 1 for A and 2 for B"},
    {"serpentine", MATMUL_ID_SERPENTINE, 0, WFI_COUNT(serpentines), serpentines,
     "1 to 3: each product shares an operand with the one before it, along rows, along columns, or "
     "in blocks of 4 x 4"},
    {"gathered", MATMUL_ID_GATHERED, 0, WFI_COUNT(off_on), off_on,
     "1: where C moves singly, work-items side by side store elements side by side"},
    {"stream_k", MATMUL_ID_STREAM_K, 0, WFI_COUNT(stream_ks), stream_ks,
     "work-groups a compute unit that share the sums of the tiles that whole waves leave"},
};

/* ---------------------------------------------------------------------------------- constraints */

/* Packed copies have rows of vectors, whatever the operands have. */
static bool vec4_or_packed(const wfi_point *point)
{
    return wfi_matmul_vec4_allowed(point,
                                   point->values[MATMUL_ID_VEC4] & ~point->values[MATMUL_ID_PACK]);
}

static bool swizzle_positive(const wfi_point *point)
{
    return point->values[MATMUL_ID_SWIZZLE] >= 1 && point->values[MATMUL_ID_SWIZZLE] <= 65536;
}

static bool split_k_positive(const wfi_point *point)
{
    return point->values[MATMUL_ID_SPLIT_K] >= 1 && point->values[MATMUL_ID_SPLIT_K] <= 4096;
}

static bool switches_in_range(const wfi_point *point)
{
    return point->values[MATMUL_ID_DOUBLE_BUFFER] <= 1 && point->values[MATMUL_ID_PAIRS] <= 1 &&
           point->values[MATMUL_ID_SERPENTINE] <= 3;
}

/* Whether vectors of a copy could hold elements of two tiles: those of rows along a sum that is no
 * multiple of four long. Copies of both operands lengthen the sum by zeros, one alone cannot. */
static bool copy_straddles(const wfi_matmul_problem *p, uint32_t pack)
{
    const bool by_k = pack == 1 ? !p->transpose_a : p->transpose_b;
    return pack != 3 && by_k && wfi_matmul_units_of(p).k % 4 != 0;
}

static bool may_pack(const wfi_point *point)
{
    const uint32_t pack = point->values[MATMUL_ID_PACK];
    const wf_type type = point->problem->type;
    return pack == 0 ||
           (pack <= 3 && (type == WF_TYPE_F32 || type == WF_TYPE_F64) &&
            64 % point->values[MATMUL_ID_TILE_K] == 0 &&
            !copy_straddles(&point->problem->matmul, pack) && wfi_matmul_can_pack(point, pack));
}

static bool gathers_elements(const wfi_point *point)
{
    const uint32_t gathered = point->values[MATMUL_ID_GATHERED];
    return gathered == 0 || (gathered == 1 && !(point->values[MATMUL_ID_VEC4] & 4));
}

static bool may_stream_k(const wfi_point *point)
{
    const wfi_matmul_tile tile = wfi_matmul_tile_of(point);
    return wfi_matmul_may_stream_k(point, &tile);
}

static const wfi_constraint constraints[] = {
    {WFI_VEC4_REASON ", or that are packed", vec4_or_packed},
    WFI_SIZES_POSITIVE,
    WFI_MULTIPLES_OF_FOUR,
    WFI_THREAD_M_DIVIDES,
    WFI_THREAD_N_DIVIDES,
    WFI_FEW_SUMS,
    WFI_LANES_DIVIDE,
    {"swizzle must be between 1 and 65536", swizzle_positive},
    {"split_k must be between 1 and 4096", split_k_positive},
    {"double_buffer and pairs must be 0 or 1, serpentine at most 3", switches_in_range},
    WFI_FEW_MOVED,
    {"pack must be 0, or up to 3 for f32 and f64 where each copy and each matrix fits one "
     "storage-buffer binding and tile_k divides 64, since copies are whole tiles long; a copy of "
     "one operand alone whose rows run along the sum needs a k that is a multiple of 4",
     may_pack},
    {"gathered must be 0, or 1 where vec4 leaves out C", gathers_elements},
    {WFI_STREAM_K_REASON, may_stream_k},
};

/* ------------------------------------------------------------------------------------- geometry */

static uint64_t shared_bytes(const wfi_point *point)
{
    return wfi_matmul_tiles_shared(point, wfi_matmul_padding(point));
}

/* How rows of an operand's tile lie in shared memory. */
static uint32_t rows_of(const wfi_point *point, uint32_t operand)
{
    if (wfi_matmul_swizzled(point) & operand)
        return MATMUL_ROWS_SWIZZLED;
    return wfi_matmul_padding(point) & operand ? MATMUL_ROWS_PADDED : MATMUL_ROWS_PLAIN;
}

static void constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    wfi_pipeline_constant(desc, MATMUL_ID_ROWS_A, rows_of(point, WFI_PADDED_A));
    wfi_pipeline_constant(desc, MATMUL_ID_ROWS_B, rows_of(point, WFI_PADDED_B));
    wfi_matmul_constants(point, desc);
    wfi_matmul_set_constant(desc, MATMUL_ID_VEC4, wfi_matmul_vec4_moves(point));
}

/* ---------------------------------------------------------------------------------------- model */

static double expect(const wfi_point *point)
{
    return wfi_matmul_times_tiles(point) ? wfi_matmul_tile_time(point) : -1;
}

/* Tuning rows serve a size class; whether the last wave is full depends on the exact size, so
 * stream_k is computed again. */
static void refit(wfi_point *point)
{
    uint32_t *v = point->values;
    v[MATMUL_ID_STREAM_K] =
        v[MATMUL_ID_SPLIT_K] == 1
            ? wfi_matmul_stream_k_for(point, v[MATMUL_ID_TILE_M], v[MATMUL_ID_TILE_N])
            : 0;
}

/* ---------------------------------------------------------------------------- traffic and plans */

static void traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_matmul_tile tile = wfi_matmul_tile_of(point);
    wfi_problem problem;
    const wfi_point packed = wfi_matmul_packed_point(point, &problem);
    wfi_matmul_block_traffic(&packed, out);
    wfi_matmul_count_split(&packed, out);
    wfi_matmul_count_stream_k(&packed, &tile, out);
    wfi_matmul_count_pack(point, point->values[MATMUL_ID_PACK], out);
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_matmul_build_packed(plan, point, params, wfi_matmul_tile_of(point),
                                   point->values[MATMUL_ID_PACK]);
}

const wfi_variant wfi_matmul_vector = {
    .name = "vector",
    .summary = "vec4 loads, double buffering of tiles, sums split over work-groups",
    .source = "",
    .modules = WFI_MODULES_matmul_vector,
    .parameter_count = WFI_COUNT(parameters),
    .parameters = parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .storage_buffers = WF_MATMUL_BINDINGS,
    .push_bytes = sizeof(wfi_matmul_push),
    .shared_bytes = shared_bytes,
    .group_size = wfi_matmul_tile_group,
    .constants = constants,
    .fit = wfi_matmul_fit_vector,
    .expect = expect,
    .refit = refit,
    .build = build,
    .traffic = traffic,
    .access = wfi_matmul_vector_access,
};
