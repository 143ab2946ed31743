/* Variant atomic: one dispatch scales y, the next adds to it atomically: by the device's own
 * addition, or by comparing and exchanging the bits. */
#include <math.h>

#include "kernels/spmv/build.h"
#include "kernels/spmv/traffic.h"
#include "kernels/spmv/variant.h"
#include "plan/dispatch_size.h"

static const wfi_spirv *const scale_modules[WF_TYPE_COUNT] = WFI_MODULES_spmv_scale;

/* Whether the device adds to y itself. */
static bool adds(const wfi_point *point)
{
    const wf_type type = point->problem->type;
    const wfi_spirv *module = point->variant->second[type];
    return module && module->packed &&
           (type == WF_TYPE_F64 ? point->caps->f64_atomic_add : point->caps->f32_atomic_add);
}

static bool can_add(const wfi_point *point)
{
    return point->problem->type != WF_TYPE_F64 || point->caps->int64_atomics || adds(point);
}

static const wfi_constraint constraints[] = {
    WFI_SPMV_LANES_HALVE,
    WFI_SPMV_LANES_DIVIDE,
    {"f64 needs atomic additions of f64 or atomics on 64-bit integers, which the device does not "
     "have",
     can_add},
};

static void constants_and_module(const wfi_point *point, wfi_pipeline_desc *desc)
{
    wfi_spmv_strided_constants(point, desc);
    if (adds(point))
        desc->spirv = point->variant->second[point->problem->type];
}

/* The lanes of a row read its offsets, and each that has an entry adds to its element of y. Where
 * the device cannot add, it loads the element and exchanges it: once where nobody interferes. */
static void add_row(const wfi_point *point, uint32_t length, wfi_traffic *out)
{
    const double lanes = point->values[SPMV_ID_LANES];
    const double sums = fmin(lanes, length) * (double)wfi_spmv_real_bytes(point);
    out->requested += lanes * 2 * sizeof(uint32_t) + sums * (adds(point) ? 2 : 3);
    out->stored += sums;
}

static void traffic(const wfi_point *point, wfi_traffic *out)
{
    wfi_spmv_mean_traffic(point, add_row, out);
}

static wf_result add_atomic(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                            wfi_spmv_block *block)
{
    const uint32_t local = point->values[SPMV_ID_LOCAL_X];
    wfi_pipeline_desc desc;
    wfi_step step, scale;
    wfi_traffic bytes = {0};
    wfi_point_pipeline(point, &desc);
    desc.spirv = scale_modules[job->matrix.type];
    block->rows_a_group = local / point->values[SPMV_ID_LANES];
    wf_result result = wfi_spmv_block_step(plan, point, job, block, NULL, 0, &step);
    scale = step;
    if (result == WF_SUCCESS)
        result = wfi_dispatch_size(plan, (block->rows + (uint64_t)local - 1) / local, scale.groups);
    scale.groups[2] = job->matrix.vectors;
    if (result == WF_SUCCESS)
        result = wfi_plan_add_pipeline(plan, &desc, &scale.pipeline);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_step(plan, &scale);
    step.barrier = true;
    wfi_spmv_rows_traffic(point, add_row, job->matrix.row_offsets + block->first, block->rows,
                          &bytes);
    wfi_plan_count_traffic(plan, &bytes);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, 0, add_atomic);
}

/* All lanes of a row that have an entry add to one element of y. */
static void access(const wfi_point *point, wf_access *out)
{
    wfi_spmv_lanes_access(point, out);
    out->meeting = fmin(point->values[SPMV_ID_LANES], point->problem->spmv.mean_row);
}

const wfi_variant wfi_spmv_atomic = {
    WFI_SPMV_ROW(atomic),
    .modules = WFI_MODULES_spmv_atomic,
    .second = WFI_MODULES_spmv_atomic_add,
    .summary = "lanes a row, each adding to y atomically; bits differ from run to run",
    .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), atomic accumulation",
    .parameter_count = WFI_COUNT(wfi_spmv_lanes_parameters),
    .parameters = wfi_spmv_lanes_parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .storage_buffers = 4,
    .push_bytes = WFI_SPMV_PUSH,
    .constants = constants_and_module,
    .fit = wfi_spmv_step_fit,
    .traffic = traffic,
    .access = access,
    .build = build,
};
