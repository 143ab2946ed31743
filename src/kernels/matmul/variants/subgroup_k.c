/* Products of few tiles: slices of a work-group sum different parts of k for one tile (sliced-K).
 * */
#include <math.h>

#include "profiles/matmul.h"
#include "kernels/matmul/build.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/model.h"
#include "kernels/matmul/tile.h"
#include "kernels/matmul/tile_time.h"
#include "kernels/matmul/traffic.h"
#include "kernels/matmul/variants/list.h"
#include "core/arithmetic.h"

static const uint32_t tiles[] = {16, 32, 64, 128}, depths[] = {4, 8, 16, 32}, outputs[] = {4, 8},
                      vec4s[] = {0, 1, 2, 3, 4, 5, 6, 7}, lanes[] = {1, 2, 4, 8},
                      split_ks[] = {1, 2, 4, 16, 64, 128}, slices_k[] = {1, 2, 4, 8, 16},
                      off_on[] = {0, 1}, double_buffers[] = {0, 1, 2};

static const wfi_parameter parameters[] = {
    WFI_TILE_ROWS(32, tiles),
    {"tile_k", MATMUL_ID_TILE_K, 8, WFI_COUNT(depths), depths,
     "steps of the sum that a slice of k holds in shared memory"},
    WFI_THREAD_ROWS(4, outputs),
    {"vec4", MATMUL_ID_VEC4, 0, WFI_COUNT(vec4s), vec4s,
     "matrices that memory moves four elements at a time: the sum of 1 for A, 2 for B, 4 for C"},
    {"lanes_m", MATMUL_ID_LANES_M, 4, WFI_COUNT(lanes), lanes,
     "work-items along the rows of a block of consecutive ones"},
    {"lanes_n", MATMUL_ID_LANES_N, 8, WFI_COUNT(lanes), lanes,
     "work-items along the columns of a block of consecutive ones"},
    WFI_SPLIT_K_ROW(split_ks),
    {"slices_k", MATMUL_ID_SLICES_K, 2, WFI_COUNT(slices_k), slices_k,
     "slices of k: parts of the sum that work-items of one work-group make"},
    {"pairs", MATMUL_ID_PAIRS, 0, WFI_COUNT(off_on), off_on,
     "1: work-items side by side share columns of C, and every second one rows"},
    {"per_subgroup", MATMUL_ID_PER_SUBGROUP, 0, WFI_COUNT(off_on), off_on,
     "1: a slice of k is a subgroup and waits for no other"},
    {"double_buffer", MATMUL_ID_DOUBLE_BUFFER, 0, WFI_COUNT(double_buffers), double_buffers,
     "1, 2: registers are loaded a step of the sum before they are multiplied; products follow "
     "along "
     "rows (1) or down columns (2)"},
    {"tail", MATMUL_ID_TAIL, 0, WFI_COUNT(off_on), off_on,
     "1: the steps that are no whole pass of all slices are a pass of their own"},
    {"reverse", MATMUL_ID_REVERSE, 0, WFI_COUNT(off_on), off_on,
     "1: every second execution begins at the end of the sum"},
};

static bool in_range(const wfi_point *point)
{
    return wfi_matmul_sizes_positive(point) && point->values[MATMUL_ID_SPLIT_K] >= 1 &&
           point->values[MATMUL_ID_SPLIT_K] <= 4096 && point->values[MATMUL_ID_PAIRS] <= 1 &&
           point->values[MATMUL_ID_PER_SUBGROUP] <= 1 &&
           point->values[MATMUL_ID_DOUBLE_BUFFER] <= 2 && point->values[MATMUL_ID_TAIL] <= 1 &&
           point->values[MATMUL_ID_REVERSE] <= 1;
}

/* Whether the device has full subgroups of as many work-items as a slice. */
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

/* Compilers crash on slices that are a subgroup of the largest size (core/quirks.c). */
static bool slice_compiles(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    return !(caps->faults & WF_FAULT_FULL_SUBGROUPS) || !point->values[MATMUL_ID_PER_SUBGROUP] ||
           wfi_matmul_tile_threads(point->values) < caps->subgroup_max;
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

static const wfi_constraint constraints[] = {
    {WFI_VEC4_REASON, vec4_allowed},
    {"tile and thread sizes must be between 1 and 1024, split_k between 1 and 4096, pairs, "
     "per_subgroup, tail and reverse 0 or 1, double_buffer at most 2",
     in_range},
    WFI_MULTIPLES_OF_FOUR,
    WFI_THREAD_M_DIVIDES,
    WFI_THREAD_N_DIVIDES,
    WFI_FEW_SUMS,
    WFI_LANES_DIVIDE,
    {"subgroup_k must be a power of two up to 16, since all slices add up equal shares of the sums",
     slices_k_power},
    WFI_FEW_MOVED,
    {"with per_subgroup a slice of k must have as many work-items as a full subgroup",
     slice_is_subgroup},
    {"with per_subgroup the driver's compiler crashes on slices of the largest subgroup (its known "
     "fault; see wavefit devices)",
     slice_compiles},
};

static void group_size(const wfi_point *point, uint32_t size[3])
{
    size[0] = wfi_matmul_tile_threads(point->values) * point->values[MATMUL_ID_SLICES_K];
    size[1] = size[2] = 1;
}

static uint32_t subgroup_size(const wfi_point *point)
{
    return point->values[MATMUL_ID_PER_SUBGROUP] && point->caps->subgroup_size_control
               ? wfi_matmul_tile_threads(point->values)
               : 0;
}

static void constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    wfi_matmul_constants(point, desc);
    desc->full_subgroups = point->values[MATMUL_ID_PER_SUBGROUP] != 0;
}

/* As in matmul_subgroup_k.comp: the tiles' place later holds four sums of each work-item of all
 * slices but one, or is made as large as those. */
static uint64_t shared_bytes(const wfi_point *point)
{
    const uint32_t *v = point->values;
    const uint64_t four = 4 * wfi_matmul_sum_size(point->problem->type),
                   kept = v[MATMUL_ID_SLICES_K] *
                          wfi_matmul_tiles_shared(point, WFI_PADDED_A | WFI_PADDED_B) / 2,
                   others = v[MATMUL_ID_SLICES_K] > 1 ? v[MATMUL_ID_SLICES_K] - 1 : 1,
                   sums = others * wfi_matmul_tile_threads(v) * four;
    return kept + (kept < sums ? sums : four);
}

/* ---------------------------------------------------------------------------------------- model */

/* What an H100 measured best where work-groups of one slice would leave most of a compute unit
 * empty, or the last of few waves (bench/notes/matmul.md#subgroup-k-overhead). */
typedef struct k_block {
    wfi_matmul_block sizes;
    uint32_t slices_k;
    bool per_subgroup;
    uint32_t double_buffer;
    bool tail; /* a short tail by itself is faster than one more pass */
} k_block;

#define UNIT_SUBGROUPS 8 /* of 32 work-items with 255 registers each, in a compute unit */

/* Tiles of 64 x 64 with two slices, a subgroup each, where one wave of work-groups is nearly full.
 * */
static const k_block *one_wave_for(const wfi_matmul_problem *p, double units)
{
    static const k_block two = {{64, 64, 8, 8, 16}, 2, true, 2, false};
    const double waves = 2 * wfi_matmul_tile_count(p, 64, 64) / (units * UNIT_SUBGROUPS);
    return waves <= 1 && waves >= 0.94 ? &two : NULL;
}

static const k_block *k_block_for(const wfi_matmul_problem *p, double units)
{
    static const k_block fewest = {{16, 32, 16, 4, 4}, 4, true, 0, true},
                         fewest_long = {{16, 32, 16, 4, 4}, 8, true, 0, false},
                         few = {{32, 64, 16, 8, 8}, 4, true, 0, false},
                         more = {{32, 64, 8, 8, 8}, 4, true, 1, false},
                         some = {{64, 128, 16, 8, 8}, 2, false, 0, true},
                         deep = {{64, 64, 16, 8, 8}, 4, false, 0, false};
    const uint32_t vec4 = wfi_matmul_vec4_bits(p);
    if (p->k < 64 || p->m < 16 || p->n < 32)
        return NULL;
    if ((double)p->k >= 16 * fmax((double)p->m, (double)p->n))
        return p->m >= 64 && p->n >= 64 ? &deep : NULL;
    if (wfi_matmul_tile_count(p, 16, 32) * 4 <= 9 * units)
        return p->k >= 2048 ? &fewest_long : &fewest;
    if (wfi_matmul_tile_count(p, 32, 64) <= units)
        return &few;
    if (wfi_matmul_tile_count(p, 32, 64) <= 3 * units && vec4 == 7)
        return &more;
    const double large = wfi_matmul_tile_count(p, 64, 128);
    if (large <= units && large * 4 >= units * 3 && (vec4 & 6) == 6)
        return &some;
    return vec4 == 7 ? one_wave_for(p, units) : NULL;
}

/* Parts of the sum that give every compute unit a work-group, each as long as in the product of
 * 64 x 64 x 65536 that was measured. */
#define LEAST_SLICE_STEPS 512.0

static uint32_t split_k_for(const wfi_matmul_problem *p, const k_block *b, double units)
{
    const double count = wfi_matmul_tile_count(p, b->sizes.tile_m, b->sizes.tile_n);
    uint32_t split_k = 1;
    while (split_k * 2 * count <= units && (double)p->k / (split_k * 2) >= LEAST_SLICE_STEPS)
        split_k *= 2;
    return split_k;
}

/* Tiles along a large matrix, for 9 to 16 rows of C and for 16 columns. split_k fills the device.
 * */
static const k_block *thin_block_for(const wfi_matmul_problem *p)
{
    static const k_block rows = {{16, 64, 16, 4, 8}, 4, true, 0, false},
                         columns = {{64, 16, 16, 8, 4}, 4, true, 0, false};
    const double large = fmax((double)p->m, (double)p->n);
    if (wfi_matmul_vec4_bits(p) != 7 || p->transpose_a || p->transpose_b || p->batch != 1 ||
        p->k < 2048 || large < 2048)
        return NULL;
    if (p->m >= 9 && p->m <= 16)
        return &rows;
    return p->n == 16 && p->k >= 4096 && large >= 4096 ? &columns : NULL;
}

#define MOST_THIN_SPLIT_K 8
#define LEAST_THIN_STEPS 256 /* of the sum */

static void set_thin(wfi_point *point, double units)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    uint32_t *v = point->values, split_k = 1;
    const double count = wfi_matmul_tile_count(p, v[MATMUL_ID_TILE_M], v[MATMUL_ID_TILE_N]);
    while (split_k < MOST_THIN_SPLIT_K && split_k * 2 * count <= 4 * units &&
           p->k / (split_k * 2) >= LEAST_THIN_STEPS)
        split_k *= 2;
    v[MATMUL_ID_SPLIT_K] = split_k;
    v[MATMUL_ID_REVERSE] = wfi_matmul_least_bytes(point->problem) >= WFI_LEAST_REVERSED;
}

/* Blocks that predicted times decide between, by slices of k. */
static const wfi_matmul_block timed_blocks[] = {
    {16, 32, 16, 4, 4}, {16, 32, 16, 4, 4}, {16, 32, 16, 4, 4}, {16, 32, 8, 4, 4},
    {32, 32, 16, 4, 8}, {32, 32, 16, 4, 8}, {16, 64, 16, 4, 8}, {16, 64, 16, 4, 8},
    {64, 16, 16, 8, 4}, {32, 64, 16, 8, 8}, {32, 64, 8, 8, 8},  {32, 64, 16, 8, 8},
    {64, 32, 8, 8, 8},  {64, 64, 8, 8, 16}, {64, 64, 8, 8, 16}, {32, 32, 8, 4, 8},
    {16, 32, 8, 4, 4},  {32, 16, 8, 4, 4},  {16, 16, 8, 4, 4},  {32, 64, 8, 8, 4},
    {64, 32, 8, 4, 8},  {16, 64, 8, 8, 4},
};
static const uint8_t timed_slices[WFI_COUNT(timed_blocks)] = {2, 4, 8, 8, 4, 8, 4, 8,  4, 4, 4,
                                                              2, 4, 2, 4, 8, 4, 4, 16, 2, 2, 2};

/* So many of the last take longer than predicted where sums are long. Those of two slices do in
 * other cases, too: of the shortest sums, of many tiles, and where they store many columns one by
 * one; those of sixteen where there are more tiles than units
 * (bench/notes/matmul.md#more-blocks). */
#define NOT_LONG 6
#define MOST_STEPS 1024
#define LEAST_OF_TWO 96       /* steps, */
#define MOST_STEPS_OF_TWO 416 /* of more, blocks of 8x8 take less time (#tall-tiles) */
#define MOST_OF_TWO 12        /* tiles for a compute unit */
#define MOST_NARROW 4 /* likewise tiles of 32x16 (8288x48x784, an H200: 28.8 us, others 24.9) */

/* For a compute unit. */
static double most_tiles(const wfi_matmul_block *b, uint32_t slices)
{
    if (slices == 16)
        return 1;
    if (slices == 2)
        return MOST_OF_TWO;
    return b->tile_m > b->tile_n ? MOST_NARROW : INFINITY;
}

static bool is_within(const wfi_point *point, const wfi_matmul_block *b, uint32_t slices)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const bool vectors = b->thread_n < 8 || point->values[MATMUL_ID_VEC4] & 4;
    if (slices == 2 && (p->k < LEAST_OF_TWO || p->k > MOST_STEPS_OF_TWO || !vectors))
        return false;
    return p->k <= MOST_STEPS && wfi_matmul_tile_count(p, b->tile_m, b->tile_n) <=
                                     most_tiles(b, slices) * wfi_matmul_units(point->caps);
}

/* One column of high tiles is slower than `vector` (11008x32x4096, an H200). */
static bool is_one_column(const wfi_point *point, const wfi_matmul_block *b)
{
    return b->tile_m > b->tile_n && b->thread_m * b->thread_n == 64 &&
           point->problem->matmul.n <= b->tile_n && point->values[MATMUL_ID_VEC4] == 7;
}

/* Blocks of 8x16 in two slices are 3 % faster with registers loaded a step before, down columns
 * (H200, 33 pairs of points of 20 drawn products; 8902x760x752 288 and 245 us). Single elements
 * leave no registers for it, as they are counted. */
static bool buffers(const wfi_point *trial, const wfi_matmul_block *b, uint32_t slices)
{
    return b->thread_n == 16 && slices == 2 && (trial->values[MATMUL_ID_VEC4] & 3) == 3;
}

/* Slices that are no subgroups were measured beside others that are. */
static bool complete_timed(wfi_point *trial, size_t index)
{
    const wfi_matmul_block *b = &timed_blocks[index];
    const uint32_t rows = b->tile_m / b->thread_m, columns = b->tile_n / b->thread_n;
    uint32_t *v = trial->values;
    if ((index + NOT_LONG >= WFI_COUNT(timed_blocks) &&
         !is_within(trial, b, timed_slices[index])) ||
        is_one_column(trial, b) || !trial->caps->full_subgroups)
        return false;
    v[MATMUL_ID_SLICES_K] = timed_slices[index];
    v[MATMUL_ID_PER_SUBGROUP] = rows * columns == 32;
    v[MATMUL_ID_DOUBLE_BUFFER] = buffers(trial, b, timed_slices[index]) ? 2 : 0;
    v[MATMUL_ID_LANES_N] = columns < 8 ? columns : 8;
    v[MATMUL_ID_LANES_M] = rows < 32 / v[MATMUL_ID_LANES_N] ? rows : 32 / v[MATMUL_ID_LANES_N];
    return true;
}

static const wfi_matmul_blocks timed = {timed_blocks, WFI_COUNT(timed_blocks), 0, complete_timed};

#define GAIN 0.6 /* of time, against `register`, where these blocks were measured */

static double fit(wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const wfi_matmul_profile *profile = wfi_matmul_profile_of(point->caps);
    const double units = wfi_matmul_units(point->caps);
    uint32_t *v = point->values;
    v[MATMUL_ID_VEC4] = wfi_matmul_vec4_bits(p);
    v[MATMUL_ID_PAIRS] = profile->pairs;
    if (!profile->subgroup_k || point->problem->type != WF_TYPE_F32)
        return -1;
    const k_block *thin = thin_block_for(p), *chosen = thin ? thin : k_block_for(p, units);
    if (!thin && wfi_matmul_times_tiles(point))
        return wfi_matmul_fastest_block(point, &timed);
    if (!chosen)
        return -1;
    wfi_matmul_set_block(point, &chosen->sizes);
    v[MATMUL_ID_SLICES_K] = chosen->slices_k;
    v[MATMUL_ID_PER_SUBGROUP] = chosen->per_subgroup;
    v[MATMUL_ID_DOUBLE_BUFFER] = chosen->double_buffer;
    v[MATMUL_ID_LANES_M] = chosen->sizes.thread_n > 8 || chosen->sizes.tile_n == 16 ? 8 : 4;
    v[MATMUL_ID_LANES_N] = 32 / v[MATMUL_ID_LANES_M];
    if (!chosen->per_subgroup && chosen->sizes.tile_m == chosen->sizes.tile_n) {
        v[MATMUL_ID_SPLIT_K] = split_k_for(p, chosen, units);
        if (v[MATMUL_ID_SPLIT_K] * 2 * wfi_matmul_tile_count(p, 64, 64) <= units)
            return -1;
    }
    const uint64_t pass = (uint64_t)chosen->slices_k * chosen->sizes.tile_k, tail = p->k % pass;
    v[MATMUL_ID_TAIL] = chosen->tail && tail > 0 && tail * 4 <= pass;
    if (thin)
        set_thin(point, units);
    if (!wfi_point_legal(point, NULL))
        return -1;
    if (thin) /* less than what panel expects */
        return wfi_matmul_start_time(point) + 1.1 * wfi_matmul_memory_time(point);
    const double groups = chosen->slices_k * (double)v[MATMUL_ID_SPLIT_K];
    return fmax(wfi_matmul_block_time(point, 256.0 / groups) * GAIN,
                1.25 * wfi_matmul_memory_time(point));
}

static double expect(const wfi_point *point)
{
    return wfi_matmul_times_tiles(point) ? wfi_matmul_tile_time(point) : -1;
}

/* ---------------------------------------------------------------------------------------- plans */

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const uint32_t *v = point->values;
    return wfi_matmul_build(plan, point, params,
                            (wfi_matmul_tile){.m = v[MATMUL_ID_TILE_M],
                                              .n = v[MATMUL_ID_TILE_N],
                                              .k = v[MATMUL_ID_TILE_K] * v[MATMUL_ID_SLICES_K],
                                              .split_k = v[MATMUL_ID_SPLIT_K],
                                              .reverse = v[MATMUL_ID_REVERSE] != 0});
}

static void traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_matmul_tile tile = {.m = point->values[MATMUL_ID_TILE_M],
                                  .n = point->values[MATMUL_ID_TILE_N]};
    wfi_matmul_memory_traffic(point, &tile, out);
}

const wfi_variant wfi_matmul_subgroup_k = {
    .name = "subgroup_k",
    .summary = "as vector, for few tiles: slices of a work-group sum parts of k for one tile",
    .source = "",
    .modules = WFI_MODULES_matmul_subgroup_k,
    .parameter_count = WFI_COUNT(parameters),
    .parameters = parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .storage_buffers = WF_MATMUL_BINDINGS,
    .push_bytes = sizeof(wfi_matmul_push),
    .shared_bytes = shared_bytes,
    .group_size = group_size,
    .subgroup_size = subgroup_size,
    .constants = constants,
    .fit = fit,
    .expect = expect,
    .traffic = traffic,
    .access = wfi_matmul_vector_access,
    .build = build,
};
