/* Variant atomic: one dispatch scales y, the next adds to it atomically. */
#include <math.h>

#include "kernels/spmv/build.h"
#include "kernels/spmv/variant.h"
#include "plan/dispatch_size.h"

static const wfi_spirv *const scale_modules[WF_TYPE_COUNT] = WFI_MODULES_spmv_scale;

static wf_result add_atomic(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                            wfi_spmv_block *block)
{
    const uint32_t local = point->values[SPMV_ID_LOCAL_X];
    wfi_pipeline_desc desc;
    wfi_step step, scale;
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
    .summary = "lanes a row, each adding to y atomically; bits differ from run to run",
    .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), atomic accumulation",
    .parameter_count = WFI_COUNT(wfi_spmv_lanes_parameters),
    .parameters = wfi_spmv_lanes_parameters,
    .constraint_count = WFI_COUNT(wfi_spmv_tree_constraints),
    .constraints = wfi_spmv_tree_constraints,
    .storage_buffers = 4,
    .push_bytes = WFI_SPMV_PUSH,
    .constants = wfi_spmv_strided_constants,
    .fit = wfi_spmv_step_fit,
    .access = access,
    .build = build,
};
