/* Matrix units: cooperative, and f16x2, which multiplies f32 as two f16 an element. */
#include "core/arithmetic.h"
#include "core/element.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matrix_blocks.h"
#include "kernels/matmul/matrix_time.h"
#include "kernels/matmul/model.h"
#include "kernels/matmul/pack.h"
#include "kernels/matmul/shape.h"
#include "kernels/matmul/stream_k.h"
#include "kernels/matmul/tile.h"
#include "kernels/matmul/traffic.h"
#include "kernels/matmul/variants/list.h"
#include "profiles/matmul.h"

static const uint32_t tiles[] = {16, 32, 64, 128, 160, 192, 256}, depths[] = {16, 32, 48, 64, 128},
                      extents[] = {16, 32, 48, 64, 80}, fragments[] = {8, 16, 32},
                      subgroups[] = {8, 16, 32, 64}, swizzles[] = {1, 4, 8, 32},
                      split_ks[] = {1, 2, 4, 8, 16, 32, 64, 128}, packs[] = {0, 1, 2, 3},
                      subs_k_counts[] = {1, 2, 4}, stream_ks[] = {0, 1, 2};

static const wfi_parameter parameters[] = {
    WFI_TILE_ROWS(32, tiles),
    WFI_TILE_K_ROW(32, depths),
    {"sub_m", MATMUL_ID_SUB_M, 16, WFI_COUNT(extents), extents, "rows of C a subgroup computes"},
    {"sub_n", MATMUL_ID_SUB_N, 16, WFI_COUNT(extents), extents, "columns of C a subgroup computes"},
    {"frag_m", MATMUL_ID_FRAG_M, 16, WFI_COUNT(fragments), fragments,
     "rows of C of one matrix instruction"},
    {"frag_n", MATMUL_ID_FRAG_N, 16, WFI_COUNT(fragments), fragments,
     "columns of C of one matrix instruction"},
    {"frag_k", MATMUL_ID_FRAG_K, 16, WFI_COUNT(fragments), fragments,
     "steps of the sum of one matrix instruction"},
    {"subgroup", MATMUL_ID_SUBGROUP, 32, WFI_COUNT(subgroups), subgroups, "work-items a subgroup"},
    WFI_SWIZZLE_ROW(8, swizzles),
    WFI_SPLIT_K_ROW(split_ks),
    {"pack", MATMUL_ID_PACK, 0, WFI_COUNT(packs), packs,
     "operands that are copied to aligned rows first: the sum of 1 for A and 2 for B"},
    {"subs_k", MATMUL_ID_SUBS_K, 1, WFI_COUNT(subs_k_counts), subs_k_counts,
     "subgroups that share a block's steps of the sum"},
    {"stream_k", MATMUL_ID_STREAM_K, 0, WFI_COUNT(stream_ks), stream_ks,
     "work-groups a compute unit that share the sums of the tiles that whole waves leave"},
};

/* ---------------------------------------------------------------------------------- constraints */

static bool arithmetic(const wfi_point *point)
{
    const wfi_element *element = wfi_element_of(point->problem->type);
    return element->multiplied && element->multiplied(point->caps);
}

static bool sizes_in_range(const wfi_point *point)
{
    const uint32_t *v = point->values;
    static const uint32_t sizes[] = {MATMUL_ID_TILE_M, MATMUL_ID_TILE_N, MATMUL_ID_TILE_K,
                                     MATMUL_ID_SUB_M,  MATMUL_ID_SUB_N,  MATMUL_ID_FRAG_M,
                                     MATMUL_ID_FRAG_N, MATMUL_ID_FRAG_K, MATMUL_ID_SUBGROUP};
    for (size_t i = 0; i < WFI_COUNT(sizes); i++)
        if (v[sizes[i]] == 0 || v[sizes[i]] > 1024)
            return false;
    return v[MATMUL_ID_SWIZZLE] >= 1 && v[MATMUL_ID_SWIZZLE] <= 65536 &&
           v[MATMUL_ID_SPLIT_K] >= 1 && v[MATMUL_ID_SPLIT_K] <= 4096 && v[MATMUL_ID_SUBS_K] >= 1 &&
           v[MATMUL_ID_SUBS_K] <= 64;
}

static bool shape_offered(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return wfi_matmul_shape(point->caps, point->problem->type, v[MATMUL_ID_FRAG_M],
                            v[MATMUL_ID_FRAG_N], v[MATMUL_ID_FRAG_K]) != NULL;
}

static bool subs_divide(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return v[MATMUL_ID_TILE_M] % v[MATMUL_ID_SUB_M] == 0 &&
           v[MATMUL_ID_TILE_N] % v[MATMUL_ID_SUB_N] == 0;
}

static bool fragments_divide(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return v[MATMUL_ID_SUB_M] % v[MATMUL_ID_FRAG_M] == 0 &&
           v[MATMUL_ID_SUB_N] % v[MATMUL_ID_FRAG_N] == 0 &&
           v[MATMUL_ID_TILE_K] % (v[MATMUL_ID_FRAG_K] * v[MATMUL_ID_SUBS_K]) == 0;
}

static bool whole_chunks(const wfi_point *point)
{
    const uint32_t *v = point->values;
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint32_t chunk = wfi_matmul_chunk(point->problem->type);
    return (p->transpose_a ? v[MATMUL_ID_FRAG_M] : v[MATMUL_ID_FRAG_K]) % chunk == 0 &&
           (p->transpose_b ? v[MATMUL_ID_FRAG_K] : v[MATMUL_ID_FRAG_N]) % chunk == 0 &&
           v[MATMUL_ID_FRAG_M] * v[MATMUL_ID_FRAG_N] % 4 == 0 && v[MATMUL_ID_FRAG_N] % 4 == 0;
}

/* More sums spill. */
static bool few_sums(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return v[MATMUL_ID_SUB_M] * v[MATMUL_ID_SUB_N] <= 192 * v[MATMUL_ID_SUBGROUP];
}

static bool subgroup_offered(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const uint32_t size = point->values[MATMUL_ID_SUBGROUP];
    return size == caps->subgroup_size ||
           (caps->subgroup_size_control && size >= caps->subgroup_min &&
            size <= caps->subgroup_max && (size & (size - 1)) == 0);
}

static bool packs_fit(const wfi_point *point)
{
    const uint32_t bits = point->values[MATMUL_ID_PACK];
    return bits <= 3 && wfi_matmul_can_pack(point, bits);
}

/* Elements of rows that begin anywhere are put together from whole chunks of memory. */
static bool has_chunks(const wfi_point *point)
{
    const uint32_t whole = wfi_matmul_chunk_bits(point->problem) | point->values[MATMUL_ID_PACK];
    uint64_t elements[3];
    wfi_matmul_extents(&point->problem->matmul, elements);
    for (uint32_t operand = 0; operand < 2; operand++)
        if (!(whole & 1u << operand) && elements[operand] < wfi_matmul_chunk(point->problem->type))
            return false;
    return true;
}

static bool f16x2_allowed(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    return point->problem->type != WF_TYPE_F32 ||
           (p->fast && p->batch == 1 && point->values[MATMUL_ID_PACK] == 3);
}

static bool may_stream_k(const wfi_point *point)
{
    const wfi_matmul_tile tile = wfi_matmul_tile_of(point);
    return wfi_matmul_may_stream_k(point, &tile);
}

static const wfi_constraint constraints[] = {
    {"the device must have arithmetic of the type", arithmetic},
    {"sizes must be between 1 and 1024, swizzle up to 65536, split_k up to 4096 and subs_k up to "
     "64",
     sizes_in_range},
    {"frag_m x frag_n x frag_k must be a shape that the device offers for the type", shape_offered},
    {"sub_m and sub_n must divide the tile, since subgroups compute whole blocks", subs_divide},
    {"the fragment must divide sub_m, sub_n and each of subs_k parts of tile_k, since instructions "
     "are whole",
     fragments_divide},
    {"a fragment's stored rows must be multiples of 16 bytes, since tiles move 16 bytes at a time",
     whole_chunks},
    {"sub_m x sub_n must be at most 192 a work-item, since subgroups keep their sums in registers",
     few_sums},
    {"subgroup must be a size that the device can be held to", subgroup_offered},
    {"pack must be at most 3, and each copy and each matrix must fit one storage-buffer binding",
     packs_fit},
    {"a matrix must have 16 bytes where its rows are not multiples of 16 bytes, which is what is "
     "loaded at a time",
     has_chunks},
    {"f16x2 is for fast math alone, with pack 3 and a batch of one product", f16x2_allowed},
    {WFI_STREAM_K_REASON, may_stream_k},
};

/* ------------------------------------------------------------------------------------- geometry */

static void group_size(const wfi_point *point, uint32_t size[3])
{
    const uint32_t *v = point->values;
    size[0] = v[MATMUL_ID_TILE_M] / v[MATMUL_ID_SUB_M] *
              (v[MATMUL_ID_TILE_N] / v[MATMUL_ID_SUB_N]) * v[MATMUL_ID_SUBS_K] *
              v[MATMUL_ID_SUBGROUP];
    size[1] = size[2] = 1;
}

static uint32_t subgroup_size(const wfi_point *point)
{
    return point->caps->subgroup_size_control ? point->values[MATMUL_ID_SUBGROUP] : 0;
}

/* As in matmul_shared.glsl: the tiles of A and B, in whose place the sums lie later. */
static uint64_t shared_bytes(const wfi_point *point)
{
    const uint32_t *v = point->values;
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint64_t chunk = wfi_matmul_chunk(point->problem->type);
    const uint64_t m = v[MATMUL_ID_TILE_M], n = v[MATMUL_ID_TILE_N], k = v[MATMUL_ID_TILE_K];
    const uint64_t a = p->transpose_a ? k * (m / chunk + 1) : m * (k / chunk + 1),
                   b = p->transpose_b ? n * (k / chunk + 1) : k * (n / chunk + 1);
    const uint64_t sums = m / v[MATMUL_ID_SUB_M] * (n / v[MATMUL_ID_SUB_N]) * v[MATMUL_ID_SUBS_K] *
                          v[MATMUL_ID_FRAG_M] * (v[MATMUL_ID_SUB_N] / 4 + 2);
    return 16 * (a + b > sums ? a + b : sums);
}

static void constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    const uint32_t vec4 = wfi_matmul_chunk_bits(point->problem) | point->values[MATMUL_ID_PACK];
    wfi_matmul_constants(point, desc);
    wfi_pipeline_constant(desc, MATMUL_ID_VEC4, vec4);
}

/* ---------------------------------------------------------------------------------------- model */

#define BEHIND 1.01 /* of the time on matrix units: plain tiles are chosen where these cannot be */

double wfi_matmul_least_plain_time(const wfi_point *point)
{
    wfi_point trial = *point;
    if (!wfi_matmul_times_matrices(point) || !wfi_matmul_profile_of(point->caps)->matrix_units)
        return 0;
    trial.variant = &wfi_matmul_cooperative;
    wfi_point_defaults(&trial);
    const double time = wfi_matmul_fit_matrix(&trial);
    return time >= 0 ? BEHIND * time : 0;
}

static double expect(const wfi_point *point)
{
    return wfi_matmul_times_matrices(point) ? wfi_matmul_matrix_time(point) : -1;
}

/* ---------------------------------------------------------------------------------------- plans */

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_matmul_build_packed(plan, point, params, wfi_matmul_tile_of(point),
                                   point->values[MATMUL_ID_PACK]);
}

/* Of f16x2's fixup, which scales sums back where work-groups share tiles, nobody has counted. */
static void traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_matmul_tile tile = wfi_matmul_tile_of(point);
    if (point->problem->type != WF_TYPE_F32 || tile.stream_k == 0)
        wfi_matmul_memory_traffic(point, &tile, out);
}

/* What both have in common. */
#define MATRIX_ROW                                                                                 \
    .parameter_count = WFI_COUNT(parameters), .parameters = parameters,                            \
    .constraint_count = WFI_COUNT(constraints), .constraints = constraints,                        \
    .needs = WFI_NEEDS_COOPERATIVE_MATRIX | WFI_NEEDS_FULL_SUBGROUPS,                              \
    .push_bytes = sizeof(wfi_matmul_push), .shared_bytes = shared_bytes, .group_size = group_size, \
    .subgroup_size = subgroup_size, .constants = constants, .fit = wfi_matmul_fit_matrix,          \
    .expect = expect, .refit = wfi_matmul_refit_matrix, .traffic = traffic,                        \
    .access = wfi_matmul_tile_access, .build = build

const wfi_variant wfi_matmul_cooperative = {
    .name = "cooperative",
    .summary = "matrix units: each subgroup multiplies fragments of tiles in shared memory",
    .source = "",
    .modules = WFI_MODULES_matmul_cooperative,
    .second = WFI_MODULES_matmul_stream_k,
    .few_steps = WFI_MODULES_matmul_few_steps,
    .any_rows = {WFI_MODULES_matmul_any_rows, WFI_MODULES_matmul_any_stream_k,
                 WFI_MODULES_matmul_any_few_steps},
    MATRIX_ROW,
    .storage_buffers = WF_MATMUL_BINDINGS,
};

const wfi_variant wfi_matmul_f16x2 = {
    .name = "f16x2",
    .summary = "f32 in two f16 numbers an element, three products on matrix units; math fast only",
    .source = "Ootomo, Yokota, Recovering single precision accuracy from Tensor Cores, 2022",
    .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_cooperative_f16x2},
    .second = {[WF_TYPE_F32] = &wfi_spv_matmul_stream_k_f16x2},
    MATRIX_ROW,
    .storage_buffers = WF_MATMUL_BINDINGS + 1, /* the last has the exponents */
};
