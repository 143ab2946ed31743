/* Variant add: a subgroup, or as many lanes as are asked for, multiply a row and add up by the
 * subgroup's own addition. */
#include "kernels/spmv/build.h"
#include "kernels/spmv/cost.h"
#include "kernels/spmv/traffic.h"
#include "kernels/spmv/variant.h"

static const uint32_t lane_values[] = {0, 32};

static const wfi_parameter parameters[] = {
    WFI_SPMV_LOCAL_X,
    {"lanes", SPMV_ID_LANES, 0, WFI_COUNT(lane_values), lane_values,
     "work-items that multiply a row together; 0: a subgroup's"},
};

static uint32_t row_lanes(const wfi_point *point)
{
    const uint32_t lanes = wfi_point_value(point, SPMV_ID_LANES, 0);
    const uint32_t pinned = wfi_spmv_pinned_subgroup(point);
    return lanes ? lanes : pinned ? pinned : point->caps->subgroup_max;
}

/* Whether a row may be of more or of less than one subgroup. */
static bool is_tree(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const uint32_t pinned = wfi_spmv_pinned_subgroup(point), lanes = row_lanes(point);
    const bool one =
        pinned ? lanes == pinned : lanes == caps->subgroup_min && lanes == caps->subgroup_max;
    return point->values[SPMV_ID_LANES] && !one;
}

static uint64_t shared_bytes(const wfi_point *point)
{
    return is_tree(point) && !wfi_spmv_lanes_in_subgroup(point) ? wfi_spmv_lanes_shared(point) : 0;
}

static void constants_and_module(const wfi_point *point, wfi_pipeline_desc *desc)
{
    wfi_spmv_strided_constants(point, desc);
    if (is_tree(point))
        desc->spirv = point->variant->second[point->problem->type];
}

static bool lanes_halve(const wfi_point *point)
{
    return point->values[SPMV_ID_LANES] == 0 || wfi_spmv_lanes_power_of_two(point);
}

static bool lanes_divide(const wfi_point *point)
{
    return point->values[SPMV_ID_LANES] == 0 || wfi_spmv_lanes_divide_group(point);
}

static const wfi_constraint constraints[] = {
    {"lanes must be 0 or a power of two, since each step of the sum halves their number",
     lanes_halve},
    {"local_x must be a multiple of lanes, since a row stays in one work-group", lanes_divide},
    WFI_SPMV_WHOLE_SUBGROUPS("rows"),
};

static double fit(wfi_point *point)
{
    const wfi_spmv_profile *profile = wfi_spmv_profile_of(point->caps);
    point->values[SPMV_ID_LOCAL_X] = wfi_spmv_fit_local(point->caps);
    point->values[SPMV_ID_LANES] = 0;
    return profile->costs ? wfi_spmv_instruction_time(point, profile->costs->add)
                          : wfi_spmv_row_time(point, point->caps->subgroup_size, 0.6);
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

static void traffic(const wfi_point *point, wfi_traffic *out)
{
    wfi_spmv_count_traffic(point, row_lanes(point), out);
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
    .second = WFI_MODULES_spmv_add_tree,
    .summary = "a subgroup a row, reduced by the subgroup's addition; lanes of several, by a tree "
               "across them",
    .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), subgroup reduction",
    .parameter_count = WFI_COUNT(parameters),
    .parameters = parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT,
    .storage_buffers = 4,
    .push_bytes = WFI_SPMV_PUSH,
    .traits = WFI_SPMV_CONVERTS,
    .subgroup_size = wfi_spmv_pinned_subgroup,
    .shared_bytes = shared_bytes,
    .constants = constants_and_module,
    .fit = fit,
    .traffic = traffic,
    .access = access,
    .build = build,
};
