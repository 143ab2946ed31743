/* Products of few tiles: the row `slices_k`, whose work-groups split sums within. */
#include "kernels/matmul/matmul.h"

static const uint32_t tiles[] = {16, 32, 64, 128}, depths[] = {4, 8, 16, 32}, outputs[] = {4, 8},
                      vec4s[] = {0, 1, 2, 3, 4, 5, 6, 7}, lanes[] = {1, 2, 4, 8},
                      splits[] = {1, 2, 4, 16, 64, 128}, slices_k[] = {1, 2, 4, 8, 16},
                      off_on[] = {0, 1}, tile_buffers[] = {1, 2}, double_buffers[] = {0, 1, 2};

const wfi_parameter wfi_matmul_subgroup_k_parameters[WFI_SUBGROUP_K_PARAMETERS] = {
    {"tile_m", MATMUL_ID_TILE_M, 32, 4, tiles, "rows of C a work-group computes"},
    {"tile_n", MATMUL_ID_TILE_N, 32, 4, tiles, "columns of C a work-group computes"},
    {"tile_k", MATMUL_ID_TILE_K, 8, 4, depths, "steps of the sum a team holds in shared memory"},
    {"thread_m", MATMUL_ID_THREAD_M, 4, 2, outputs, "rows of C a work-item computes"},
    {"thread_n", MATMUL_ID_THREAD_N, 4, 2, outputs, "columns of C a work-item computes"},
    {"vec4", MATMUL_ID_VEC4, 0, 8, vec4s, "memory moves four at a time: 1 A, 2 B, 4 C, added"},
    {"lanes_m", MATMUL_ID_LANES_M, 4, 4, lanes, "work-items of a block of them along rows"},
    {"lanes_n", MATMUL_ID_LANES_N, 8, 4, lanes, "work-items of a block of them along columns"},
    {"split_k", MATMUL_ID_SPLIT_K, 1, 6, splits,
     "parts of the sum that different work-groups make"},
    {"slices_k", MATMUL_ID_SLICES_K, 2, 5, slices_k,
     "parts of the sum that a work-group's items make"},
    {"pairs", MATMUL_ID_PAIRS, 0, 2, off_on,
     "1: work-items side by side share columns of C, and every second one rows"},
    {"tile_buffers", MATMUL_ID_TILE_BUFFERS, 1, 2, tile_buffers,
     "tiles of each operand that a team has"},
    {"per_subgroup", MATMUL_ID_PER_SUBGROUP, 0, 2, off_on,
     "1: a team is a subgroup and waits for no other"},
    {"double_buffer", MATMUL_ID_DOUBLE_BUFFER, 0, 3, double_buffers,
     "1, 2: registers are loaded a step ahead; products along rows, down columns"},
    {"tail", MATMUL_ID_TAIL, 0, 2, off_on, "1: steps that are no whole round by themselves"},
    {"reverse", MATMUL_ID_REVERSE, 0, 2, off_on, "1: every second execution begins at the end"},
};

_Static_assert((int)MATMUL_ID_LANES_M == (int)MATMUL_ID_LANES_M &&
                   (int)MATMUL_ID_LANES_N == (int)MATMUL_ID_LANES_N,
               "vector's constraints read lanes there");

static bool positive(const wfi_point *point)
{
    return wfi_matmul_sizes_positive(point) && point->values[MATMUL_ID_SPLIT_K] >= 1 &&
           point->values[MATMUL_ID_SPLIT_K] <= 4096 && point->values[MATMUL_ID_PAIRS] <= 1 &&
           (point->values[MATMUL_ID_TILE_BUFFERS] == 1 ||
            point->values[MATMUL_ID_TILE_BUFFERS] == 2) &&
           point->values[MATMUL_ID_PER_SUBGROUP] <= 1 &&
           point->values[MATMUL_ID_DOUBLE_BUFFER] <= 2 && point->values[MATMUL_ID_TAIL] <= 1 &&
           point->values[MATMUL_ID_REVERSE] <= 1;
}

/* Whether pipelines have subgroups of a team's work-items, all of them full. */
static bool slice_is_subgroup(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const uint32_t size = wfi_matmul_tile_threads(point->values);
    if (!point->values[MATMUL_ID_PER_SUBGROUP])
        return true;
    if (!caps->full_subgroups || (size & (size - 1)) != 0)
        return false;
    return caps->subgroup_size_control ? size >= caps->subgroup_min && size <= caps->subgroup_max
                                       : size == caps->subgroup_min && size == caps->subgroup_max;
}

static bool divides(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return v[MATMUL_ID_TILE_M] % v[MATMUL_ID_THREAD_M] == 0 &&
           v[MATMUL_ID_TILE_N] % v[MATMUL_ID_THREAD_N] == 0;
}

static bool slices_k_power(const wfi_point *point)
{
    const uint32_t count = point->values[MATMUL_ID_SLICES_K];
    return count >= 1 && count <= 16 && (count & (count - 1)) == 0;
}

static bool vec4_allowed(const wfi_point *point)
{
    const uint32_t bits = point->values[MATMUL_ID_VEC4];
    return bits <= 7 && wfi_matmul_vec4_allowed(point, bits);
}

const wfi_constraint wfi_matmul_subgroup_k_constraints[WFI_SUBGROUP_K_CONSTRAINTS] = {
    {WFI_VEC4_REASON, vec4_allowed},
    {"tile and thread sizes must be between 1 and 1024, splits between 1 and 4096, pairs, "
     "per_subgroup, tail and reverse 0 or 1, double_buffer at most 2, tile_buffers 1 or 2",
     positive},
    {"tile_k, thread_m and thread_n must be multiples of 4, since values move four at a time",
     wfi_matmul_fours},
    {"tile_m and tile_n must be multiples of thread_m and thread_n, since each work-item computes "
     "a whole block",
     divides},
    {"thread_m x thread_n must be at most 256, since the sums live in registers",
     wfi_matmul_few_registers},
    {"lanes_m and lanes_n must divide a team's work-items along rows and columns, since blocks of "
     "them are whole",
     wfi_matmul_lanes_divide},
    {"slices_k must be a power of two up to 16, since their sums meet in equal shares",
     slices_k_power},
    {"tile_k x (tile_m + tile_n) must be at most 64 a work-item, since they wait in registers",
     wfi_matmul_few_moved},
    {"with per_subgroup a team must have as many work-items as a full subgroup", slice_is_subgroup},
};

void wfi_matmul_subgroup_k_group(const wfi_point *point, uint32_t size[3])
{
    size[0] = wfi_matmul_tile_threads(point->values) * point->values[MATMUL_ID_SLICES_K];
    size[1] = size[2] = 1;
}

uint32_t wfi_matmul_subgroup_k_subgroup(const wfi_point *point)
{
    return point->values[MATMUL_ID_PER_SUBGROUP] && point->caps->subgroup_size_control
               ? wfi_matmul_tile_threads(point->values)
               : 0;
}

void wfi_matmul_subgroup_k_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    wfi_matmul_constants(point, desc);
    desc->full_subgroups = point->values[MATMUL_ID_PER_SUBGROUP] != 0;
}

/* As in matmul_subgroup_k.comp: a four an item of every team but one where the tiles have no room for it. */
uint64_t wfi_matmul_subgroup_k_shared(const wfi_point *point)
{
    const uint32_t *v = point->values;
    const uint64_t four = 4 * wfi_matmul_sum_size(point->problem->type),
                   kept = v[MATMUL_ID_SLICES_K] * wfi_matmul_tiles_shared(point, 1) / 2 *
                          v[MATMUL_ID_TILE_BUFFERS],
                   others = v[MATMUL_ID_SLICES_K] > 1 ? v[MATMUL_ID_SLICES_K] - 1 : 1,
                   sums = others * wfi_matmul_tile_threads(v) * four;
    return kept + (kept < sums ? sums : four);
}

wf_result wfi_matmul_subgroup_k_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const uint32_t *v = point->values;
    return wfi_matmul_build(plan, point, params,
                            (wfi_matmul_tile){.m = v[MATMUL_ID_TILE_M],
                                              .n = v[MATMUL_ID_TILE_N],
                                              .k = v[MATMUL_ID_TILE_K] * v[MATMUL_ID_SLICES_K],
                                              .split_k = v[MATMUL_ID_SPLIT_K],
                                              .reverse = v[MATMUL_ID_REVERSE] != 0});
}
