/* Work-groups and columns by what is published of a GPU's compute units: where these set the time,
 * lanes without a cell and planes that columns load again cost, which they do not beside memory. */
#include <math.h>
#include <string.h>

#include "kernels/stencil/rows.h"
#include "profiles/published.h"

#define LEAST_GAIN 0.98 /* of the time: the model's own values are kept for less */
#define GROUP_ITEMS 256

static double time_of(const wfi_point *point, const wfi_units *units, const wfi_unit *unit)
{
    const wfi_problem *problem = point->problem;
    const bool f64 = problem->type == WF_TYPE_F64;
    wfi_traffic traffic = {0};
    wf_access access = {0};
    uint32_t size[3];
    wfi_stencil_group_size(point, size);
    point->variant->traffic(point, &traffic);
    wfi_stencil_access(point, &access);
    const double items = (double)size[0] * size[1] * size[2],
                 shared =
                     point->variant->shared_bytes ? (double)point->variant->shared_bytes(point) : 0;
    const wfi_unit_work work = {.multiply_adds = wfi_stencil_flops(problem) / 2 *
                                                 (f64 ? WFI_PUBLISHED_F64_CLOCKS : 1),
                                .shared_bytes = traffic.shared,
                                .bytes = traffic.requested,
                                .group_bytes = traffic.groups,
                                .least_bytes = wfi_stencil_least_bytes(problem),
                                .busy = access.busy,
                                .groups = traffic.work_groups,
                                .items = items,
                                .subgroup = point->caps->subgroup_min,
                                .held = wfi_published_held(unit, items, 0, shared)};
    const wfi_unit_time time = wfi_time_of_units(units, &work);
    return fmax(time.memory, time.units);
}

/* Of so many work-items along i, the columns of the least time. */
static void try_columns(wfi_point *best, double *least, wfi_point *trial, const wfi_units *units,
                        const wfi_unit *unit)
{
    static const uint32_t marches[] = {4, 8, 16, 32, 64};
    const uint32_t own = wfi_point_value(best, STENCIL_ID_MARCH, 0);
    for (size_t i = 0; i <= WFI_COUNT(marches); i++) {
        const uint32_t march = i < WFI_COUNT(marches) ? marches[i] : own;
        if (wfi_variant_has(trial->variant, STENCIL_ID_MARCH))
            wfi_point_set(trial, STENCIL_ID_MARCH, march);
        else if (i > 0)
            return;
        const double time = wfi_point_legal(trial, NULL) ? time_of(trial, units, unit) : INFINITY;
        if (time >= *least * LEAST_GAIN)
            continue;
        *least = time;
        memcpy(best->values, trial->values, sizeof best->values);
    }
}

double wfi_stencil_published_cost(const wfi_point *point, double cost)
{
    if (!wfi_has_published_units(point->caps) || !wfi_point_legal(point, NULL))
        return cost;
    const wfi_unit unit = wfi_unit_of(point->caps);
    const wfi_units units = wfi_published_units(point->caps);
    return fmax(cost, time_of(point, &units, &unit) / units.memory_us);
}

double wfi_stencil_fit_published(wfi_point *point, double cost)
{
    const wfi_unit unit = wfi_unit_of(point->caps);
    const wfi_stencil_axes a = wfi_stencil_axes_of(&point->problem->stencil);
    if (!wfi_has_published_units(point->caps) || !wfi_point_legal(point, NULL))
        return cost;
    const wfi_units units = wfi_published_units(point->caps);
    const uint32_t widest = wfi_point_value(point, STENCIL_ID_LOCAL_X, 1);
    wfi_point trial = *point;
    double least = time_of(point, &units, &unit);
    for (uint32_t x = widest; x >= 8 && x * 16 >= widest; x /= 2) {
        wfi_point_set(&trial, STENCIL_ID_LOCAL_X, x);
        for (uint32_t items = GROUP_ITEMS; items >= 64 && items >= x; items /= 2) {
            wfi_point_set(&trial, STENCIL_ID_LOCAL_Y, a.flat ? 1 : items / x);
            try_columns(point, &least, &trial, &units, &unit);
        }
    }
    return fmax(cost, least / units.memory_us);
}
