/* Short sums: work-items keep columns of B in registers and go down the rows of a tile. */
#include <math.h>
#include <string.h>

#include "core/arithmetic.h"
#include "kernels/matmul/build.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/model.h"
#include "kernels/matmul/tile.h"
#include "kernels/matmul/traffic.h"
#include "kernels/matmul/variants/list.h"

static const uint32_t local_x[] = {32, 64, 128}, local_y[] = {1, 2, 4},
                      tiles_m[] = {16, 32, 64, 128}, threads_m[] = {1, 2, 4},
                      threads_n[] = {1, 2, 3, 4};

static const wfi_parameter parameters[] = {
    {"local_x", MATMUL_ID_LOCAL_X, 32, WFI_COUNT(local_x), local_x,
     "work-items along the columns of C"},
    {"local_y", MATMUL_ID_LOCAL_Y, 2, WFI_COUNT(local_y), local_y,
     "work-items along the rows of C"},
    {"tile_m", MATMUL_ID_TILE_M, 16, WFI_COUNT(tiles_m), tiles_m,
     "rows of C a work-group computes"},
    {"thread_m", MATMUL_ID_THREAD_M, 1, WFI_COUNT(threads_m), threads_m,
     "rows of C a work-item computes at a time"},
    {"thread_n", MATMUL_ID_THREAD_N, 1, WFI_COUNT(threads_n), threads_n,
     "columns of C a work-item computes, which it keeps of B"},
};

#define MOST_KEPT 128 /* elements of B, of 32 bits, that a work-item has registers for */

/* Steps of the sum, in fours. */
static uint64_t kept(const wfi_point *point)
{
    return (point->problem->matmul.k + 3) / 4 * 4;
}

static bool sizes_positive(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return v[MATMUL_ID_LOCAL_X] >= 1 && v[MATMUL_ID_LOCAL_X] <= 1024 && v[MATMUL_ID_LOCAL_Y] >= 1 &&
           v[MATMUL_ID_LOCAL_Y] <= 1024 && v[MATMUL_ID_TILE_M] >= 1 &&
           v[MATMUL_ID_TILE_M] <= 1024 && v[MATMUL_ID_THREAD_M] >= 1 &&
           v[MATMUL_ID_THREAD_M] <= 8 && v[MATMUL_ID_THREAD_N] >= 1 && v[MATMUL_ID_THREAD_N] <= 8;
}

static bool rows_whole(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return v[MATMUL_ID_TILE_M] % (v[MATMUL_ID_LOCAL_Y] * v[MATMUL_ID_THREAD_M]) == 0;
}

static bool columns_are_kept(const wfi_point *point)
{
    return kept(point) * point->values[MATMUL_ID_THREAD_N] * wfi_matmul_words(point) <= MOST_KEPT;
}

static const wfi_constraint constraints[] = {
    {"local_x and local_y must be between 1 and 1024, tile_m too, thread_m and thread_n between 1 "
     "and 8",
     sizes_positive},
    {"tile_m must be a multiple of local_y x thread_m, since work-items go down it in whole steps",
     rows_whole},
    {"k, in fours, x thread_n must be at most 128 (64 in f64), since a work-item keeps so much of "
     "B in registers",
     columns_are_kept},
};

static uint64_t shared_bytes(const wfi_point *point)
{
    return point->values[MATMUL_ID_TILE_M] * kept(point) *
           wfi_matmul_sum_size(point->problem->type);
}

static void constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    wfi_matmul_constants(point, desc);
    wfi_pipeline_constant(desc, MATMUL_ID_KEPT, (uint32_t)kept(point));
}

static uint32_t tile_n(const wfi_point *point)
{
    return point->values[MATMUL_ID_LOCAL_X] * point->values[MATMUL_ID_THREAD_N];
}

/* ---------------------------------------------------------------------------------------- model */

#define ROWS_AT_ONCE 2 /* of a work-item */
#define MOST_COLUMNS 2 /* of a work-item */
#define LEAST_ROWS 32  /* of a tile */
#define MOST_ROWS 128
#define LEAST_ITEMS 64 /* of a work-group; in 16-bit types twice as many, and two columns only of */
#define MOST_WIDENED 40 /* elements of B kept (bench/notes/matmul.md#outer-f16) */
#define MOST_ITEMS 256
#define LEAST_TILE_M 32 /* of `vector`, where sums are of a few terms */
#define LEAST_TILE_N 64
/* Such tiles took 0.76 to 0.96 of the time of the best point of this variant in 22 of 22 products
 * of f16 and bf16, which predictions do not tell where memory decides
 * (bench/notes/matmul.md#shallow). */
#define BEHIND_TILES 1.4
#define LOADS 2 /* for which a work-group waits, one after the other: columns, rows */
/* An element takes as long to load as this many bytes where work-items side by side read different
 * rows of memory. f64 is left out: its choices were no better (bench/notes/matmul.md#choices). */
#define APART_BYTES 16
/* A multiply-add of f32 takes so many times as long as in tiles, since a load of shared memory
 * feeds few of them. One of f64 takes twice as long itself and hides that
 * (bench/notes/matmul.md#reported-10). */
#define F32_PRODUCT 1.5

static uint32_t registers(const wfi_point *point)
{
    const uint32_t *v = point->values, rows = v[MATMUL_ID_THREAD_M],
                   columns = v[MATMUL_ID_THREAD_N];
    return ((uint32_t)kept(point) * columns + rows * columns + 4 * rows) * wfi_matmul_words(point) +
           WFI_OTHER_REGISTERS + WFI_OTHER_REGISTERS / 2;
}

/* By a device's rates, microseconds. Each wave of work-groups follows the one before and waits for
 * its loads; multiply-adds, reads of shared memory and stores of a compute unit's work-groups
 * follow each other. */
static double predicted(const wfi_point *point, const wfi_rates *r)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint32_t *v = point->values;
    const double units = wfi_matmul_units(point->caps), w = wfi_matmul_words(point),
                 k = (double)kept(point), tile_m = v[MATMUL_ID_TILE_M], n = tile_n(point),
                 m = fmin(tile_m, (double)p->m), /* rows outside are not computed */
        items = v[MATMUL_ID_LOCAL_X] * v[MATMUL_ID_LOCAL_Y],
                 groups = wfi_matmul_tile_count(p, tile_m, n),
                 shared = r->of[w > 1 ? WFI_RATE_SHARED_BYTE_F64 : WFI_RATE_SHARED_BYTE],
                 product = r->of[WFI_RATE_MULTIPLY_ADD] *
                           (point->problem->type == WF_TYPE_F32 ? F32_PRODUCT : 1);
    const double loads = k * v[MATMUL_ID_THREAD_N] + m * k / items,
                 wait = r->of[WFI_RATE_WAVE] + LOADS * loads * r->of[WFI_RATE_NARROW_WAIT],
                 apart = p->transpose_b && w == 1 ? items * v[MATMUL_ID_THREAD_N] * k : 0,
                 group = w * (m * n * k * product + m * v[MATMUL_ID_LOCAL_X] * k * 4 * shared +
                              m * n * r->of[WFI_RATE_OUTPUT]) +
                         apart * APART_BYTES * r->of[WFI_RATE_LOAD_BYTE],
                 work = ceil(groups / (units * wfi_matmul_held(point, items, registers(point)))) *
                            wait +
                        ceil(groups / units) * group,
                 memory = WFI_SEEN_MEMORY * wfi_matmul_least_bytes(point->problem) *
                          r->of[WFI_RATE_MEMORY_BYTE];
    return r->of[WFI_RATE_START] + fmax(memory, work);
}

/* Whether sums are of a few terms and C is as large as a tile of `vector` for those, at least. */
static bool has_tiles(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    return wfi_matmul_is_shallow(point->problem) && p->m >= LEAST_TILE_M && p->n >= LEAST_TILE_N;
}

/* Longer sums and sizes that vary were not measured. */
static bool is_timed(const wfi_point *point)
{
    return wfi_matmul_rates_of(point) && !point->problem->matmul.varies &&
           point->problem->matmul.k <= WFI_SHORT_SUM;
}

static double expect(const wfi_point *point)
{
    return is_timed(point)
               ? predicted(point, wfi_matmul_rates_of(point)) * wfi_matmul_microsecond(point)
               : -1;
}

/* Keeps the trial's point where it takes less than the least time so far. */
static void try_point(wfi_point *point, const wfi_point *trial, double *least)
{
    const uint32_t *v = trial->values, items = v[MATMUL_ID_LOCAL_X] * v[MATMUL_ID_LOCAL_Y];
    const bool widens = wf_type_size(trial->problem->type) < 4;
    if (items < (widens ? 2 * LEAST_ITEMS : LEAST_ITEMS) || items > MOST_ITEMS ||
        (widens && v[MATMUL_ID_THREAD_N] > 1 &&
         kept(trial) * v[MATMUL_ID_THREAD_N] > MOST_WIDENED) ||
        !wfi_point_legal(trial, NULL))
        return;
    const double time = expect(trial);
    if (*least >= 0 && time >= *least)
        return;
    *least = time;
    memcpy(point->values, v, sizeof trial->values);
}

/* Of the sizes that were measured; with three and four columns of a work-item an H200 took up to
 * 1.6 times what is predicted. */
static double fit(wfi_point *point)
{
    wfi_point trial = *point;
    uint32_t *v = trial.values;
    double least = -1;
    if (!is_timed(point))
        return -1;
    v[MATMUL_ID_THREAD_M] = ROWS_AT_ONCE;
    for (uint32_t columns = 1; columns <= MOST_COLUMNS; columns++)
        for (uint32_t rows = LEAST_ROWS; rows <= MOST_ROWS; rows *= 2)
            for (uint32_t y = 0; y < WFI_COUNT(local_y); y++)
                for (uint32_t x = 0; x < WFI_COUNT(local_x); x++) {
                    v[MATMUL_ID_LOCAL_X] = local_x[x];
                    v[MATMUL_ID_LOCAL_Y] = local_y[y];
                    v[MATMUL_ID_TILE_M] = rows;
                    v[MATMUL_ID_THREAD_N] = columns;
                    try_point(point, &trial, &least);
                }
    return has_tiles(point) ? BEHIND_TILES * least : least;
}

/* -------------------------------------------------------------------------------------- traffic */

/* A tile of A is read by its work-group, columns of B by each of the work-items along the rows. */
static void traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint32_t *v = point->values;
    const double m = v[MATMUL_ID_TILE_M], n = tile_n(point);
    const double size = (double)wf_type_size(point->problem->type);
    const double again = size * (double)p->k * (double)p->n * ceil((double)p->m / m) *
                         (double)p->batch * (v[MATMUL_ID_LOCAL_Y] - 1);
    wfi_matmul_tiled_traffic(point, m, n, 0, out);
    out->requested += again;
    out->shared = 0;
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_matmul_build(
        plan, point, params,
        (wfi_matmul_tile){.m = point->values[MATMUL_ID_TILE_M], .n = tile_n(point)});
}

const wfi_variant wfi_matmul_outer = {
    .name = "outer",
    .summary = "short sums: columns of B stay in registers, rows of A in shared memory, and "
               "work-items side by side write C",
    .source = "",
    .modules = WFI_MODULES_matmul_outer,
    .parameter_count = WFI_COUNT(parameters),
    .parameters = parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .storage_buffers = WF_MATMUL_BINDINGS,
    .push_bytes = sizeof(wfi_matmul_push),
    .shared_bytes = shared_bytes,
    .group_size = wfi_matmul_local_group,
    .constants = constants,
    .fit = fit,
    .expect = expect,
    .traffic = traffic,
    .build = build,
};
