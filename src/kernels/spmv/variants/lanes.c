/* Variant lanes: neighbouring lanes of a subgroup multiply a row and add up by shuffles. */
#include "kernels/spmv/build.h"
#include "kernels/spmv/cost.h"
#include "kernels/spmv/variant.h"

static bool lanes_in_subgroup(const wfi_point *point)
{
    const uint32_t pinned = wfi_spmv_pinned_subgroup(point);
    return point->values[SPMV_ID_LANES] <= (pinned ? pinned : point->caps->subgroup_min);
}

static const wfi_constraint constraints[] = {
    WFI_SPMV_LANES_HALVE,
    WFI_SPMV_LANES_DIVIDE,
    {"lanes must fit the smallest subgroup, since a shuffle does not reach beyond it",
     lanes_in_subgroup},
    WFI_SPMV_WHOLE_SUBGROUPS("rows"),
};

static double fit(wfi_point *point)
{
    const wfi_spmv_profile *profile = wfi_spmv_profile_of(point->caps);
    point->values[SPMV_ID_LOCAL_X] = wfi_spmv_fit_local(point->caps);
    if (!profile->costs)
        return wfi_spmv_best_lanes(point, wfi_spmv_row_time, 0.5);
    point->values[SPMV_ID_LANES] = 1;
    return wfi_spmv_instruction_time(point, profile->costs->lanes);
}

const wfi_variant wfi_spmv_lanes = {
    WFI_SPMV_ROW(lanes),
    .modules = WFI_MODULES_spmv_lanes,
    .summary = "part of a subgroup a row, reduced by shuffles (xor)",
    .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), last step",
    .parameter_count = WFI_COUNT(wfi_spmv_lanes_parameters),
    .parameters = wfi_spmv_lanes_parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT,
    .storage_buffers = 4,
    .push_bytes = WFI_SPMV_PUSH,
    .subgroup_size = wfi_spmv_pinned_subgroup,
    .constants = wfi_spmv_strided_constants,
    .fit = fit,
    .traffic = wfi_spmv_lanes_traffic,
    .access = wfi_spmv_lanes_access,
    .build = wfi_spmv_lanes_build,
};
