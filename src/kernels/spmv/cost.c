#include "kernels/spmv/cost.h"

#include <math.h>

#include "core/platform.h"
#include "spmv/spmv_ids.h"

double wfi_spmv_vectors_of(const wfi_point *point)
{
    const uint32_t vectors = point->problem->spmv.vectors;
    return vectors ? vectors : 1;
}

uint32_t wfi_spmv_fit_local(const wf_caps *caps)
{
    uint32_t size = caps->max_invocations < 256 ? caps->max_invocations : 256;
    if (size > caps->max_group_size[0])
        size = caps->max_group_size[0];
    uint32_t power = 1;
    while (power * 2 <= size)
        power *= 2;
    return power;
}

uint32_t wfi_spmv_fit_row_subgroups(const wf_caps *caps, uint32_t local)
{
    const bool shares = wfi_spmv_profile_of(caps)->shares_rows;
    uint32_t row_subgroups = 1;
    while (shares && row_subgroups * 2 * caps->subgroup_size <= local && row_subgroups < 32)
        row_subgroups *= 2;
    return row_subgroups;
}

/* Squares of the deviations of all rows but the longest, over the rows. */
static double squares_of(const wfi_spmv_problem *p)
{
    const double longest = p->longest_row - p->mean_row;
    return fmax(p->row_deviation * p->row_deviation - longest * longest / (double)p->rows, 0);
}

double wfi_spmv_waiting(const wfi_spmv_problem *p)
{
    return fmin(sqrt(squares_of(p)), 2 * p->mean_row);
}

/* A driver of processors does not tell how many it has: those of this machine. */
static double processors_of(const wf_caps *caps)
{
    return caps->compute_units ? caps->compute_units : wfi_processors();
}

/* The time, times the processors, where one of them multiplies the longest row while the others go
 * on; 0: several share that row, or this was not measured. `rows` has it at the cost of any other
 * row. */
static double longest_row_time(const wfi_point *point, wfi_spmv_cost c, double rows)
{
    const double longest = point->problem->spmv.longest_row;
    if (!(c.alone > 0) || point->problem->type != WF_TYPE_F32)
        return 0;
    return fmax(rows + fmax(c.alone - c.entry, 0) * longest,
                processors_of(point->caps) * c.alone * longest);
}

double wfi_spmv_instruction_time(const wfi_point *point, wfi_spmv_cost c)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    /* The fraction of rows that are empty, if the others are all of one length. */
    const double all = p->mean_row * p->mean_row + squares_of(p);
    const double empty = all > 0 ? 1 - p->mean_row * p->mean_row / all : 1;
    const double rows = (double)p->rows * (c.row - c.empty * empty + p->mean_row * c.entry +
                                           wfi_spmv_waiting(p) * c.spread);
    return fmax(rows, longest_row_time(point, c, rows)) * wfi_spmv_vectors_of(point);
}

double wfi_spmv_row_time(const wfi_point *point, uint32_t lanes, double reduction_step)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const double most = wfi_spmv_profile_of(point->caps)->scatter_most;
    const double typical = p->mean_row + (lanes == 1 ? p->row_deviation : p->row_deviation / 2);
    const double loads = ceil(typical / lanes) + 1;
    const double scatter = 1.0 + fmin(p->mean_row / lanes, most);
    const double steps = lanes > 1 ? log2(lanes) * reduction_step : 0;
    return (double)p->rows * lanes * (loads * scatter + steps) * wfi_spmv_vectors_of(point);
}

double wfi_spmv_best_lanes(wfi_point *point, wfi_spmv_time_fn time_of, double reduction_step)
{
    double best = -1;
    uint32_t best_count = 1;
    for (uint32_t lanes = 1; lanes <= 128; lanes *= 2) {
        point->values[SPMV_ID_LANES] = lanes;
        if (!wfi_point_legal(point, NULL))
            continue;
        const double time = time_of(point, lanes, reduction_step);
        if (best < 0 || time < best) {
            best = time;
            best_count = lanes;
        }
    }
    point->values[SPMV_ID_LANES] = best_count;
    return best;
}
