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

#define MICROSECOND 4e7 /* in the unit of model.h */
#define MANY_TILES 6    /* of 64 x 128, for a compute unit */
#define WAVE 32.0       /* work-items of a subgroup that a scheduler takes turns with */
#define MOST_SPLIT_K 64
#define LEAST_STEPS 64       /* of the sum, in each of split_k parts */
#define MOST_GROUPS 8        /* for a compute unit, of a product whose sum is split */
#define SHARERS 2            /* work-groups a compute unit that share tiles by stream-K */
#define MOST_STORED_STEPS 64 /* of a sum, beside which storing C decides */
#define SEEN_MEMORY 1.25     /* of the time that memory takes for operands that no cache holds */
#define LEAST_REUSE 1000 /* times that an element is used, at least: bench/notes/matmul.md#loops */

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
    return wfi_matmul_profile_of(point->caps)->rates &&
           (problem->type == WF_TYPE_F32 || problem->type == WF_TYPE_F64) &&
           !problem->matmul.varies;
}

bool wfi_matmul_times_tiles(const wfi_point *point)
{
    return knows_rates(point) && !wfi_matmul_copies_pay(point) &&
           wfi_matmul_tile_count(&point->problem->matmul, 64, 128) < MANY_TILES * units_of(point);
}

bool wfi_matmul_stores_decide(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    return knows_rates(point) && !(wfi_matmul_vec4_bits(p) & 4) && p->k <= MOST_STORED_STEPS;
}

double wfi_matmul_start_time(const wfi_point *point)
{
    return wfi_matmul_times_tiles(point)
               ? wfi_matmul_profile_of(point->caps)->rates->start * MICROSECOND
               : 0;
}

double wfi_matmul_reading_time(const wfi_point *point, double groups)
{
    const double time = wfi_matmul_memory_time(point);
    return wfi_matmul_times_tiles(point)
               ? wfi_matmul_start_time(point) + time * fmax(1, units_of(point) / (2 * groups))
               : time;
}

/* Of a work-item, with what compilers take beside the counted ones. */
static uint32_t registers_of(const wfi_point *point)
{
    return wfi_matmul_registers(point) + WFI_OTHER_REGISTERS + WFI_OTHER_REGISTERS / 2;
}

/* Work-groups that a compute unit holds. A unit has no more shared memory for all of them than one
 * may have, where the profile counts registers of a unit at all. */
static double resident(const wfi_point *point)
{
    uint32_t size[3];
    point->variant->group_size(point, size);
    const double items = size[0], most = wfi_unit_of(point->caps).items,
                 unit_registers = wfi_matmul_profile_of(point->caps)->unit_registers;
    double groups =
        floor((double)point->caps->max_shared_bytes / (double)point->variant->shared_bytes(point));
    if (unit_registers > 0)
        groups =
            fmin(groups, floor(unit_registers / (items * ceil(registers_of(point) / 8.0) * 8)));
    if (most > 0)
        groups = fmin(groups, floor(most / items));
    return fmax(groups, 1);
}

typedef struct work_group {
    double step;   /* a step of the sum where work-groups take turns, us */
    double least;  /* where nothing takes turns with its loads */
    double gap;    /* that one more work-group of a unit would fill, in steps */
    double end;    /* storing its outputs */
    double groups; /* of the whole product */
    double steps;  /* of each */
    double held;   /* by a unit */
} work_group;

static double words(const wfi_point *point)
{
    return point->problem->type == WF_TYPE_F64 ? 2 : 1;
}

static work_group describe(const wfi_point *point)
{
    const wfi_matmul_rates *r = wfi_matmul_profile_of(point->caps)->rates;
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint32_t *v = point->values;
    const uint32_t bits = wfi_point_value(point, MATMUL_ID_VEC4, 0);
    const double w = words(point), slices = wfi_point_value(point, MATMUL_ID_SLICES_K, 1),
                 m = v[MATMUL_ID_TILE_M], n = v[MATMUL_ID_TILE_N], k = v[MATMUL_ID_TILE_K] * slices,
                 items = wfi_matmul_tile_threads(v) * slices,
                 block = v[MATMUL_ID_THREAD_M] + v[MATMUL_ID_THREAD_N],
                 narrow = ((bits & 1 ? 0 : m) + (bits & 2 ? 0 : n)) / (m + n),
                 shared = items * block * 4 * w * v[MATMUL_ID_TILE_K];
    const double step = m * n * k * w * r->multiply_add +
                        shared * (w > 1 ? r->shared_byte_f64 : r->shared_byte) +
                        (m + n) * k * 4 * w * r->load_byte * (1 + r->narrow_loads * narrow);
    const double split_k = v[MATMUL_ID_SPLIT_K];
    return (work_group){.step = step,
                        .least = r->narrow_wait * narrow * (m + n) * k / items,
                        .gap = r->gap_items / items,
                        .end = m * n * w * r->output *
                               (p->n % 4 ? 1 + r->narrow_store * v[MATMUL_ID_THREAD_N] : 1),
                        .groups = wfi_matmul_tile_count(p, m, n) * split_k,
                        .steps = ceil(ceil((double)p->k / split_k) / k),
                        .held = resident(point)};
}

static double wave_time(const wfi_matmul_rates *r, const work_group *g, double count)
{
    return count > 0
               ? g->steps * fmax(g->least, g->step * (count + g->gap)) + r->wave + count * g->end
               : 0;
}

static double waves_time(const wfi_matmul_rates *r, const work_group *g, double units)
{
    const double full = floor(g->groups / (units * g->held)),
                 rest = g->groups - full * units * g->held;
    return full * wave_time(r, g, g->held) + wave_time(r, g, ceil(rest / units));
}

/* Bytes of partial sums, written and read, in another dispatch. */
static double partials_time(const wfi_matmul_rates *r, double dispatches, double bytes)
{
    return dispatches * r->dispatch + bytes * r->partial_byte;
}

double wfi_matmul_tile_time(const wfi_point *point)
{
    const wfi_matmul_rates *r = wfi_matmul_profile_of(point->caps)->rates;
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint32_t *v = point->values;
    const double units = units_of(point), split_k = v[MATMUL_ID_SPLIT_K],
                 shared = wfi_point_value(point, MATMUL_ID_STREAM_K, 0) * units;
    work_group g = describe(point);
    double time = r->start;
    if (shared > 0) {
        const double left = fmod(g.groups, shared);
        g.steps = ceil(g.groups * g.steps / shared);
        g.groups = shared;
        g.held = fmax(g.held, shared / units);
        if (left > 0)
            time += partials_time(r, 2,
                                  (shared + left) * v[MATMUL_ID_TILE_M] * v[MATMUL_ID_TILE_N] * 4);
    }
    time += waves_time(r, &g, units);
    if (split_k > 1)
        time += partials_time(
            r, 1, split_k * (double)p->m * (double)p->n * (double)p->batch * 4 * words(point));
    if (wfi_matmul_least_bytes(point->problem) >= WFI_LEAST_REVERSED)
        time = fmax(time, r->start + SEEN_MEMORY * wfi_matmul_memory_time(point) / MICROSECOND);
    return time * MICROSECOND;
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

/* With every split_k that leaves parts of some length and fills the device, and with stream-K. */
static void try_splits(wfi_point *best, double *least, wfi_point *trial, bool shared)
{
    const wfi_matmul_problem *p = &trial->problem->matmul;
    uint32_t *v = trial->values;
    const double units = units_of(trial),
                 tiles = wfi_matmul_tile_count(p, v[MATMUL_ID_TILE_M], v[MATMUL_ID_TILE_N]);
    v[MATMUL_ID_SPLIT_K] = 1;
    try_point(best, least, trial);
    for (uint32_t s = 2;
         s <= MOST_SPLIT_K && tiles * s <= MOST_GROUPS * units && p->k / s >= LEAST_STEPS; s *= 2) {
        v[MATMUL_ID_SPLIT_K] = s;
        try_point(best, least, trial);
    }
    if (shared && tiles >= units) {
        v[MATMUL_ID_SPLIT_K] = 1;
        v[MATMUL_ID_STREAM_K] = SHARERS;
        try_point(best, least, trial);
    }
}

double wfi_matmul_fastest_block(wfi_point *point, const wfi_matmul_blocks *blocks)
{
    const bool may_share = point->problem->type == WF_TYPE_F32 && point->problem->matmul.batch == 1;
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
