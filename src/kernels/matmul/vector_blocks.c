/* Blocks are chosen from lists by the number of tiles or, where a device's rates are known, by the
 * least predicted time. */
#include "kernels/matmul/vector_blocks.h"

#include <math.h>
#include <string.h>

#include "core/arithmetic.h"
#include "profiles/matmul.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/model.h"
#include "kernels/matmul/published_time.h"
#include "kernels/matmul/stream_k.h"
#include "kernels/matmul/tile.h"
#include "kernels/matmul/tile_time.h"
#include "kernels/matmul/variants/list.h"

/* ------------------------------------------------------------------------------- CPU and others */

/* Of time, against `register` (bench/notes/matmul.md#first-variants). */
#define GAIN 0.7

static const wfi_matmul_block any_blocks[] = {
    {128, 256, 8, 8, 16}, {128, 128, 16, 8, 8}, {128, 128, 8, 8, 8},
    {64, 128, 16, 4, 8},  {64, 64, 16, 4, 4},   {64, 64, 8, 8, 8},
    {32, 64, 16, 4, 4},   {32, 32, 16, 4, 4},   {16, 128, 16, 4, 8},
};

/* Where registers do not suffice for any of those. */
static const wfi_matmul_block small_blocks[] = {
    {64, 64, 8, 4, 4}, {32, 64, 8, 4, 4}, {32, 32, 8, 4, 4}, {64, 64, 4, 4, 4}, {32, 64, 4, 4, 4},
};

/* What lavapipe measured best (bench/notes/tune.md#plans-differ), and SwiftShader by `vector` too:
 * sums lie in memory there, and large blocks read operands least often. */
static const wfi_matmul_block memory_blocks[] = {
    {128, 256, 8, 16, 16}, {256, 128, 8, 16, 16}, {128, 128, 8, 16, 16}, {64, 128, 8, 16, 16},
    {64, 64, 8, 16, 16},   {128, 256, 8, 8, 16},  {64, 128, 8, 16, 8},   {64, 128, 8, 8, 16},
    {128, 128, 8, 8, 8},   {64, 64, 8, 8, 8},     {128, 32, 8, 16, 8},   {32, 128, 8, 8, 16},
    {32, 32, 8, 8, 8},     {128, 16, 8, 8, 8},    {16, 128, 16, 4, 8},
};

/* Words of a block's sums. Larger blocks take lavapipe a second or two longer to compile, which
 * products of fewer operations do not earn back. */
#define MOST_SUMS 256
#define MOST_SUMS_SMALL 128
#define SMALL_FLOPS 1e7

/* The largest power of two that divides value, up to `most`. */
static uint32_t power_within(uint32_t value, uint32_t most)
{
    uint32_t power = 1;
    while (power * 2 <= most && value % (power * 2) == 0)
        power *= 2;
    return power;
}

static void set_lanes(wfi_point *point)
{
    uint32_t *v = point->values;
    v[MATMUL_ID_LANES_N] = power_within(v[MATMUL_ID_TILE_N] / v[MATMUL_ID_THREAD_N], 8);
    v[MATMUL_ID_LANES_M] = power_within(v[MATMUL_ID_TILE_M] / v[MATMUL_ID_THREAD_M], 4);
}

/* Those of 32 work-items: narrow tiles have more along their rows. */
static void set_lanes_of_32(wfi_point *point)
{
    uint32_t *v = point->values;
    set_lanes(point);
    v[MATMUL_ID_LANES_M] =
        power_within(v[MATMUL_ID_TILE_M] / v[MATMUL_ID_THREAD_M], 32 / v[MATMUL_ID_LANES_N]);
}

/* Whether a work-item's registers suffice, if need be without double buffering of registers. */
static bool holds_registers(wfi_point *point)
{
    const uint32_t most = wfi_matmul_most_registers(point, wfi_matmul_tile_threads(point->values));
    if (wfi_matmul_registers(point) > most)
        point->values[MATMUL_ID_DOUBLE_BUFFER] = 0;
    return wfi_matmul_registers(point) <= most;
}

static bool complete(wfi_point *trial)
{
    set_lanes(trial);
    return holds_registers(trial);
}

static double fit_any_block(wfi_point *point)
{
    /* A work-item has twice the loads under way that one of `register` has, so that half as many
     * work-items hide latency. */
    const double time =
        wfi_matmul_best_block(point, any_blocks, WFI_COUNT(any_blocks), 256, complete);
    return time >= 0
               ? time
               : wfi_matmul_best_block(point, small_blocks, WFI_COUNT(small_blocks), 256, complete);
}

static double fit_memory_block(wfi_point *point)
{
    const uint32_t words = wfi_matmul_words(point);
    const uint32_t most =
        wfi_matmul_flops(point->problem) < SMALL_FLOPS ? MOST_SUMS_SMALL : MOST_SUMS;
    wfi_matmul_block list[WFI_COUNT(memory_blocks)];
    size_t count = 0;
    /* Nothing is under way while the device computes: double buffering more than doubles lavapipe's
     * time (bench/notes/tune.md#another-host). */
    point->values[MATMUL_ID_DOUBLE_BUFFER] = 0;
    for (size_t i = 0; i < WFI_COUNT(memory_blocks); i++)
        if (memory_blocks[i].thread_m * memory_blocks[i].thread_n * words <= most)
            list[count++] = memory_blocks[i];
    return wfi_matmul_best_block(point, list, count, 256, complete);
}

/* ----------------------------------------------------------------------------------------- GPUs */

#define SWIZZLED 6 /* tiles of 64 x 128 for a compute unit, where stream-K shares them */

/* Parts of the sum that give two work-groups a compute unit, each at least LEAST_STEPS long. Where
 * every second unit has a tile, adding the partial sums costs more than they save. */
#define LEAST_STEPS 128.0

static uint32_t split_k_for(const wfi_point *point, double count, double units)
{
    const double k = (double)point->problem->matmul.k;
    uint32_t split_k = 1;
    if (count * 2 > units)
        return 1;
    while (split_k * 2 * count <= 2 * units && k / (split_k * 2) >= LEAST_STEPS && split_k < 512)
        split_k *= 2;
    return split_k;
}

typedef struct gpu_block {
    wfi_matmul_block sizes;
    bool double_buffer;
} gpu_block;

/* What an H100 measured best (bench/notes/matmul.md#loops) by how many tiles of 64 x 128 there are
 * for a compute unit. Double buffering of registers hides latency where few work-groups do. */
static const gpu_block *gpu_block_for(const wfi_point *point, double count, double units)
{
    static const gpu_block thin = {{64, 16, 32, 4, 4}, false}, many = {{64, 128, 8, 8, 8}, false},
                           large = {{128, 128, 8, 8, 16}, true},
                           unaligned = {{128, 128, 8, 8, 16}, false},
                           shallow = {{128, 128, 8, 8, 8}, false},
                           some = {{64, 128, 16, 8, 8}, true},
                           some_unaligned = {{32, 128, 16, 4, 8}, true},
                           deep = {{64, 64, 16, 4, 8}, true}, few = {{32, 64, 32, 4, 4}, true},
                           few_f64 = {{32, 64, 16, 4, 4}, true},
                           fewest_f64 = {{32, 32, 16, 4, 4}, true};
    const wfi_problem *problem = point->problem;
    const wfi_matmul_problem *p = &problem->matmul;
    const bool vec4 = point->values[MATMUL_ID_PACK] || (wfi_matmul_vec4_bits(p) & 3) == 3;
    /* Blocks of 8 x 16 were measured for sums in f32; i8 spills them on vega10, f64 anywhere. */
    const bool small = problem->type == WF_TYPE_F64 || problem->type == WF_TYPE_I8;
    if (p->n <= 16)
        return &thin;
    if (count >= 3 * units && !vec4)
        return small ? &shallow : &unaligned;
    if (count >= 12 * units && problem->type == WF_TYPE_F64 && p->k >= 1024)
        return &shallow;
    if (count >= WFI_MANY_TILES * units || (small && count >= 3 * units) ||
        (count >= SWIZZLED * units && p->k >= WFI_LONG_SUM &&
         wfi_matmul_stream_k_for(point, 64, 128)))
        return &many;
    if (count >= 3 * units)
        return p->k >= WFI_LONG_SUM ? &large : &many;
    if (count * 2 >= 3 * units)
        return wfi_matmul_stream_k_for(point, 128, 128) ? &large : &many;
    if (count * 2 >= units)
        return vec4 ? &some : &some_unaligned;
    if ((double)p->k >= 16 * fmax((double)p->m, (double)p->n))
        return &deep;
    /* The tile of f32 takes more shared memory than there is for f64. */
    if (problem->type == WF_TYPE_F64)
        return count * 8 < units ? &fewest_f64 : &few_f64;
    return &few;
}

static void set_gpu_block(wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double units = wfi_matmul_units(point->caps);
    const double count = wfi_matmul_tile_count(p, 64, 128);
    uint32_t *v = point->values;
    v[MATMUL_ID_PACK] = wfi_matmul_copies_pay(point) ? 3 : 0;
    const gpu_block *chosen = gpu_block_for(point, count, units);
    const wfi_matmul_block *b = &chosen->sizes;
    wfi_matmul_set_block(point, b);
    set_lanes_of_32(point);
    v[MATMUL_ID_DOUBLE_BUFFER] = chosen->double_buffer;
    v[MATMUL_ID_SPLIT_K] =
        split_k_for(point, wfi_matmul_tile_count(p, b->tile_m, b->tile_n), units);
    v[MATMUL_ID_STREAM_K] =
        count * 2 >= 3 * units ? wfi_matmul_stream_k_for(point, b->tile_m, b->tile_n) : 0;
    const bool swizzled = v[MATMUL_ID_STREAM_K] && b->tile_m == 64 && count >= SWIZZLED * units;
    v[MATMUL_ID_SWIZZLE] = count >= WFI_MANY_TILES * units || swizzled ? 8 : 1;
}

/* With deeper tiles the order gained nothing (bench/notes/matmul.md#machine-code). */
static uint32_t serpentine_for(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint32_t *v = point->values;
    if (!wfi_matmul_profile_of(point->caps)->keeps_operands ||
        point->problem->type != WF_TYPE_F32 || v[MATMUL_ID_TILE_K] > 8)
        return 0;
    if (v[MATMUL_ID_THREAD_M] * v[MATMUL_ID_THREAD_N] == 64 && !v[MATMUL_ID_DOUBLE_BUFFER])
        return 3;
    const bool many = wfi_matmul_tile_count(p, 64, 128) >= 3 * wfi_matmul_units(point->caps);
    return (many || v[MATMUL_ID_STREAM_K]) && p->k >= WFI_LONG_SUM ? 2 : 1;
}

static double fit_gpu_block(wfi_point *point)
{
    wfi_point trial = *point;
    trial.values[MATMUL_ID_VEC4] = 0;
    set_gpu_block(&trial);
    if (!wfi_matmul_fits_registers(&trial) || !wfi_point_legal(&trial, NULL) ||
        !holds_registers(&trial))
        return fit_any_block(point);
    memcpy(point->values, trial.values, sizeof trial.values);
    return wfi_matmul_block_time(&trial, 256);
}

/* Blocks that predicted times decide between. Deeper tiles need fewer barriers; where a step has
 * few multiply-adds, registers are loaded ahead. */
static const wfi_matmul_block timed_blocks[] = {
    {128, 128, 8, 8, 8}, {128, 64, 8, 8, 8},  {64, 128, 8, 8, 8},  {128, 128, 8, 8, 16},
    {64, 128, 16, 8, 8}, {128, 64, 16, 8, 8}, {64, 64, 8, 8, 8},   {64, 64, 16, 4, 8},
    {64, 64, 16, 4, 4},  {32, 128, 16, 4, 8}, {128, 32, 16, 8, 4}, {16, 128, 16, 4, 8},
    {32, 64, 16, 4, 4},  {32, 64, 32, 4, 4},  {64, 32, 16, 4, 4},  {32, 32, 16, 4, 4},
    {32, 32, 32, 4, 4},  {16, 64, 32, 4, 4},  {64, 16, 32, 4, 4},  {32, 64, 8, 4, 4},
    {32, 32, 8, 4, 4},
};
#define NOT_F32 1 /* so many of the first gain nothing in f32 */

/* Likewise for sums of 64 bits, which take so long that short steps and small blocks of a work-item
 * cost little, and more work-groups hide more (bench/notes/matmul.md#more-blocks). */
static const wfi_matmul_block f64_blocks[] = {
    {64, 32, 8, 4, 4},  {16, 32, 8, 4, 4},  {32, 16, 8, 4, 4},  {32, 32, 8, 4, 4},
    {16, 64, 8, 4, 4},  {64, 16, 8, 4, 4},  {32, 64, 8, 4, 4},  {16, 128, 8, 4, 4},
    {128, 16, 8, 4, 4}, {64, 64, 8, 8, 4},  {32, 128, 8, 4, 8}, {128, 32, 8, 8, 4},
    {32, 256, 8, 4, 8}, {256, 64, 8, 8, 8},
};
#define NOT_LONG 1 /* so many of the first take longer than predicted where sums are long, */
#define LONG_F64 (2 * WFI_LONG_SUM) /* as these are */
#define FEW_LOW 3                   /* low tiles for a compute unit */

/* For sums of at most SHALLOW_STEPS in f32 the last two blocks are tried where they take fewer
 * steps past the sum's end; up to NOT_AHEAD_STEPS small blocks load nothing ahead, since their
 * loops are shorter then (bench/notes/matmul.md#choices). */
#define SHALLOW_STEPS WFI_SHORT_SUM
#define NOT_AHEAD_STEPS 128

/* Of longer sums an H100 gains where registers are loaded ahead and in f64; f32 loses elsewhere,
 * and of many tiles (bench/notes/matmul.md#side-by-side, #conflicts). */
#define MOST_GATHERED_STEPS 512

static bool gathers(const wfi_point *point, bool long_sums)
{
    wfi_point trial = *point;
    trial.values[MATMUL_ID_GATHERED] = 1;
    return wfi_matmul_profile_of(point->caps)->gathers_stores && wfi_matmul_gathers(&trial) &&
           (long_sums || point->problem->matmul.k <= MOST_GATHERED_STEPS);
}

static bool complete_timed(wfi_point *trial, size_t index)
{
    const bool f32 = trial->problem->type == WF_TYPE_F32;
    const wfi_matmul_block *b = &timed_blocks[index + (f32 ? NOT_F32 : 0)];
    uint32_t *v = trial->values;
    const uint64_t steps = trial->problem->matmul.k;
    const bool shallow = f32 && steps <= SHALLOW_STEPS && (steps + 7) / 8 % 2 == 1;
    if (b->tile_k == 8 && b->thread_m == 4 && !shallow)
        return false;
    /* In f32 tiles of 128 x 64 gain only where B is transposed
     * (bench/notes/matmul.md#tall-tiles). */
    if (f32 && b->tile_m == 128 && b->tile_n == 64 && b->tile_k == 8 &&
        !trial->problem->matmul.transpose_b)
        return false;
    /* Some of these took 3.6 times their prediction. */
    if (trial->problem->type == WF_TYPE_F64 && b->tile_m == 32 && b->tile_n == 32)
        return false;
    set_lanes_of_32(trial);
    v[MATMUL_ID_DOUBLE_BUFFER] =
        (b->tile_k > 8 || b->thread_n > 8) && (b->tile_m != 64 || b->tile_n != 16) &&
        (!f32 || b->thread_m * b->thread_n > 32 || steps > NOT_AHEAD_STEPS);
    v[MATMUL_ID_STREAM_K] = 0;
    v[MATMUL_ID_GATHERED] =
        gathers(trial, v[MATMUL_ID_DOUBLE_BUFFER] || trial->problem->type == WF_TYPE_F64);
    return true;
}

static bool complete_f64(wfi_point *trial, size_t index)
{
    const wfi_matmul_block *b = &f64_blocks[index];
    const wfi_matmul_problem *p = &trial->problem->matmul;
    if (index < NOT_LONG && p->k > LONG_F64)
        return false;
    /* Low tiles read B once for each row of them: 48x5504x768 in three rows took 1.37 of the time
     * of 64 x 128. Few small ones gain all the same. */
    if (b->tile_m == 16 && p->m > 32 &&
        (b->tile_n >= 64 ||
         wfi_matmul_tile_count(p, b->tile_m, b->tile_n) > FEW_LOW * wfi_matmul_units(trial->caps)))
        return false;
    /* Where there are many columns of them, tiles of 128 x 64 take no longer (7712x144x2624). */
    if (b->tile_m == 128 && b->tile_n == 32 && p->n > 128 && p->k > WFI_LONG_SUM)
        return false;
    set_lanes_of_32(trial);
    trial->values[MATMUL_ID_DOUBLE_BUFFER] = trial->values[MATMUL_ID_STREAM_K] = 0;
    trial->values[MATMUL_ID_GATHERED] = gathers(trial, true);
    /* Storing single elements takes most of a short sum's time. */
    return p->k > WFI_LONG_SUM || trial->values[MATMUL_ID_GATHERED] ||
           trial->values[MATMUL_ID_VEC4] & 4;
}

/* Keeps the fastest of the blocks, with these operands packed, where it is faster than the best so
 * far. */
static void try_blocks(uint32_t pack, const wfi_matmul_blocks *blocks, wfi_point *best,
                       double *least)
{
    wfi_point trial = *best;
    trial.values[MATMUL_ID_PACK] = pack;
    const double time = wfi_matmul_fastest_block(&trial, blocks);
    if (time < 0 || (*least >= 0 && time >= *least))
        return;
    *least = time;
    memcpy(best->values, trial.values, sizeof trial.values);
}

/* With every choice of operands that are copied to rows of vectors first, and with none. */
static double fit_timed_block(wfi_point *point)
{
    static const wfi_matmul_blocks small = {f64_blocks, WFI_COUNT(f64_blocks), 0, complete_f64};
    const bool f32 = point->problem->type == WF_TYPE_F32;
    const size_t first = f32 ? NOT_F32 : 0;
    const wfi_matmul_blocks timed = {timed_blocks + first, WFI_COUNT(timed_blocks) - first,
                                     f32 ? 5 : 3, complete_timed};
    const uint32_t aligned = wfi_matmul_vec4_bits(&point->problem->matmul);
    uint32_t *v = point->values;
    double least = -1;
    v[MATMUL_ID_VEC4] = aligned;
    v[MATMUL_ID_SWIZZLE] = 1;
    v[MATMUL_ID_PAIRS] = wfi_matmul_profile_of(point->caps)->pairs;
    for (uint32_t pack = 0; pack <= 3; pack++) {
        if (pack & aligned)
            continue;
        try_blocks(pack, &timed, point, &least);
        if (point->problem->type == WF_TYPE_F64)
            try_blocks(pack, &small, point, &least);
    }
    v[MATMUL_ID_SERPENTINE] = serpentine_for(point);
    return least;
}

/* Sums of few steps, which are little but the stores of C: tiles of four steps, since longer ones
 * end further past the sums. Those of 64 x 128 gain where storing takes work of its own, the
 * rounding of bf16 (bench/notes/matmul.md#shallow). */
static const wfi_matmul_block shallow_blocks[] = {
    {64, 128, 4, 8, 8}, {32, 128, 4, 4, 8}, {32, 64, 4, 4, 4}};
#define ROUNDED 1 /* so many of the first for bf16 alone */

static bool complete_shallow(wfi_point *trial, size_t index)
{
    uint32_t *v = trial->values;
    if (index < ROUNDED && trial->problem->type != WF_TYPE_BF16)
        return false;
    set_lanes_of_32(trial);
    v[MATMUL_ID_DOUBLE_BUFFER] = index < ROUNDED;
    v[MATMUL_ID_STREAM_K] = v[MATMUL_ID_GATHERED] = 0;
    return true;
}

static double fit_shallow_block(wfi_point *point)
{
    static const wfi_matmul_blocks shallow = {shallow_blocks, WFI_COUNT(shallow_blocks), 0,
                                              complete_shallow};
    const wfi_matmul_profile *profile = wfi_matmul_profile_of(point->caps);
    uint32_t *v = point->values;
    v[MATMUL_ID_VEC4] = wfi_matmul_vec4_bits(&point->problem->matmul);
    v[MATMUL_ID_SWIZZLE] = 1;
    v[MATMUL_ID_SERPENTINE] = profile->keeps_operands;
    v[MATMUL_ID_PACK] = 0;
    v[MATMUL_ID_PAIRS] = profile->pairs;
    return wfi_matmul_fastest_block(point, &shallow);
}

static uint32_t all_registers(const wfi_point *point)
{
    return wfi_matmul_registers(point) + WFI_OTHER_REGISTERS;
}

static bool complete_published(wfi_point *trial)
{
    set_lanes(trial);
    trial->values[MATMUL_ID_DOUBLE_BUFFER] = 1;
    return holds_registers(trial);
}

static double fit_published_block(wfi_point *point)
{
    static const wfi_matmul_block_search search = {.least_thread = 4,
                                                   .least_depth = 4,
                                                   .splits = true,
                                                   .complete = complete_published,
                                                   .registers = all_registers};
    uint32_t *v = point->values;
    v[MATMUL_ID_PAIRS] = wfi_matmul_profile_of(point->caps)->pairs;
    v[MATMUL_ID_VEC4] = wfi_matmul_vec4_bits(&point->problem->matmul);
    return wfi_matmul_published_block(point, &search);
}

double wfi_matmul_fit_vector(wfi_point *point)
{
    const wfi_matmul_profile *profile = wfi_matmul_profile_of(point->caps);
    uint32_t *v = point->values;
    if (wfi_matmul_has_published_time(point))
        return fit_published_block(point);
    const double timed = !wfi_matmul_times_tiles(point)          ? -1
                         : wfi_matmul_is_shallow(point->problem) ? fit_shallow_block(point)
                                                                 : fit_timed_block(point);
    if (timed >= 0)
        return timed;
    double time = profile->registers_are_memory ? fit_memory_block(point) : fit_gpu_block(point);
    if (time < 0 && profile->registers_are_memory)
        time = fit_any_block(point);
    v[MATMUL_ID_PAIRS] = profile->pairs;
    v[MATMUL_ID_SERPENTINE] = serpentine_for(point);
    v[MATMUL_ID_VEC4] = wfi_matmul_vec4_bits(&point->problem->matmul);
    v[MATMUL_ID_GATHERED] = gathers(point, false);
    if (time < 0)
        return time;
    const double start = wfi_matmul_times_matrices(point) ? wfi_matmul_start_time(point) : 0;
    return fmax(wfi_matmul_least_plain_time(point),
                start + fmax(time * GAIN, 1.3 * wfi_matmul_memory_time(point)));
}
