/* The model of the matrix-unit variant, in the unit of matmul_model.c, which is a flop of the plain
 * variants: 1 / (40e12 s) on the H100 that both are fitted to
 * (bench/notes/matmul-matrix-units.md). */
#include <math.h>
#include <string.h>

#include "core/vendors.h"
#include "kernels/matmul/matmul.h"

#define STEP_TIME 6e6   /* of a step of the sum in one work-group, 0.15 us, */
#define THIN_TIME 2.4e7 /* where few groups read the same, so that its bytes come from memory, */
#define LOAD_TIME 330.0 /* of each byte that it loads: 8.3 ns a KB */
#define ALONE_TIME 0.08 /* and of its flops where no group overlaps them, all units together */
#define WAVE_TIME 1.2e8 /* of groups that follow others, besides their steps: 3 us */
#define BYTE_TIME 13.3  /* of a byte of memory: 3 TB/s */
#define SEEN_BYTES 0.3  /* share of what memory takes that steps do not hide */
#define DISPATCH_TIME 1.2e8 /* of another dispatch that waits for the one before: 3 us */
/* Of tiles that groups share, besides steps, and of a byte of their parts, stored and read: 10 us and 2.2 TB/s, more
 * by the tenth that these times of steps are too long where there are several waves. */
#define STREAM_K_TIME 4.4e8
#define PARTIAL_TIME 41.0
#define NARROW_FACTOR 3.0 /* for loads of single elements in place of vectors */
#define LONG_SUM 1024
#define I8_STEPS 1.5 /* for i8 in steps of 32 in place of 64 */
#define LEAST_SPLIT_K 2048
#define THIN 16        /* rows or columns of C, at most */
#define MANY_ROWS 4096 /* from here on swizzles of 32 tile rows are better than of 8 */

/* A tile; the share of its time that `resident` groups of it on each unit save by overlapping is in
 * time, that of a flop with all of them there. */
typedef struct block {
    uint32_t tile_m, tile_n, tile_k, sub_m, sub_n, subs_k;
    uint32_t resident;
    double time;
    double saved; /* of LOAD_TIME: as an H100 measured it beside the others, from 4096^3 on */
} block;

static const block blocks[] = {
    {128, 256, 48, 64, 64, 1, 1, 0.12, 0},    {128, 256, 32, 64, 64, 1, 1, 0.12, 0},
    {160, 192, 64, 80, 48, 1, 1, 0.111, 0.3}, {128, 192, 64, 64, 48, 1, 1, 0.12, 0},
    {128, 128, 32, 64, 64, 1, 2, 0.138, 0},   {128, 128, 64, 64, 64, 1, 1, 0.14, 0},
    {64, 128, 32, 32, 64, 1, 3, 0.2, 0},      {128, 64, 64, 64, 64, 4, 2, 0.19, 0},
    {64, 128, 64, 32, 32, 1, 2, 0.19, 0},     {64, 64, 128, 32, 32, 1, 2, 0.25, 0},
    {64, 64, 64, 32, 32, 1, 3, 0.25, 0},      {32, 64, 128, 16, 16, 1, 4, 0.4, 0},
    {32, 64, 64, 16, 16, 1, 4, 0.4, 0},       {32, 32, 64, 16, 16, 1, 8, 0.5, 0},
    {64, 16, 128, 32, 16, 4, 4, 0.6, 0},      {128, 16, 64, 32, 16, 1, 4, 0.7, 0},
    {64, 16, 64, 16, 16, 1, 6, 0.7, 0},       {16, 128, 64, 16, 32, 1, 6, 0.7, 0},
    {16, 64, 64, 16, 16, 1, 6, 0.7, 0},
};

static double largest(double a, double b)
{
    return a > b ? a : b;
}

/* Time of one step of the sum in each of `count` groups that a unit holds. */
static double step_time(const wfi_problem *problem, const block *b, double count, double units)
{
    const wfi_matmul_problem *p = &problem->matmul;
    const double flops = 2.0 * b->tile_m * b->tile_n * b->tile_k * units;
    const double element = problem->type == WF_TYPE_I8 ? 1 : 2;
    const double bytes = element * (b->tile_m + b->tile_n) * b->tile_k;
    const double begin = p->m <= THIN || p->n <= THIN ? THIN_TIME : STEP_TIME;
    const double short_steps =
        problem->type == WF_TYPE_I8 && b->tile_k < 64 && p->k >= LONG_SUM ? I8_STEPS : 1;
    return largest(begin + bytes * LOAD_TIME * (1 - b->saved) + flops * ALONE_TIME,
                   count * flops * b->time * short_steps);
}

/* Full waves of all resident groups, and a last wave in which units hold fewer. */
static double groups_time(const wfi_point *point, double groups, const block *b, double k)
{
    const wf_caps *caps = point->caps;
    const double units = wfi_matmul_units(caps);
    const double slots = units * b->resident, full = floor(groups / slots);
    const double last = ceil((groups - full * slots) / units);
    const double waves = full + (last > 0 ? 1 : 0);
    return ceil(k / b->tile_k) * (full * step_time(point->problem, b, b->resident, units) +
                                  (last > 0 ? step_time(point->problem, b, last, units) : 0)) +
           (waves - 1) * WAVE_TIME;
}

/* Full waves of one group a unit, which then share what is left. */
static double stream_k_time(const wfi_point *point, const block *b)
{
    const wfi_matmul_tile tile = wfi_matmul_cooperative_tile(point);
    const wfi_matmul_stream_k s = wfi_matmul_stream_k_of(point, &tile);
    const double units = wfi_matmul_units(point->caps), full = floor((double)s.tiles / units),
                 left = ceil((double)(s.shared * s.tile_steps) / (double)s.groups);
    return (full * (double)s.tile_steps + left) * step_time(point->problem, b, 1, units) +
           full * WAVE_TIME + STREAM_K_TIME +
           (double)wfi_matmul_partials_bytes(&s, &tile, point->problem->type) * PARTIAL_TIME;
}

/* Of the point's splits, copies and stream_k. */
static double block_time(const wfi_point *point, const block *b)
{
    const uint32_t splits = point->values[MATMUL_ID_SPLIT_K], pack = point->values[MATMUL_ID_PACK];
    const bool shared = point->values[MATMUL_ID_STREAM_K] > 0;
    const wfi_problem *problem = point->problem;
    const wfi_matmul_problem *p = &problem->matmul;
    const double c = (double)p->m * (double)p->n * (double)p->batch;
    const double tiles =
        ceil((double)p->m / b->tile_m) * ceil((double)p->n / b->tile_n) * (double)p->batch;
    const uint32_t narrow = ~(wfi_matmul_chunk_bits(problem) | pack) & 3;
    const double products = problem->type == WF_TYPE_F32 ? 3 : 1;
    double time =
        products * (shared ? stream_k_time(point, b)
                           : groups_time(point, tiles * splits, b, (double)p->k / splits));
    time = (narrow ? time * NARROW_FACTOR : time) +
           SEEN_BYTES * wfi_matmul_least_bytes(problem) * BYTE_TIME;
    if (splits > 1)
        time += DISPATCH_TIME + 8.0 * splits * c * BYTE_TIME;
    if (pack)
        time += DISPATCH_TIME + wfi_matmul_pack_bytes(point, pack) * BYTE_TIME;
    return time;
}

static void set_block(wfi_point *point, const block *b, uint32_t splits, uint32_t pack)
{
    uint32_t *v = point->values;
    const wf_cooperative_shape *s = wfi_matmul_shape(point->caps, point->problem->type, 0, 0, 0);
    v[MATMUL_ID_TILE_M] = b->tile_m;
    v[MATMUL_ID_TILE_N] = b->tile_n;
    v[MATMUL_ID_TILE_K] = b->tile_k;
    v[MATMUL_ID_SUB_M] = b->sub_m;
    v[MATMUL_ID_SUB_N] = b->sub_n;
    v[MATMUL_ID_FRAG_M] = s ? s->m : 16;
    v[MATMUL_ID_FRAG_N] = s ? s->n : 16;
    v[MATMUL_ID_FRAG_K] = s ? s->k : 16;
    v[MATMUL_ID_SUBGROUP] = point->caps->subgroup_size;
    v[MATMUL_ID_SWIZZLE] = point->problem->matmul.m >= MANY_ROWS ? 32 : 8;
    v[MATMUL_ID_SPLIT_K] = splits;
    v[MATMUL_ID_PACK] = pack;
    v[MATMUL_ID_SUBS_K] = b->subs_k;
    v[MATMUL_ID_STREAM_K] = 0;
}

/* Whether a block was measured to be faster in the problem's type
 * (bench/notes/matmul-matrix-units.md#f16-large). */
static bool worth(const block *b, const wfi_problem *problem)
{
    const bool half = problem->type == WF_TYPE_F16 || problem->type == WF_TYPE_F32; /* split */
    if (b->tile_m == 160)
        return half;
    return b->tile_n != 192 || problem->type != WF_TYPE_I8;
}

/* Whether groups may share what whole rounds of the block's tiles leave, as far as that was measured. */
static bool may_stream_k(const wfi_point *point, const block *b)
{
    wfi_point trial = *point;
    trial.values[MATMUL_ID_STREAM_K] = 1;
    const wfi_matmul_tile tile = wfi_matmul_cooperative_tile(&trial);
    return point->caps->vendor_id == WFI_NVIDIA && b->resident == 1 &&
           point->problem->type != WF_TYPE_F32 && wfi_point_legal(&trial, NULL) &&
           wfi_matmul_stream_k_of(&trial, &tile).groups > 0;
}

/* Sets `stream_k` as is faster, and returns the time. */
static double shared_or_not(wfi_point *point, const block *b)
{
    point->values[MATMUL_ID_STREAM_K] = 0;
    const double whole = block_time(point, b);
    if (!may_stream_k(point, b))
        return whole;
    point->values[MATMUL_ID_STREAM_K] = 1;
    const double shared = block_time(point, b);
    point->values[MATMUL_ID_STREAM_K] = shared < whole;
    return shared < whole ? shared : whole;
}

static bool is_block(const wfi_point *point, const block *b)
{
    const uint32_t *v = point->values;
    return v[MATMUL_ID_TILE_M] == b->tile_m && v[MATMUL_ID_TILE_N] == b->tile_n &&
           v[MATMUL_ID_TILE_K] == b->tile_k && v[MATMUL_ID_SUB_M] == b->sub_m &&
           v[MATMUL_ID_SUB_N] == b->sub_n;
}

/* Of two sizes of one class one may fill its last round. */
void wfi_matmul_cooperative_refit(wfi_point *point)
{
    point->values[MATMUL_ID_STREAM_K] = 0;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (is_block(point, &blocks[i]))
            shared_or_not(point, &blocks[i]);
}

double wfi_matmul_cooperative_fit(wfi_point *point)
{
    const uint32_t unaligned =
        point->problem->type == WF_TYPE_F32 ? 3 : ~wfi_matmul_chunk_bits(point->problem) & 3;
    double best = -1;
    wfi_point trial = *point;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        for (uint32_t splits = 1; splits <= 128; splits *= 2)
            for (uint32_t copies = 0; copies <= (unaligned ? 1u : 0u); copies++) {
                set_block(&trial, &blocks[i], splits, copies ? unaligned : 0);
                if (!worth(&blocks[i], point->problem) || !wfi_point_legal(&trial, NULL))
                    continue;
                const double time = shared_or_not(&trial, &blocks[i]);
                if (best < 0 || time < best) {
                    best = time;
                    memcpy(point->values, trial.values, sizeof trial.values);
                }
            }
    /* A CPU has no matrix units: whatever its driver offers is plain code. Split f32 was faster on
     * the one device where it was timed from 2048^3 on (bench/notes/matmul.md#loops). */
    const wfi_matmul_problem *p = &point->problem->matmul;
    const bool large = p->m >= LEAST_SPLIT_K && p->n >= LEAST_SPLIT_K && p->k >= LEAST_SPLIT_K;
    const bool unmeasured =
        wfi_is_cpu(point->caps) || (point->problem->type == WF_TYPE_F32 &&
                                    !(large && p->fast && point->caps->vendor_id == WFI_NVIDIA));
    return unmeasured ? -1 : best;
}
