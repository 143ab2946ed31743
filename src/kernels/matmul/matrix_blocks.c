/* Which block of the products on matrix units takes least: of few tiles by predicted times, of many
 * by what an H100 and an H200 took. The unit is that of model.h: a flop of the plain variants,
 * which is 1 / (40e12 s) on the H100 that both are fitted to
 * (bench/notes/matmul-matrix-units.md). */
#include "kernels/matmul/matrix_blocks.h"

#include <math.h>
#include <string.h>

#include "core/architectures.h"
#include "core/arithmetic.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matrix_time.h"
#include "kernels/matmul/model.h"
#include "kernels/matmul/pack.h"
#include "kernels/matmul/shape.h"
#include "kernels/matmul/stream_k.h"
#include "kernels/matmul/tile.h"
#include "kernels/matmul/tile_time.h"
#include "kernels/matmul/traffic.h"
#include "profiles/matmul.h"

/* A step is tile_k steps of the sum in one work-group. It takes STEP_TIME (0.15 us), or THIN_TIME
 * where few work-groups read the same bytes, so that these come from memory; LOAD_TIME for each
 * byte that it loads (8.3 ns a KB); and ALONE_TIME for each flop, of all units together, where no
 * other work-group overlaps it. */
#define STEP_TIME 6e6
#define THIN_TIME 2.4e7
#define LOAD_TIME 330.0
#define ALONE_TIME 0.08
#define WAVE_TIME 1.2e8     /* of a wave that follows another, besides its steps: 3 us */
#define BYTE_TIME 13.3      /* of a byte of memory: 3 TB/s */
#define SEEN_BYTES 0.3      /* fraction of the memory's time that steps do not hide */
#define DISPATCH_TIME 1.2e8 /* of another dispatch that waits for the one before: 3 us */
/* Stream-K besides its steps, and each byte of partial tiles, stored and read: 10 us and 2.2 TB/s.
 * Both are a tenth longer, since the times of steps above are a tenth too long where there are
 * several waves. */
#define STREAM_K_TIME 4.4e8
#define PARTIAL_TIME 41.0
#define NARROW_FACTOR 3.0 /* where single elements are loaded in place of vectors */
#define LONG_SUM 1024     /* steps of the sum from which on short steps of i8 cost */
#define I8_STEPS 1.5      /* factor of i8's time in steps of 32 in place of 64 */
#define LEAST_F16X2 2048  /* extents from which on f16x2 was faster than f32 */
#define THIN 16           /* rows or columns of C, at most */
/* B stored by rows along the sum: the columns of a tile from which on products take longer, and so
 * many more that they take twice as long (#rows-of-b there). */
#define FEW_ROWS_OF_B 96
#define ROWS_OF_B 640.0
#define MANY_ROWS 4096 /* rows of C from which on a swizzle of 32 tile rows is better than of 8 */

typedef struct block {
    uint32_t tile_m, tile_n, tile_k, sub_m, sub_n, subs_k;
    uint32_t resident; /* work-groups of it that a compute unit holds */
    double time;       /* of a flop where all of them are there and overlap */
    double saved;      /* fraction of LOAD_TIME that an H100 did not take, from 4096^3 on */
} block;

static const block blocks[] = {
    {128, 256, 48, 64, 64, 1, 1, 0.12, 0},    {128, 256, 32, 64, 64, 1, 1, 0.12, 0},
    {160, 192, 64, 80, 48, 1, 1, 0.111, 0.3}, {128, 192, 64, 64, 48, 1, 1, 0.12, 0},
    {192, 192, 48, 96, 48, 1, 1, 0.12, 0},    {192, 128, 64, 48, 64, 1, 1, 0.124, 0},
    {128, 128, 32, 64, 64, 1, 2, 0.138, 0},   {128, 128, 64, 64, 64, 1, 1, 0.14, 0},
    {64, 128, 32, 32, 64, 1, 3, 0.2, 0},      {128, 64, 64, 64, 64, 4, 2, 0.19, 0},
    {64, 128, 64, 32, 32, 1, 2, 0.19, 0},     {64, 64, 128, 32, 32, 1, 2, 0.25, 0},
    {64, 64, 64, 32, 32, 1, 3, 0.25, 0},      {32, 64, 128, 16, 16, 1, 4, 0.4, 0},
    {32, 64, 64, 16, 16, 1, 4, 0.4, 0},       {32, 32, 64, 16, 16, 1, 8, 0.5, 0},
    {64, 16, 128, 32, 16, 4, 4, 0.6, 0},      {128, 16, 64, 32, 16, 1, 4, 0.7, 0},
    {64, 16, 64, 16, 16, 1, 6, 0.7, 0},       {16, 128, 64, 16, 32, 1, 6, 0.7, 0},
    {16, 64, 64, 16, 16, 1, 6, 0.7, 0},       {160, 128, 32, 80, 64, 1, 2, 0.115, 0},
};
#define NOT_FEW 1        /* so many of the last are for products of many tiles alone */
#define MOST_SHALLOW 640 /* steps of the sum, for 160 x 128 x 32 */

static double largest(double a, double b)
{
    return a > b ? a : b;
}

/* How much longer products take where a tile begins in as many rows of B as it has columns: 1.25
 * times for 256, 1.05 for 128. */
static double rows_of_b(const wfi_matmul_problem *p, const block *b)
{
    return p->transpose_b && b->tile_n > FEW_ROWS_OF_B ? 1 + (b->tile_n - FEW_ROWS_OF_B) / ROWS_OF_B
                                                       : 1;
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
                   count * flops * b->time * short_steps * rows_of_b(p, b));
}

/* Time of full waves, and of a last wave in which units hold fewer work-groups. */
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

/* Time of full waves of one work-group a unit, which then share what is left. */
static double stream_k_time(const wfi_point *point, const block *b)
{
    const wfi_matmul_tile tile = wfi_matmul_tile_of(point);
    const wfi_matmul_stream_k s = wfi_matmul_stream_k_of(point, &tile);
    const double units = wfi_matmul_units(point->caps), full = floor((double)s.tiles / units),
                 left = ceil((double)(s.shared * s.tile_steps) / (double)s.groups);
    return (full * (double)s.tile_steps + left) * step_time(point->problem, b, 1, units) +
           full * WAVE_TIME + STREAM_K_TIME +
           (double)wfi_matmul_partials_bytes(&s, &tile, point->problem->type) * PARTIAL_TIME;
}

/* Time of a block with the point's split_k, pack and stream_k. */
static double block_time(const wfi_point *point, const block *b)
{
    const uint32_t split_k = point->values[MATMUL_ID_SPLIT_K], pack = point->values[MATMUL_ID_PACK];
    const bool shared = point->values[MATMUL_ID_STREAM_K] > 0;
    const wfi_problem *problem = point->problem;
    const wfi_matmul_problem *p = &problem->matmul;
    const double c = (double)p->m * (double)p->n * (double)p->batch;
    const double count =
        ceil((double)p->m / b->tile_m) * ceil((double)p->n / b->tile_n) * (double)p->batch;
    const uint32_t narrow = ~(wfi_matmul_chunk_bits(problem) | pack) & 3;
    const double products = problem->type == WF_TYPE_F32 ? 3 : 1;
    double time =
        products * (shared ? stream_k_time(point, b)
                           : groups_time(point, count * split_k, b, (double)p->k / split_k));
    time = (narrow ? time * NARROW_FACTOR : time) +
           SEEN_BYTES * wfi_matmul_least_bytes(problem) * BYTE_TIME;
    if (split_k > 1)
        time += DISPATCH_TIME + 8.0 * split_k * c * BYTE_TIME;
    if (pack)
        time += DISPATCH_TIME + wfi_matmul_pack_bytes(point, pack) * BYTE_TIME;
    return time;
}

static uint32_t subgroup_for(const wf_caps *caps)
{
    return wfi_matmul_profile_of(caps)->narrow_matrix_subgroups && caps->subgroup_size_control
               ? caps->subgroup_min
               : caps->subgroup_size;
}

/* Whether a subgroup's sums, the fragments that feed them and its loads of a tile fit its
 * registers, where the device is one whose subgroups have a fixed number of them. */
static bool holds_registers(const wfi_point *point)
{
    const uint32_t *v = point->values;
    const double fill = wfi_matmul_profile_of(point->caps)->register_fill;
    const uint32_t element = (uint32_t)wf_type_size(point->problem->type),
                   words = fill > 0 ? wfi_unit_of(point->caps).wave_words : 0;
    if (words == 0)
        return true;
    const uint32_t count = v[MATMUL_ID_TILE_M] / v[MATMUL_ID_SUB_M] * v[MATMUL_ID_TILE_N] /
                           v[MATMUL_ID_SUB_N] * v[MATMUL_ID_SUBS_K];
    const uint32_t sums = v[MATMUL_ID_SUB_M] * v[MATMUL_ID_SUB_N],
                   feeding = (v[MATMUL_ID_SUB_M] + v[MATMUL_ID_SUB_N]) * v[MATMUL_ID_FRAG_K],
                   loads =
                       (v[MATMUL_ID_TILE_M] + v[MATMUL_ID_TILE_N]) * v[MATMUL_ID_TILE_K] / count;
    return sums + (feeding + loads) * element / 4 <= (uint32_t)(fill * words);
}

static void set_block(wfi_point *point, const block *b, uint32_t split_k, uint32_t pack)
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
    v[MATMUL_ID_SUBGROUP] = subgroup_for(point->caps);
    v[MATMUL_ID_SWIZZLE] = point->problem->matmul.m >= MANY_ROWS ? 32 : 8;
    v[MATMUL_ID_SPLIT_K] = split_k;
    v[MATMUL_ID_PACK] = pack;
    v[MATMUL_ID_SUBS_K] = b->subs_k;
    v[MATMUL_ID_STREAM_K] = 0;
}

/* Whether a block was measured to be faster in the problem's type
 * (bench/notes/matmul-matrix-units.md#f16-large, #rows-of-b). */
static bool worth(const block *b, const wfi_problem *problem)
{
    const bool half = problem->type == WF_TYPE_F16 || problem->type == WF_TYPE_F32, /* f16x2 */
        short_types = problem->type == WF_TYPE_F16 || problem->type == WF_TYPE_BF16;
    if (b->tile_m == 160 && b->tile_n == 192)
        return half;
    if (b->tile_m == 192 && b->tile_n == 192)
        return short_types && problem->matmul.transpose_b;
    if (b->tile_m == 160)
        return short_types && problem->matmul.k <= MOST_SHALLOW;
    if (b->tile_m == 192)
        return short_types;
    return b->tile_n != 192 || problem->type != WF_TYPE_I8;
}

static bool has_whole_rows(const wfi_point *point)
{
    return ((wfi_matmul_chunk_bits(point->problem) | point->values[MATMUL_ID_PACK]) & 3) == 3;
}

/* Whether stream-K is possible for the block, as far as it was measured; of rows that begin at any
 * element an H200 took up to twice what is expected (8792x156x9638 B^T 409 us, 201 expected). */
static bool may_share(const wfi_point *point, const block *b)
{
    wfi_point trial = *point;
    trial.values[MATMUL_ID_STREAM_K] = 1;
    const wfi_matmul_tile tile = wfi_matmul_tile_of(&trial);
    return wfi_matmul_profile_of(point->caps)->matrix_units_stream_k && b->resident == 1 &&
           has_whole_rows(point) && point->problem->type != WF_TYPE_F32 &&
           wfi_point_legal(&trial, NULL) && wfi_matmul_stream_k_of(&trial, &tile).groups > 0;
}

/* Sets the faster value of stream_k, and returns the time. */
static double set_stream_k(wfi_point *point, const block *b)
{
    point->values[MATMUL_ID_STREAM_K] = 0;
    const double whole = block_time(point, b);
    if (!may_share(point, b))
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

/* Tuning rows serve a size class; whether the last wave is full depends on the exact size, so
 * stream_k is computed again. */
void wfi_matmul_refit_matrix(wfi_point *point)
{
    point->values[MATMUL_ID_STREAM_K] = 0;
    for (size_t i = 0; i < WFI_COUNT(blocks); i++)
        if (is_block(point, &blocks[i]))
            set_stream_k(point, &blocks[i]);
}

/* Blocks that predicted times decide between: those above, others that few tiles want, and more
 * sizes, so that one of them fills the last wave (bench/notes/matmul-matrix-units.md#waves). */
static const block more_blocks[] = {
    {128, 128, 32, 32, 64, 1, 1, 0, 0}, {128, 128, 64, 32, 64, 1, 1, 0, 0},
    {64, 128, 64, 32, 64, 1, 1, 0, 0},  {128, 64, 64, 32, 32, 1, 1, 0, 0},
    {64, 64, 32, 32, 32, 1, 1, 0, 0},   {64, 64, 64, 32, 32, 2, 1, 0, 0},
    {64, 64, 128, 32, 32, 2, 1, 0, 0},  {32, 64, 128, 16, 32, 4, 1, 0, 0},
    {32, 32, 64, 16, 16, 2, 1, 0, 0},   {32, 32, 128, 16, 16, 4, 1, 0, 0},
    {16, 64, 128, 16, 16, 4, 1, 0, 0},  {192, 160, 64, 48, 80, 1, 1, 0, 0},
    {160, 128, 64, 80, 32, 1, 1, 0, 0}, {128, 160, 64, 32, 80, 1, 1, 0, 0},
    {96, 256, 64, 48, 64, 1, 1, 0, 0},  {96, 192, 64, 48, 48, 1, 1, 0, 0},
    {192, 96, 64, 48, 48, 1, 1, 0, 0},  {128, 96, 64, 32, 48, 1, 1, 0, 0},
    {64, 256, 64, 32, 64, 1, 1, 0, 0},  {64, 192, 64, 32, 48, 1, 1, 0, 0},
    {192, 64, 64, 48, 32, 1, 1, 0, 0},  {96, 96, 64, 48, 48, 2, 1, 0, 0},
    {96, 64, 64, 48, 32, 2, 1, 0, 0},   {64, 96, 64, 32, 48, 2, 1, 0, 0},
    {128, 32, 64, 32, 16, 1, 1, 0, 0},  {64, 32, 128, 32, 16, 4, 1, 0, 0},
    {32, 96, 64, 16, 48, 2, 1, 0, 0},   {64, 160, 64, 32, 80, 2, 1, 0, 0},
    {160, 64, 64, 80, 32, 2, 1, 0, 0},  {96, 160, 64, 48, 80, 2, 1, 0, 0},
    {160, 192, 48, 80, 48, 1, 1, 0, 0},
};
#define MOST_GROUPS 8 /* for a compute unit, of a product whose sum is split */

/* Keeps the trial where it is legal and faster than the best so far. */
static void try_timed(const wfi_point *trial, wfi_point *point, double *best)
{
    if (!holds_registers(trial) || !wfi_point_legal(trial, NULL))
        return;
    const double time = wfi_matmul_matrix_time(trial);
    if (*best >= 0 && time >= *best)
        return;
    *best = time;
    memcpy(point->values, trial->values, sizeof trial->values);
}

/* A block with the most parts of the sum of which each compute unit has no more than one to
 * MOST_GROUPS, and with stream-K where each unit holds one work-group. */
static void try_splits(const block *b, uint32_t pack, wfi_point *point, double *best)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double units = wfi_matmul_units(point->caps),
                 count = wfi_matmul_tile_count(p, b->tile_m, b->tile_n);
    wfi_point trial = *point;
    for (uint32_t groups = 0, split_k = 0; groups <= MOST_GROUPS; groups++) {
        const uint32_t before = split_k;
        split_k = wfi_matmul_split_for(p, count, groups * units);
        set_block(&trial, b, split_k, pack);
        if (split_k > before)
            try_timed(&trial, point, best);
    }
    set_block(&trial, b, 1, pack);
    if (b->time > 0 && may_share(&trial, b)) {
        trial.values[MATMUL_ID_STREAM_K] = 1;
        try_timed(&trial, point, best);
    }
}

/* Tiles of which the last would be all but empty are left out. */
static void try_list(const block *list, size_t count, uint32_t unaligned, wfi_point *point,
                     double *best)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    for (size_t i = 0; i < count; i++) {
        const block *b = &list[i];
        if (b->tile_m >= 4 * p->m + 12 || b->tile_n >= 4 * p->n + 12)
            continue;
        try_splits(b, 0, point, best);
        if (unaligned)
            try_splits(b, unaligned, point, best);
    }
}

/* For sums of a few terms, which are little but the stores of C: short steps, of which none ends
 * far past the sum, and tiles of which a compute unit holds several. With the others beside them
 * the model would take those, whose waves it expects to be shorter than they are
 * (bench/notes/matmul-matrix-units.md#few-terms). */
static const block short_blocks[] = {
    {64, 64, 16, 32, 32, 1, 1, 0, 0},   {64, 128, 16, 32, 32, 1, 1, 0, 0},
    {64, 64, 32, 32, 32, 1, 1, 0, 0},   {64, 128, 32, 32, 32, 1, 1, 0, 0},
    {32, 128, 32, 32, 32, 1, 1, 0, 0},  {128, 32, 32, 32, 32, 1, 1, 0, 0},
    {128, 128, 16, 64, 64, 1, 1, 0, 0},
};
#define LARGE 1     /* so many of the last, which take longer than predicted where they are few: */
#define FEW_LARGE 2 /* less than so many for a compute unit */

static size_t short_count(const wfi_point *point)
{
    const bool few = wfi_matmul_tile_count(&point->problem->matmul, 128, 128) <
                     FEW_LARGE * wfi_matmul_units(point->caps);
    return WFI_COUNT(short_blocks) - (few ? LARGE : 0);
}

static double fit_timed(wfi_point *point, uint32_t unaligned)
{
    double best = -1;
    if (point->problem->matmul.k <= WFI_SHALLOW_SUM)
        try_list(short_blocks, short_count(point), unaligned, point, &best);
    if (best >= 0)
        return best;
    try_list(blocks, WFI_COUNT(blocks) - NOT_FEW, unaligned, point, &best);
    try_list(more_blocks, WFI_COUNT(more_blocks), unaligned, point, &best);
    return best;
}

double wfi_matmul_fit_matrix(wfi_point *point)
{
    const uint32_t unaligned =
        point->problem->type == WF_TYPE_F32 ? 3 : ~wfi_matmul_chunk_bits(point->problem) & 3;
    double best = -1;
    wfi_point trial = *point;
    if (wfi_matmul_times_matrices(point) && wfi_matmul_profile_of(point->caps)->matrix_units) {
        best = fit_timed(point, unaligned);
        if (best >= 0)
            return best;
    }
    for (size_t i = 0; i < WFI_COUNT(blocks); i++)
        for (uint32_t split_k = 1; split_k <= 128; split_k *= 2)
            for (uint32_t copies = 0; copies <= (unaligned ? 1u : 0u); copies++) {
                set_block(&trial, &blocks[i], split_k, copies ? unaligned : 0);
                if (!worth(&blocks[i], point->problem) || !holds_registers(&trial) ||
                    !wfi_point_legal(&trial, NULL))
                    continue;
                const double time = set_stream_k(&trial, &blocks[i]);
                if (best < 0 || time < best) {
                    best = time;
                    memcpy(point->values, trial.values, sizeof trial.values);
                }
            }
    /* f16x2 was faster from 2048^3 on, on the one device where it was timed
     * (bench/notes/matmul.md#loops). */
    const wfi_matmul_profile *profile = wfi_matmul_profile_of(point->caps);
    const wfi_matmul_problem *p = &point->problem->matmul;
    const bool large = p->m >= LEAST_F16X2 && p->n >= LEAST_F16X2 && p->k >= LEAST_F16X2;
    const bool unmeasured = !profile->matrix_units || (point->problem->type == WF_TYPE_F32 &&
                                                       !(large && p->fast && profile->f16x2));
    return unmeasured ? -1 : best;
}
