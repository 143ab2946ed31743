/* The reference of the family: a work-item an output element, no shared memory. */
#include <math.h>

#include "profiles/matmul.h"
#include "kernels/matmul/build.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/published_time.h"
#include "kernels/matmul/model.h"
#include "kernels/matmul/tile.h"
#include "kernels/matmul/tile_time.h"
#include "kernels/matmul/thin.h"
#include "kernels/matmul/traffic.h"
#include "kernels/matmul/variants/list.h"
#include "plan/access.h"
#include "core/arithmetic.h"

static const uint32_t local_x[] = {1, 2, 4, 8, 16, 32, 64, 128},
                      local_y[] = {1, 2, 4, 8, 16, 32, 64, 128};

static const wfi_parameter parameters[] = {
    {"local_x", MATMUL_ID_LOCAL_X, 16, WFI_COUNT(local_x), local_x,
     "work-items along the columns of C"},
    {"local_y", MATMUL_ID_LOCAL_Y, 8, WFI_COUNT(local_y), local_y,
     "work-items along the rows of C"},
};

/* Work-items of whole work-groups over those that have an output: along a vector most have none. */
static double idle_factor(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    uint32_t size[3];
    wfi_matmul_local_group(point, size);
    return ceil((double)p->n / size[0]) * size[0] * ceil((double)p->m / size[1]) * size[1] /
           fmax((double)p->m * (double)p->n, 1);
}

/* Where C has fewer columns than a work-group, its work-items go along the rows, and the other way
 * round: as many as before, of which none is idle. */
static void cover(wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    uint32_t *x = &point->values[MATMUL_ID_LOCAL_X], *y = &point->values[MATMUL_ID_LOCAL_Y];
    const uint32_t items = *x * *y;
    if (p->n < *x) {
        *x = wfi_power_at_least(p->n, *x);
        *y = wfi_power_at_least(p->m, items / *x);
    } else if (p->m < *y) {
        *y = wfi_power_at_least(p->m, *y);
        *x = wfi_power_at_least(p->n, items / *y);
    }
}

#define REGISTERS 32 /* of a work-item, by the statistics of compilers */

/* Whether the lanes of a processor sum up rows side by side, as for a matrix times a vector or two:
 * a multiply-add takes a fourth of the time then. */
static bool lanes_take_rows(const wfi_point *point)
{
    const wfi_matmul_profile *profile = wfi_matmul_profile_of(point->caps);
    return profile->registers_are_memory && wfi_matmul_by_sum(&point->problem->matmul) &&
           wfi_matmul_vectors(&point->problem->matmul) <= profile->most_vectors;
}

/* Elements of C that are stored one by one, where they are nearly all that a product does. */
static double store_time(const wfi_point *point, double outputs)
{
    const wfi_rates *r = wfi_matmul_rates_of(point);
    return wfi_matmul_times_tiles(point) && wfi_matmul_is_shallow(point->problem)
               ? outputs / wfi_matmul_units(point->caps) *
                     (r->of[WFI_RATE_OUTPUT] + r->of[WFI_RATE_NARROW_OUTPUT]) *
                     wfi_matmul_microsecond(point)
               : 0;
}

/* Every multiply-add reads two values from memory, about 16 times what tiles of 32 need. Idle
 * work-items count where the number of compute units is a guess, as it is on most integrated GPUs;
 * the fit to an H100 has no such term. */
static double fit(wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const wfi_matmul_profile *profile = wfi_matmul_profile_of(point->caps);
    if (!profile->gains_by_tiles) {
        point->values[MATMUL_ID_LOCAL_X] = 64;
        point->values[MATMUL_ID_LOCAL_Y] = 2;
    }
    /* Published times know no rows that are read apart, as one column's are: 16 x 8 stays. */
    if (profile->gains_by_tiles && wfi_matmul_has_published_time(point))
        return wfi_matmul_published_time(point, REGISTERS);
    cover(point);
    if (!profile->gains_by_tiles)
        return wfi_matmul_flops(point->problem) * 0.5;
    const bool guessed = !point->caps->compute_units && profile->hides_latency;
    const double outputs = (double)p->m * (double)p->n * (double)p->batch;
    const double time = wfi_matmul_flops(point->problem) * (lanes_take_rows(point) ? 4.0 : 16.0) *
                        (guessed ? idle_factor(point) : 1) /
                        wfi_matmul_busy(point->caps, outputs, 512);
    return wfi_matmul_start_time(point) + store_time(point, outputs) +
           fmax(time, profile->naive_memory * wfi_matmul_memory_time(point));
}

static void traffic(const wfi_point *point, wfi_traffic *out)
{
    uint32_t group[3];
    wfi_matmul_local_group(point, group);
    out->requested = wfi_matmul_tiles_bytes(point, 1, 1) + wfi_matmul_c_bytes(point);
    out->stored = wfi_matmul_c_stored(point);
    out->groups = wfi_matmul_tiles_bytes(point, group[1], group[0]) + wfi_matmul_c_bytes(point);
    out->tile_order = wfi_matmul_tile_order(point, group[1], group[0]);
    out->work_groups = wfi_matmul_tile_count(&point->problem->matmul, group[1], group[0]);
}

/* Neighbours along x read neighbours in a row of B, or a column of it where it is transposed. */
static void access(const wfi_point *point, wf_access *out)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint32_t size = (uint32_t)wf_type_size(point->problem->type);
    uint64_t a[WFI_MOST_LANES], b[WFI_MOST_LANES];
    uint32_t group[3], lanes = 0;
    wfi_matmul_local_group(point, group);
    for (; lanes < point->caps->subgroup_size && lanes < group[0] * group[1] &&
           lanes < WFI_MOST_LANES;
         lanes++) {
        const wfi_lane_place at = wfi_access_place(lanes, group);
        a[lanes] = at.y * (p->transpose_a ? 1 : p->lda) * size;
        b[lanes] = at.x * (p->transpose_b ? p->ldb : 1) * size;
    }
    wfi_access_load(out, a, lanes, size);
    wfi_access_load(out, b, lanes, size);
    out->busy = 1 / idle_factor(point);
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_matmul_build(plan, point, params,
                            (wfi_matmul_tile){.m = point->values[MATMUL_ID_LOCAL_Y],
                                              .n = point->values[MATMUL_ID_LOCAL_X]});
}

const wfi_variant wfi_matmul_naive = {
    .name = "naive",
    .summary = "one work-item an output element, everything read from memory",
    .source = "Intel VTune cookbook, matrix multiply, step 2",
    .modules = WFI_MODULES_matmul_naive,
    .parameter_count = WFI_COUNT(parameters),
    .parameters = parameters,
    .storage_buffers = WF_MATMUL_BINDINGS,
    .push_bytes = sizeof(wfi_matmul_push),
    .group_size = wfi_matmul_local_group,
    .constants = wfi_matmul_constants,
    .fit = fit,
    .build = build,
    .traffic = traffic,
    .access = access,
};
