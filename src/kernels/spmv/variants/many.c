/* Variant many: several right-hand sides at once, after Yang, Buluç and Owens 2018. */
#include <math.h>

#include "kernels/spmv/build.h"
#include "kernels/spmv/cost.h"
#include "kernels/spmv/traffic.h"
#include "kernels/spmv/variant.h"

static bool vectors_in_group(const wfi_point *point)
{
    const uint32_t vectors = point->problem->spmv.vectors;
    return (vectors ? vectors : 1) * (uint64_t)point->values[SPMV_ID_LANES] <=
           point->values[SPMV_ID_LOCAL_X];
}

static const wfi_constraint constraints[] = {
    WFI_SPMV_LANES_HALVE,
    {"lanes times the right-hand sides must fit local_x, since a row stays in one work-group",
     vectors_in_group},
};

static void constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    const uint32_t vectors = point->problem->spmv.vectors;
    wfi_pipeline_constant(desc, SPMV_ID_VECTORS, vectors ? vectors : 1);
}

/* Neighbouring work-items read neighbouring elements of X, and all of them the same entry. */
static double time_of(const wfi_point *point, uint32_t lanes, double reduction_step)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const double loads = ceil((p->mean_row + p->row_deviation / 2) / lanes) + 1;
    const double steps = lanes > 1 ? log2(lanes) * reduction_step : 0;
    return (double)p->rows * lanes * (loads * 1.5 + steps) * wfi_spmv_vectors_of(point);
}

static double fit(wfi_point *point)
{
    point->values[SPMV_ID_LOCAL_X] = wfi_spmv_fit_local(point->caps);
    const double time = wfi_spmv_best_lanes(point, time_of, 4.0);
    return point->problem->spmv.vectors > 1 ? time : -1;
}

static wf_result add_many(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                          wfi_spmv_block *block)
{
    const uint32_t items = job->matrix.vectors * point->values[SPMV_ID_LANES];
    return wfi_spmv_add_block(plan, point, job, block, point->values[SPMV_ID_LOCAL_X] / items, 1);
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, 0, add_many);
}

const wfi_variant wfi_spmv_many = {
    WFI_SPMV_ROW(many),
    .modules = WFI_MODULES_spmv_many,
    .summary = "several right-hand sides at once, a work-item each",
    .source = "Yang, Buluç, Owens 2018 (row splitting)",
    .parameter_count = WFI_COUNT(wfi_spmv_lanes_parameters),
    .parameters = wfi_spmv_lanes_parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .storage_buffers = 4,
    .push_bytes = WFI_SPMV_PUSH,
    .traits = WFI_SPMV_CONVERTS,
    .shared_bytes = wfi_spmv_lanes_shared,
    .constants = constants,
    .fit = fit,
    .traffic = wfi_spmv_many_traffic,
    .build = build,
};
