/* Matrix products on matrix units: search space, geometry and plans. */
#include "core/bfloat16.h"
#include "kernels/matmul/matmul.h"

static const uint32_t tiles[] = {16, 32, 64, 128, 160, 192, 256}, depths[] = {16, 32, 48, 64, 128},
                      blocks[] = {16, 32, 48, 64, 80}, fragments[] = {8, 16, 32},
                      subgroups[] = {8, 16, 32, 64}, swizzles[] = {1, 4, 8, 32},
                      splits[] = {1, 2, 4, 8, 16, 32, 64, 128}, packs[] = {0, 1, 2, 3},
                      subs_k_counts[] = {1, 2, 4}, stream_k_counts[] = {0, 1, 2};

const wfi_parameter wfi_matmul_cooperative_parameters[WFI_COOPERATIVE_PARAMETERS] = {
    {"tile_m", MATMUL_ID_TILE_M, 32, 7, tiles, "rows of C a work-group computes"},
    {"tile_n", MATMUL_ID_TILE_N, 32, 7, tiles, "columns of C a work-group computes"},
    {"tile_k", MATMUL_ID_TILE_K, 32, 5, depths, "steps of the sum held in shared memory"},
    {"sub_m", MATMUL_ID_SUB_M, 16, 5, blocks, "rows of C a subgroup computes"},
    {"sub_n", MATMUL_ID_SUB_N, 16, 5, blocks, "columns of C a subgroup computes"},
    {"frag_m", MATMUL_ID_FRAG_M, 16, 3, fragments, "rows of C of one matrix instruction"},
    {"frag_n", MATMUL_ID_FRAG_N, 16, 3, fragments, "columns of C of one matrix instruction"},
    {"frag_k", MATMUL_ID_FRAG_K, 16, 3, fragments, "steps of the sum of one matrix instruction"},
    {"subgroup", MATMUL_ID_SUBGROUP, 32, 4, subgroups, "work-items a subgroup"},
    {"swizzle", MATMUL_ID_SWIZZLE, 8, 4, swizzles,
     "tile rows that neighbouring work-groups go down"},
    {"split_k", MATMUL_ID_SPLIT_K, 1, 8, splits,
     "parts of the sum that different work-groups make"},
    {"pack", MATMUL_ID_PACK, 0, 4, packs, "operands copied to aligned rows first: 1 A, 2 B, added"},
    {"subs_k", MATMUL_ID_SUBS_K, 1, 3, subs_k_counts,
     "subgroups that share a block's steps of the sum"},
    {"stream_k", MATMUL_ID_STREAM_K, 0, 3, stream_k_counts,
     "work-groups a compute unit that share the sums of the tiles that whole rounds of them leave"},
};

/* ----------------------------------------------------------------------------- what devices offer */

/* VkComponentTypeKHR of the factors and of the sums. */
static void components(wf_type type, uint32_t *factor, uint32_t *sum)
{
    *factor = type == WF_TYPE_I8     ? (uint32_t)VK_COMPONENT_TYPE_SINT8_KHR
              : type == WF_TYPE_BF16 ? WFI_COMPONENT_BFLOAT16
                                     : (uint32_t)VK_COMPONENT_TYPE_FLOAT16_KHR;
    *sum = type == WF_TYPE_I8 ? (uint32_t)VK_COMPONENT_TYPE_SINT32_KHR
                              : (uint32_t)VK_COMPONENT_TYPE_FLOAT32_KHR;
}

const wf_cooperative_shape *wfi_matmul_shape(const wf_caps *caps, wf_type type, uint32_t m,
                                             uint32_t n, uint32_t k)
{
    uint32_t factor, sum;
    components(type, &factor, &sum);
    return wfi_caps_shape(caps, factor, sum, m, n, k);
}

static bool arithmetic(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    return point->problem->type == WF_TYPE_F16 || point->problem->type == WF_TYPE_F32
               ? caps->f16_arithmetic && caps->f16_storage
           : point->problem->type == WF_TYPE_BF16 ? caps->bf16 && caps->bf16_cooperative
                                                  : caps->int8_arithmetic;
}

/* ------------------------------------------------------------------------------------ constraints */

static bool extents_positive(const wfi_point *point)
{
    const uint32_t *v = point->values;
    static const uint32_t extents[] = {MATMUL_ID_TILE_M, MATMUL_ID_TILE_N, MATMUL_ID_TILE_K,
                                       MATMUL_ID_SUB_M,  MATMUL_ID_SUB_N,  MATMUL_ID_FRAG_M,
                                       MATMUL_ID_FRAG_N, MATMUL_ID_FRAG_K, MATMUL_ID_SUBGROUP};
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
        if (v[extents[i]] == 0 || v[extents[i]] > 1024)
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

/* Sums beyond these spill. */
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

static bool f16x2_allowed(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    return point->problem->type != WF_TYPE_F32 ||
           (p->fast && p->batch == 1 && point->values[MATMUL_ID_PACK] == 3);
}

wfi_matmul_tile wfi_matmul_cooperative_tile(const wfi_point *point)
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
    const wfi_matmul_tile tile = wfi_matmul_cooperative_tile(point);
    return wfi_matmul_may_stream_k(point, &tile);
}

const wfi_constraint wfi_matmul_cooperative_constraints[WFI_COOPERATIVE_CONSTRAINTS] = {
    {"the device must have arithmetic of the type", arithmetic},
    {"sizes must be between 1 and 1024, swizzle up to 65536, splits up to 4096 and subs_k up to 64",
     extents_positive},
    {"frag_m x frag_n x frag_k must be a shape that the device offers for the type", shape_offered},
    {"sub_m and sub_n must divide the tile, since subgroups compute whole blocks", subs_divide},
    {"the fragment must divide sub_m, sub_n and each of subs_k parts of tile_k, since instructions "
     "are whole",
     fragments_divide},
    {"a fragment's stored rows must be multiples of 16 bytes, since tiles move in such chunks",
     whole_chunks},
    {"sub_m x sub_n must be at most 192 a work-item, since the sums live in registers", few_sums},
    {"subgroup must be a size that the device can be held to", subgroup_offered},
    {"pack must be at most 3, and the copies must fit one storage-buffer binding each", packs_fit},
    {"f32 is split only where math is fast, pack is 3 and the batch is one product", f16x2_allowed},
    {WFI_STREAM_K_REASON, may_stream_k},
};

/* --------------------------------------------------------------------------------------- geometry */

void wfi_matmul_cooperative_group(const wfi_point *point, uint32_t size[3])
{
    const uint32_t *v = point->values;
    size[0] = v[MATMUL_ID_TILE_M] / v[MATMUL_ID_SUB_M] *
              (v[MATMUL_ID_TILE_N] / v[MATMUL_ID_SUB_N]) * v[MATMUL_ID_SUBS_K] *
              v[MATMUL_ID_SUBGROUP];
    size[1] = size[2] = 1;
}

uint32_t wfi_matmul_cooperative_subgroup(const wfi_point *point)
{
    return point->caps->subgroup_size_control ? point->values[MATMUL_ID_SUBGROUP] : 0;
}

/* As in matmul_shared.glsl. */
uint64_t wfi_matmul_cooperative_shared(const wfi_point *point)
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

void wfi_matmul_cooperative_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    const uint32_t wide = wfi_matmul_chunk_bits(point->problem) | point->values[MATMUL_ID_PACK];
    wfi_matmul_constants(point, desc);
    wfi_pipeline_constant(desc, MATMUL_ID_VEC4, wide);
}

/* ------------------------------------------------------------------------------------------ plans */

wf_result wfi_matmul_cooperative_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_matmul_build_packed(plan, point, params, wfi_matmul_cooperative_tile(point),
                                   point->values[MATMUL_ID_PACK]);
}
