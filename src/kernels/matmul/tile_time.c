/* A step of the sum in a work-group takes the time of its multiply-adds, of the reads of shared
 * memory that feed them and of the loads of its operands; work-groups of a compute unit take turns,
 * and few of them leave gaps. Waves of work-groups follow each other, the last one less full. What
 * it predicted of drawn products, and how often that was the best: bench/notes/matmul.md#shapes. */
#include "kernels/matmul/tile_time.h"

#include <math.h>
#include <string.h>

#include "core/architectures.h"
#include "profiles/matmul.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/pack.h"
#include "kernels/matmul/stream_k.h"
#include "kernels/matmul/tile.h"

#define MANY_TILES 6    /* of 64 x 128, for a compute unit */
#define MOST_EMPTY 1.25 /* times the elements of C that such tiles may have room for */
#define WAVE 32.0       /* work-items of a subgroup that a scheduler takes turns with */
#define MOST_SPLIT_K 64
#define LEAST_STEPS 64    /* of the sum, in each of split_k parts */
#define MOST_GROUPS 8     /* for a compute unit, of a product whose sum is split */
#define SHARERS 2         /* work-groups a compute unit that share tiles by stream-K */
#define SHARED_STEP 1.05  /* of a step's time in f32: they are at different steps of the sum */
#define LEAST_GATHERED 4  /* columns whose stores cost as much as gathered ones, at least */
#define HIDDEN 0.1        /* of the time of work and of memory, of what takes less */
#define GATHERED_COST 0.5 /* of what the same elements cost where none are side by side */
#define TURN 0.03         /* of a wave's time: slices of k add up four sums of each work-item */
#define WHOLE_ROW 64      /* bytes of a row in memory: reading less of it takes no less time */
#define LEAST_REUSE 1000  /* times that an element is used, at least: bench/notes/matmul.md#loops */

static double units_of(const wfi_point *point)
{
    return wfi_matmul_units(point->caps);
}

bool wfi_matmul_copies_pay(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    return (wfi_matmul_vec4_bits(p) & 3) != 3 && point->problem->type == WF_TYPE_F32 &&
           wfi_matmul_tile_count(p, 64, 128) * 2 >= 3 * units_of(point) && p->m >= LEAST_REUSE &&
           p->n >= LEAST_REUSE && wfi_matmul_can_pack(point, 3);
}

static bool knows_rates(const wfi_point *point)
{
    const wfi_problem *problem = point->problem;
    return wfi_matmul_rates_of(point) && !problem->matmul.varies &&
           (problem->type == WF_TYPE_F32 || problem->type == WF_TYPE_F64 ||
            wfi_matmul_is_shallow(problem));
}

/* Stores decide the time of short sums: of single elements, of a few terms, and of f64 in any case,
 * since its vectors take long to store. */
static bool stores_decide(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    return knows_rates(point) &&
           (wfi_matmul_stores_short(p) || wfi_matmul_is_shallow(point->problem) ||
            (point->problem->type == WF_TYPE_F64 && p->k <= WFI_SHORT_SUM));
}

/* Lists of sizes have no blocks for products so thin, or of which so much of the last tiles would
 * be empty. */
static bool is_thin(const wfi_matmul_problem *p)
{
    return p->m < 64 || p->n < 128 ||
           wfi_matmul_tile_count(p, 64, 128) * 64 * 128 >
               MOST_EMPTY * (double)p->m * (double)p->n * (double)p->batch;
}

bool wfi_matmul_times_tiles(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    return knows_rates(point) && (is_thin(p) || stores_decide(point) ||
                                  wfi_matmul_tile_count(p, 64, 128) < MANY_TILES * units_of(point));
}

double wfi_matmul_start_time(const wfi_point *point)
{
    return wfi_matmul_times_tiles(point) || wfi_matmul_times_matrices(point)
               ? wfi_matmul_rates_of(point)->of[WFI_RATE_START] * wfi_matmul_microsecond(point)
               : 0;
}

double wfi_matmul_reading_time(const wfi_point *point, double groups)
{
    const double time = wfi_matmul_memory_time(point);
    return wfi_matmul_times_tiles(point) || wfi_matmul_times_matrices(point)
               ? wfi_matmul_start_time(point) + time * fmax(1, units_of(point) / (2 * groups))
               : time;
}

/* Of a work-item, with what compilers take beside the counted ones. */
static uint32_t registers_of(const wfi_point *point)
{
    return wfi_matmul_registers(point) + WFI_OTHER_REGISTERS + WFI_OTHER_REGISTERS / 2;
}

double wfi_matmul_resident(const wfi_point *point)
{
    uint32_t size[3];
    point->variant->group_size(point, size);
    return wfi_matmul_held(point, size[0], registers_of(point));
}

/* What work-groups do, in numbers that rates are multiplied by. */
typedef struct work_group {
    double step[WFI_RATES]; /* a step of the sum where work-groups take turns */
    double waits;           /* for single elements, in a step where nothing takes turns with it */
    double items, words;
    double outputs, outputs_f64, narrow_outputs;
    double groups; /* of the whole product */
    double steps;  /* of each */
    double held;   /* by a unit */
    double turns;  /* in which slices of k add up their sums at the end */
} work_group;

/* Columns of a work-item whose elements of C are stored one by one, or side by side as quickly. */
static double stored_columns(const wfi_point *point)
{
    const double columns = point->values[MATMUL_ID_THREAD_N];
    if (!wfi_matmul_gathers(point))
        return columns;
    return stores_decide(point) ? fmax(GATHERED_COST * columns, LEAST_GATHERED)
                                : GATHERED_COST * columns;
}

/* Bytes of shared memory whose time the stores of tiles take that are not padded where work-items
 * side by side store single elements across their rows: all of a row's steps wait for one bank.
 * `subgroup_k` pads every tile that it stores so. */
static double conflicting_bytes(const wfi_point *point)
{
    const uint32_t *v = point->values,
                   bare = wfi_point_value(point, MATMUL_ID_SLICES_K, 0)
                              ? 0
                              : wfi_matmul_stores_across(point) & ~wfi_matmul_padding(point);
    const double rows = (bare & WFI_PADDED_A ? v[MATMUL_ID_TILE_M] : 0) +
                        (bare & WFI_PADDED_B ? v[MATMUL_ID_TILE_N] : 0);
    return 4.0 * rows * v[MATMUL_ID_TILE_K] * v[MATMUL_ID_TILE_K] * wfi_matmul_words(point);
}

/* Bytes that a tile does not read and that take time all the same: reading less than WHOLE_ROW
 * bytes of a row in memory takes as long as reading so many. Slices of k have a tile each, and read
 * the other bytes of the row at about that time, so that half counts. */
static double short_row_bytes(const wfi_point *point, double slices)
{
    const uint32_t *v = point->values, along = wfi_matmul_along_the_sum(&point->problem->matmul);
    const double rows = (along & WFI_PADDED_A ? v[MATMUL_ID_TILE_M] : 0) +
                        (along & WFI_PADDED_B ? v[MATMUL_ID_TILE_N] : 0);
    return (slices > 1 ? slices / 2 : 1) * rows *
           fmax(0, WHOLE_ROW - (double)wf_type_size(point->problem->type) * v[MATMUL_ID_TILE_K]);
}

static work_group describe(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint32_t *v = point->values;
    const uint32_t bits = wfi_matmul_vec4_moves(point);
    const bool by_vectors = p->n % 4 == 0;
    const double w = wfi_matmul_words(point),
                 slices = wfi_point_value(point, MATMUL_ID_SLICES_K, 1), m = v[MATMUL_ID_TILE_M],
                 n = v[MATMUL_ID_TILE_N], k = v[MATMUL_ID_TILE_K] * slices,
                 items = wfi_matmul_tile_threads(v) * slices,
                 block = v[MATMUL_ID_THREAD_M] + v[MATMUL_ID_THREAD_N],
                 narrow = ((bits & 1 ? 0 : m) + (bits & 2 ? 0 : n)) / (m + n),
                 bytes = (m + n) * k * (double)wf_type_size(point->problem->type),
                 split_k = v[MATMUL_ID_SPLIT_K], columns = stored_columns(point);
    work_group g = {.step = {[WFI_RATE_MULTIPLY_ADD] = m * n * k * w,
                             [WFI_RATE_LOAD_BYTE] = bytes,
                             [WFI_RATE_SHORT_ROW_BYTE] = short_row_bytes(point, slices),
                             [WFI_RATE_NARROW_BYTE] = bytes * narrow},
                    .waits = narrow * (m + n) * k / items,
                    .items = items,
                    .words = w,
                    .outputs = by_vectors && w > 1 ? 0 : m * n * w,
                    .outputs_f64 = by_vectors && w > 1 ? m * n : 0,
                    .narrow_outputs = by_vectors ? 0 : m * n * w * columns,
                    .groups = wfi_matmul_tile_count(p, m, n) * split_k,
                    .steps = ceil(ceil((double)p->k / split_k) / k),
                    .held = wfi_matmul_resident(point),
                    .turns = slices > 1 ? v[MATMUL_ID_THREAD_M] * v[MATMUL_ID_THREAD_N] / 4.0 : 0};
    g.step[w > 1 ? WFI_RATE_SHARED_BYTE_F64 : WFI_RATE_SHARED_BYTE] =
        items * block * 4 * w * v[MATMUL_ID_TILE_K] + conflicting_bytes(point);
    return g;
}

static double time_of(const wfi_rates *r, const double *terms)
{
    double time = 0;
    for (int i = 0; i < WFI_RATES; i++)
        time += terms[i] * r->of[i];
    return time;
}

/* Adds `waves` waves in which a unit holds `count` work-groups. */
static void add_waves(const wfi_rates *r, const work_group *g, double count, double waves,
                      double *terms)
{
    const double turns = count + r->of[WFI_RATE_GAP_ITEMS] / g->items;
    if (count <= 0 || waves <= 0)
        return;
    if (g->waits * r->of[WFI_RATE_NARROW_WAIT] > turns * time_of(r, g->step))
        terms[WFI_RATE_NARROW_WAIT] += waves * g->steps * g->waits;
    else
        for (int i = 0; i < WFI_RATES; i++)
            terms[i] += waves * g->steps * turns * g->step[i];
    terms[WFI_RATE_WAVE] += waves * (1 + TURN * g->turns);
    terms[WFI_RATE_OUTPUT] += waves * count * g->outputs;
    terms[WFI_RATE_OUTPUT_F64] += waves * count * g->outputs_f64;
    terms[WFI_RATE_NARROW_OUTPUT] += waves * count * g->narrow_outputs;
}

static void add_all_waves(const wfi_rates *r, const work_group *g, double units, double *terms)
{
    const double full = floor(g->groups / (units * g->held)),
                 rest = g->groups - full * units * g->held;
    add_waves(r, g, g->held, full, terms);
    /* Where a unit holds two work-groups, both end together and others take the places of both, so
     * that a unit has two or none; not so in f64 (bench/notes/matmul.md#conflicts). */
    const bool pairs = full > 0 && rest > 0 && g->held <= 2 && g->words == 1;
    add_waves(r, g, pairs ? g->held : ceil(rest / units), 1, terms);
}

/* Bytes of partial sums, written and read, in so many other dispatches. */
static void add_partials(double dispatches, double bytes, double *terms)
{
    terms[WFI_RATE_DISPATCH] += dispatches;
    terms[WFI_RATE_PARTIAL_BYTE] += bytes;
}

void wfi_matmul_tile_terms(const wfi_point *point, const wfi_rates *r, double terms[WFI_RATES])
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint32_t *v = point->values;
    const double units = units_of(point), split_k = v[MATMUL_ID_SPLIT_K],
                 shared = wfi_point_value(point, MATMUL_ID_STREAM_K, 0) * units;
    const uint32_t pack = wfi_point_value(point, MATMUL_ID_PACK, 0);
    work_group g = describe(point);
    memset(terms, 0, WFI_RATES * sizeof *terms);
    terms[WFI_RATE_START] = 1;
    if (shared > 0) {
        const double left = fmod(g.groups, shared), whole = g.groups / shared;
        g.outputs *= whole;
        g.outputs_f64 *= whole;
        g.narrow_outputs *= whole;
        g.steps = (g.words > 1 ? 1 : SHARED_STEP) * ceil(g.groups * g.steps / shared);
        g.groups = shared;
        g.held = fmax(g.held, shared / units);
        if (left > 0)
            add_partials(2,
                         (shared + left) * v[MATMUL_ID_TILE_M] * v[MATMUL_ID_TILE_N] * 4 *
                             wfi_matmul_words(point),
                         terms);
    }
    add_all_waves(r, &g, units, terms);
    if (split_k > 1)
        add_partials(1,
                     split_k * (double)p->m * (double)p->n * (double)p->batch * 4 *
                         wfi_matmul_words(point),
                     terms);
    const double bytes = wfi_matmul_least_bytes(point->problem);
    const double memory[WFI_RATES] = {
        [WFI_RATE_START] = 1, [WFI_RATE_MEMORY_BYTE] = WFI_SEEN_MEMORY * bytes};
    if (bytes >= WFI_LEAST_REVERSED) {
        const bool longer = time_of(r, memory) > time_of(r, terms);
        for (int i = 0; i < WFI_RATES; i++)
            terms[i] = longer ? memory[i] + HIDDEN * terms[i] : terms[i] + HIDDEN * memory[i];
        terms[WFI_RATE_START] = 1;
    }
    if (pack) {
        terms[WFI_RATE_DISPATCH] += 1;
        terms[WFI_RATE_PACK_BYTE] += wfi_matmul_pack_bytes(point, pack);
    }
}

double wfi_matmul_tile_time(const wfi_point *point)
{
    const wfi_rates *r = wfi_matmul_rates_of(point);
    double terms[WFI_RATES];
    wfi_matmul_tile_terms(point, r, terms);
    return time_of(r, terms) * wfi_matmul_microsecond(point);
}

/* Keeps the point where it is legal and faster than the best so far. */
static void try_point(wfi_point *best, double *least, const wfi_point *trial)
{
    if (!wfi_point_legal(trial, NULL))
        return;
    const double time = wfi_matmul_tile_time(trial);
    if (*least >= 0 && time >= *least)
        return;
    *least = time;
    memcpy(best->values, trial->values, sizeof best->values);
}

uint32_t wfi_matmul_split_for(const wfi_matmul_problem *p, double tiles, double groups)
{
    const double most = fmin(floor((double)p->k / LEAST_STEPS), MOST_SPLIT_K);
    return (uint32_t)fmax(1, fmin(floor(groups / tiles), most));
}

/* With the most parts of the sum of which each compute unit has no more than one to MOST_GROUPS,
 * and with stream-K. */
static void try_splits(wfi_point *best, double *least, wfi_point *trial, bool shared)
{
    uint32_t *v = trial->values;
    const double units = units_of(trial),
                 tiles = wfi_matmul_tile_count(&trial->problem->matmul, v[MATMUL_ID_TILE_M],
                                               v[MATMUL_ID_TILE_N]);
    v[MATMUL_ID_SPLIT_K] = 1;
    try_point(best, least, trial);
    for (uint32_t groups = 1, s = 1; groups <= MOST_GROUPS; groups++) {
        const uint32_t before = s;
        s = wfi_matmul_split_for(&trial->problem->matmul, tiles, groups * units);
        v[MATMUL_ID_SPLIT_K] = s;
        if (s > before)
            try_point(best, least, trial);
    }
    /* In f64, whose partial tiles are twice as long, less than a wave of tiles is not shared. */
    if (shared && tiles >= units * (wfi_matmul_words(trial) > 1 ? SHARERS : 1)) {
        v[MATMUL_ID_SPLIT_K] = 1;
        v[MATMUL_ID_STREAM_K] = SHARERS;
        try_point(best, least, trial);
    }
}

double wfi_matmul_fastest_block(wfi_point *point, const wfi_matmul_blocks *blocks)
{
    const bool may_share = point->problem->matmul.batch == 1;
    const uint32_t most = wfi_unit_of(point->caps).lane_registers;
    const wfi_point given = *point;
    double least = -1;
    for (size_t i = 0; i < blocks->count; i++) {
        wfi_point trial = given;
        wfi_matmul_set_block(&trial, &blocks->items[i]);
        if (wfi_matmul_fits_registers(&trial) && blocks->complete(&trial, i) &&
            (most == 0 || registers_of(&trial) <= most))
            try_splits(point, &least, &trial, may_share && i < blocks->shared);
    }
    return least;
}
