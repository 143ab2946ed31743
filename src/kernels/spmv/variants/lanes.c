/* Variant lanes: neighbouring lanes multiply a row and add up by shuffles. */
#include <math.h>

#include "kernels/spmv/build.h"
#include "kernels/spmv/cost.h"
#include "kernels/spmv/traffic.h"
#include "kernels/spmv/variant.h"

static uint64_t shared_bytes(const wfi_point *point)
{
    return wfi_spmv_lanes_in_subgroup(point) ? 0 : wfi_spmv_lanes_shared(point);
}

static void constants_and_module(const wfi_point *point, wfi_pipeline_desc *desc)
{
    wfi_spmv_strided_constants(point, desc);
    if (!wfi_spmv_lanes_in_subgroup(point))
        desc->spirv = point->variant->second[point->problem->type];
}

static const wfi_constraint constraints[] = {
    WFI_SPMV_LANES_HALVE,
    WFI_SPMV_LANES_DIVIDE,
    WFI_SPMV_WHOLE_SUBGROUPS("rows"),
};

/* Trees across subgroups are there to be compared with; no model picks them. */
static double time_of(const wfi_point *point, uint32_t lanes, double reduction_step)
{
    return wfi_spmv_lanes_in_subgroup(point) ? wfi_spmv_row_time(point, lanes, reduction_step)
                                             : (double)INFINITY;
}

static double fit(wfi_point *point)
{
    const wfi_spmv_profile *profile = wfi_spmv_profile_of(point->caps);
    point->values[SPMV_ID_LOCAL_X] = wfi_spmv_fit_local(point->caps);
    if (!profile->costs)
        return wfi_spmv_best_lanes(point, time_of, 0.5);
    point->values[SPMV_ID_LANES] = 1;
    return wfi_spmv_instruction_time(point, profile->costs->lanes);
}

const wfi_variant wfi_spmv_lanes = {
    WFI_SPMV_ROW(lanes),
    .modules = WFI_MODULES_spmv_lanes,
    .second = WFI_MODULES_spmv_lanes_tree,
    .summary = "lanes of a subgroup a row, reduced by shuffles; of several, by a tree across them",
    .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), last step",
    .parameter_count = WFI_COUNT(wfi_spmv_lanes_parameters),
    .parameters = wfi_spmv_lanes_parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT,
    .storage_buffers = 4,
    .push_bytes = WFI_SPMV_PUSH,
    .traits = WFI_SPMV_CONVERTS,
    .subgroup_size = wfi_spmv_pinned_subgroup,
    .shared_bytes = shared_bytes,
    .constants = constants_and_module,
    .fit = fit,
    .traffic = wfi_spmv_lanes_traffic,
    .access = wfi_spmv_lanes_access,
    .build = wfi_spmv_lanes_build,
};
