/* Variant add: a subgroup multiplies a row and adds up by the subgroup's own addition. */
#include "kernels/spmv/build.h"
#include "kernels/spmv/cost.h"
#include "kernels/spmv/variant.h"

static const wfi_constraint constraints[] = {WFI_SPMV_WHOLE_SUBGROUPS("rows")};

static double fit(wfi_point *point)
{
    const wfi_spmv_profile *profile = wfi_spmv_profile_of(point->caps);
    point->values[SPMV_ID_LOCAL_X] = wfi_spmv_fit_local(point->caps);
    return profile->costs ? wfi_spmv_instruction_time(point, profile->costs->add)
                          : wfi_spmv_row_time(point, point->caps->subgroup_size, 0.6);
}

static uint32_t row_lanes(const wfi_point *point)
{
    const uint32_t pinned = wfi_spmv_pinned_subgroup(point);
    return pinned ? pinned : point->caps->subgroup_max;
}

/* Rows are counted by the fewest subgroups that a work-group may have; where it has more, the
 * work-groups at the end find nothing to do. */
static wf_result add_subgroups(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                               wfi_spmv_block *block)
{
    return wfi_spmv_add_block(plan, point, job, block,
                              point->values[SPMV_ID_LOCAL_X] / row_lanes(point),
                              job->matrix.vectors);
}

static void access(const wfi_point *point, wf_access *out)
{
    wfi_spmv_count_access(point, row_lanes(point), out);
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, 0, add_subgroups);
}

const wfi_variant wfi_spmv_add = {
    WFI_SPMV_ROW(add),
    .modules = WFI_MODULES_spmv_add,
    .summary = "a subgroup a row, reduced by the subgroup's addition",
    .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), subgroup reduction",
    .parameter_count = WFI_COUNT(wfi_spmv_row_parameters),
    .parameters = wfi_spmv_row_parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT,
    .storage_buffers = 4,
    .push_bytes = WFI_SPMV_PUSH,
    .subgroup_size = wfi_spmv_pinned_subgroup,
    .constants = wfi_spmv_strided_constants,
    .fit = fit,
    .access = access,
    .build = build,
};
