#include "kernels/matmul/model.h"

#include <math.h>
#include <string.h>

#include "core/architectures.h"
#include "profiles/matmul.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/tile.h"

#define UNKNOWN_UNITS 32.0
/* Of the rate at which a device multiplies and adds in tiles, the part that plain variants reach,
 * whose operations are the unit of times: 40 TFLOPS of an H100. */
#define PLAIN_FRACTION 0.392
#define MANY_MATRIX_TILES 6 /* of 64 x 128, for a compute unit */

uint32_t wfi_matmul_words(const wfi_point *point)
{
    return point->problem->type == WF_TYPE_F64 ? 2 : 1;
}

double wfi_matmul_units(const wf_caps *caps)
{
    return caps->compute_units ? caps->compute_units : UNKNOWN_UNITS;
}

/* The square root is a fit to an H100 (bench/notes/matmul.md#first-variants): few work-items cost
 * less than their number says. */
double wfi_matmul_busy(const wf_caps *caps, double work_items, double wanted)
{
    if (!wfi_matmul_profile_of(caps)->hides_latency)
        return 1;
    const double units = wfi_matmul_units(caps);
    const double room = wfi_unit_of(caps).items;
    const double fraction = work_items / (units * (room > 0 ? fmin(wanted, room) : wanted));
    return fraction < 1 ? sqrt(fraction) : 1;
}

const wfi_rates *wfi_matmul_rates_of(const wfi_point *point)
{
    const wfi_matmul_profile *profile = wfi_matmul_profile_of(point->caps);
    if (point->rates && profile->rates)
        return point->rates;
    return profile->guess_decides ? profile->rates : NULL;
}

double wfi_matmul_plain_rate(double multiply_adds)
{
    return PLAIN_FRACTION * 2 * multiply_adds;
}

double wfi_matmul_microsecond(const wfi_point *point)
{
    const wfi_rates *r = wfi_matmul_rates_of(point);
    return r ? wfi_matmul_plain_rate(wfi_matmul_units(point->caps) / r->of[WFI_RATE_MULTIPLY_ADD])
             : 0;
}

bool wfi_matmul_stores_short(const wfi_matmul_problem *p)
{
    return !(wfi_matmul_vec4_bits(p) & 4) && p->k <= WFI_SHORT_SUM;
}

bool wfi_matmul_is_shallow(const wfi_problem *problem)
{
    const wf_type type = problem->type;
    const uint64_t most = type == WF_TYPE_F32                           ? WFI_SHALLOW_SUM_F32
                          : type == WF_TYPE_F16 || type == WF_TYPE_BF16 ? WFI_SHALLOW_SUM
                                                                        : 0;
    return problem->matmul.k <= most && wfi_matmul_vec4_bits(&problem->matmul) & 4;
}

bool wfi_matmul_times_matrices(const wfi_point *point)
{
    const wfi_problem *problem = point->problem;
    return wfi_matmul_rates_of(point) && point->caps->cooperative_matrix &&
           (problem->type == WF_TYPE_F16 || problem->type == WF_TYPE_BF16) &&
           !problem->matmul.varies &&
           (wfi_matmul_stores_short(&problem->matmul) || wfi_matmul_is_shallow(problem) ||
            wfi_matmul_tile_count(&problem->matmul, 64, 128) <
                MANY_MATRIX_TILES * wfi_matmul_units(point->caps));
}

double wfi_matmul_memory_time(const wfi_point *point)
{
    const wfi_matmul_profile *profile = wfi_matmul_profile_of(point->caps);
    const double measured =
        point->rates ? point->rates->of[WFI_RATE_MEMORY_BYTE] * wfi_matmul_microsecond(point) : 0;
    return wfi_matmul_least_bytes(point->problem) *
           (measured > 0 ? measured : profile->flops_a_byte);
}

double wfi_matmul_held(const wfi_point *point, double items, double registers)
{
    const double most = wfi_unit_of(point->caps).items,
                 all = wfi_matmul_profile_of(point->caps)->unit_registers;
    double groups =
        floor((double)point->caps->max_shared_bytes / (double)point->variant->shared_bytes(point));
    if (all > 0)
        groups = fmin(groups, floor(all / (items * ceil(registers / 8) * 8)));
    if (most > 0)
        groups = fmin(groups, floor(most / items));
    return fmax(groups, 1);
}

double wfi_matmul_tile_count(const wfi_matmul_problem *p, double tile_m, double tile_n)
{
    return ceil((double)p->m / tile_m) * ceil((double)p->n / tile_n) * (double)p->batch;
}

void wfi_matmul_set_block(wfi_point *point, const wfi_matmul_block *block)
{
    uint32_t *v = point->values;
    v[MATMUL_ID_TILE_M] = block->tile_m;
    v[MATMUL_ID_TILE_N] = block->tile_n;
    v[MATMUL_ID_TILE_K] = block->tile_k;
    v[MATMUL_ID_THREAD_M] = block->thread_m;
    v[MATMUL_ID_THREAD_N] = block->thread_n;
}

double wfi_matmul_block_time(const wfi_point *point, double wanted)
{
    const uint32_t *v = point->values;
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double tiles = wfi_matmul_tile_count(p, v[MATMUL_ID_TILE_M], v[MATMUL_ID_TILE_N]);
    const double padded = 2.0 * tiles * v[MATMUL_ID_TILE_M] * v[MATMUL_ID_TILE_N] * (double)p->k;
    const double shared_reads = 1.0 / v[MATMUL_ID_THREAD_M] + 1.0 / v[MATMUL_ID_THREAD_N];
    const double memory_reads = 8.0 / v[MATMUL_ID_TILE_M] + 8.0 / v[MATMUL_ID_TILE_N];
    const double sharers =
        wfi_point_value(point, MATMUL_ID_STREAM_K, 0) * wfi_matmul_units(point->caps);
    const double work_items = fmax(tiles, sharers) * wfi_matmul_tile_threads(v);
    return padded * (1.0 + shared_reads + memory_reads) /
           wfi_matmul_busy(point->caps, work_items, wanted);
}

#define WIDENED 0.8 /* of the registers: bytes take more of them while they are widened */

uint32_t wfi_matmul_most_registers(const wfi_point *point, uint32_t group_items)
{
    const wfi_matmul_profile *profile = wfi_matmul_profile_of(point->caps);
    const wfi_unit unit = wfi_unit_of(point->caps);
    const double counted = point->problem->type == WF_TYPE_I8 ? WIDENED : 1;
    uint32_t most = unit.lane_registers;
    if (profile->most_registers)
        return profile->most_registers;
    if (profile->register_fill == 0 || most == 0)
        return UINT32_MAX;
    /* Where subgroups have a fixed number of registers, a whole work-group has to fit a unit. */
    if (unit.wave_words && unit.registers / group_items < most)
        most = unit.registers / group_items;
    return (uint32_t)(profile->register_fill * counted * most);
}

bool wfi_matmul_fits_registers(const wfi_point *point)
{
    const uint32_t m = point->values[MATMUL_ID_THREAD_M], n = point->values[MATMUL_ID_THREAD_N];
    const uint32_t most = wfi_unit_of(point->caps).lane_registers,
                   known = wfi_matmul_profile_of(point->caps)->most_registers,
                   counted = (m * n + m + n) * wfi_matmul_words(point);
    return (most == 0 || counted + WFI_OTHER_REGISTERS <= most) && (known == 0 || counted <= known);
}

double wfi_matmul_best_block(wfi_point *point, const wfi_matmul_block *list, size_t count,
                             double wanted, bool (*complete)(wfi_point *trial))
{
    double best = -1;
    const wfi_point given = *point;
    for (size_t i = 0; i < count; i++) {
        wfi_point trial = given;
        wfi_matmul_set_block(&trial, &list[i]);
        if (!wfi_matmul_fits_registers(&trial) || (complete && !complete(&trial)) ||
            !wfi_point_legal(&trial, NULL))
            continue;
        const double time = wfi_matmul_block_time(&trial, wanted);
        if (best < 0 || time < best) {
            best = time;
            memcpy(point->values, trial.values, sizeof trial.values);
        }
    }
    return best;
}

double wfi_matmul_never_fit(wfi_point *point)
{
    (void)point;
    return -1;
}
