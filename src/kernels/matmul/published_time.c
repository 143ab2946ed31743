#include "kernels/matmul/published_time.h"

#include <math.h>
#include <string.h>

#include "core/architectures.h"
#include "core/arithmetic.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/tile.h"
#include "profiles/matmul.h"
#include "profiles/published.h"

#define MOST_SPLIT_K 64
#define LEAST_STEPS 64 /* of the sum, in each of split_k parts */
#define MOST_FILLED 2  /* times that work-groups fill the device, of a product whose sum is split */
#define UNIT_ITEMS 512 /* work-items that a unit holds where nobody tells */

bool wfi_matmul_has_published_time(const wfi_point *point)
{
    const wf_type type = point->problem->type;
    return wfi_has_published_units(point->caps) && !point->rates &&
           !point->problem->matmul.varies &&
           (type == WF_TYPE_F32 || type == WF_TYPE_F64 || type == WF_TYPE_F16 ||
            type == WF_TYPE_BF16);
}

static wfi_unit_work work_of(const wfi_point *point, const wfi_unit *unit, uint32_t registers)
{
    const wfi_problem *problem = point->problem;
    const wfi_variant *variant = point->variant;
    wfi_traffic traffic = {0};
    wf_access access = {0};
    uint32_t size[3];
    variant->group_size(point, size);
    variant->traffic(point, &traffic);
    if (variant->access)
        variant->access(point, &access);
    const double items = (double)size[0] * size[1] * size[2],
                 shared = variant->shared_bytes ? (double)variant->shared_bytes(point) : 0;
    return (wfi_unit_work){.multiply_adds =
                               wfi_matmul_flops(problem) / 2 *
                               (problem->type == WF_TYPE_F64 ? WFI_PUBLISHED_F64_CLOCKS : 1),
                           .shared_bytes = traffic.shared,
                           .passes = access.bank_passes,
                           .bytes = traffic.requested,
                           .group_bytes = traffic.groups,
                           .least_bytes = wfi_matmul_least_bytes(problem),
                           .busy = access.busy,
                           .groups = traffic.work_groups,
                           .items = items,
                           .subgroup = point->caps->subgroup_min,
                           .held = wfi_published_held(unit, items, registers, shared)};
}

double wfi_matmul_published_time(const wfi_point *point, uint32_t registers)
{
    const wfi_unit unit = wfi_unit_of(point->caps);
    const wfi_units units = wfi_published_units(point->caps);
    const wfi_unit_work work = work_of(point, &unit, registers);
    const wfi_unit_time time = wfi_time_of_units(&units, &work);
    const bool parts = wfi_point_value(point, MATMUL_ID_SPLIT_K, 1) > 1;
    return (WFI_START_US + (parts ? WFI_DISPATCH_US : 0) + fmax(time.memory, time.units)) *
           wfi_matmul_plain_rate(units.count * units.lanes * units.clock_mhz);
}

/* The time of matvec, whose few work-groups wait for their loads, was measured beside memory's
 * (profiles/matmul.c). */
double wfi_matmul_published_reading(const wfi_point *point, double groups)
{
    const wfi_units units = wfi_published_units(point->caps);
    const double memory = units.memory_us * wfi_matmul_least_bytes(point->problem);
    return (WFI_START_US + memory * fmax(1, units.count / (2 * groups))) *
           wfi_matmul_plain_rate(units.count * units.lanes * units.clock_mhz);
}

/* With every split_k that leaves parts of some length and does not overfill the device. */
static void try_splits(wfi_point *best, double *least, wfi_point *trial,
                       const wfi_matmul_block_search *search)
{
    const wfi_matmul_problem *p = &trial->problem->matmul;
    const wfi_unit unit = wfi_unit_of(trial->caps);
    const uint32_t *v = trial->values, registers = search->registers(trial);
    const double tiles = wfi_matmul_tile_count(p, v[MATMUL_ID_TILE_M], v[MATMUL_ID_TILE_N]),
                 items = tiles * wfi_matmul_tile_threads(v),
                 filled = MOST_FILLED * (double)wfi_units_of(trial->caps) / unit.counted *
                          (unit.items ? unit.items : UNIT_ITEMS);
    for (uint32_t s = 1; s <= MOST_SPLIT_K; s *= 2) {
        if (s > 1 && (!search->splits || items * s > filled || p->k / s < LEAST_STEPS))
            return;
        wfi_point_set(trial, MATMUL_ID_SPLIT_K, s);
        if (!wfi_point_legal(trial, NULL))
            continue;
        const double time = wfi_matmul_published_time(trial, registers);
        if (*least >= 0 && time >= *least)
            continue;
        *least = time;
        memcpy(best->values, trial->values, sizeof best->values);
    }
}

double wfi_matmul_published_block(wfi_point *point, const wfi_matmul_block_search *search)
{
    /* Rows and columns of a work-item's block, and of work-items in a work-group. */
    static const uint8_t blocks[][2] = {{8, 8}, {8, 4}, {4, 8}, {4, 4}, {2, 4}, {4, 2}, {2, 2}},
                         items[][2] = {{8, 8},   {4, 8},  {8, 4},  {16, 8}, {8, 16},
                                       {16, 16}, {4, 16}, {16, 4}, {2, 32}, {32, 2}},
                         depths[] = {4, 8, 16, 32};
    const wfi_point given = *point;
    double least = -1;
    for (size_t b = 0; b < WFI_COUNT(blocks); b++)
        for (size_t i = 0; i < WFI_COUNT(items); i++)
            for (size_t d = 0; d < WFI_COUNT(depths); d++) {
                wfi_point trial = given;
                wfi_matmul_set_block(&trial,
                                     &(wfi_matmul_block){blocks[b][0] * (uint32_t)items[i][0],
                                                         blocks[b][1] * (uint32_t)items[i][1],
                                                         depths[d], blocks[b][0], blocks[b][1]});
                if (blocks[b][0] >= search->least_thread && blocks[b][1] >= search->least_thread &&
                    depths[d] >= search->least_depth && wfi_matmul_fits_registers(&trial) &&
                    search->complete(&trial))
                    try_splits(point, &least, &trial, search);
            }
    return least;
}
