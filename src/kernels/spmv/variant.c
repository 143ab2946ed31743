#include "kernels/spmv/variant.h"

#include "kernels/spmv/cost.h"
#include "kernels/spmv/push.h"
#include "plan/access.h"

const uint32_t wfi_spmv_local_values[6] = {32, 64, 128, 256, 512, 1024},
               wfi_spmv_lane_values[8] = {1, 2, 4, 8, 16, 32, 64, 128},
               wfi_spmv_load_values[6] = {1, 2, 4, 8, 16, 32},
               wfi_spmv_window_values[5] = {1, 256, 2048, UINT32_C(1) << 20, UINT32_MAX},
               wfi_spmv_row_subgroup_values[6] = {1, 2, 4, 8, 16, 32};

const wfi_parameter wfi_spmv_row_parameters[1] = {WFI_SPMV_LOCAL_X};
const wfi_parameter wfi_spmv_lanes_parameters[2] = {WFI_SPMV_LOCAL_X, WFI_SPMV_LANES};

const wfi_constraint wfi_spmv_tree_constraints[2] = {WFI_SPMV_LANES_HALVE, WFI_SPMV_LANES_DIVIDE};

/* ------------------------------------------------------------------------------------- geometry */

void wfi_spmv_group(const wfi_point *point, uint32_t size[3])
{
    size[0] = point->values[SPMV_ID_LOCAL_X];
    size[1] = size[2] = 1;
}

void wfi_spmv_strided_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    wfi_pipeline_constant(desc, SPMV_ID_STRIDED, point->problem->spmv.strided);
}

uint32_t wfi_spmv_pinned_subgroup(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const bool varies = caps->subgroup_min != caps->subgroup_max;
    return varies && caps->subgroup_size_control ? caps->subgroup_size : 0;
}

bool wfi_spmv_lanes_in_subgroup(const wfi_point *point)
{
    const uint32_t pinned = wfi_spmv_pinned_subgroup(point);
    return point->values[SPMV_ID_LANES] <= (pinned ? pinned : point->caps->subgroup_min);
}

uint64_t wfi_spmv_real_bytes(const wfi_point *point)
{
    return wf_type_size(wfi_spmv_real(point->problem->type));
}

uint64_t wfi_spmv_lanes_shared(const wfi_point *point)
{
    return point->values[SPMV_ID_LOCAL_X] * wfi_spmv_real_bytes(point);
}

/* ---------------------------------------------------------------------------------- constraints */

bool wfi_spmv_power_of_two(uint32_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

bool wfi_spmv_lanes_power_of_two(const wfi_point *point)
{
    return wfi_spmv_power_of_two(point->values[SPMV_ID_LANES]);
}

bool wfi_spmv_lanes_divide_group(const wfi_point *point)
{
    return point->values[SPMV_ID_LOCAL_X] % point->values[SPMV_ID_LANES] == 0;
}

bool wfi_spmv_local_power_of_two(const wfi_point *point)
{
    return wfi_spmv_power_of_two(point->values[SPMV_ID_LOCAL_X]);
}

bool wfi_spmv_group_of_whole_subgroups(const wfi_point *point)
{
    const uint32_t pinned = wfi_spmv_pinned_subgroup(point);
    return point->values[SPMV_ID_LOCAL_X] % (pinned ? pinned : point->caps->subgroup_max) == 0;
}

bool wfi_spmv_subgroup_known(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const bool known = wfi_spmv_pinned_subgroup(point) || caps->subgroup_min == caps->subgroup_max;
    return known && caps->subgroup_size >= 4 && caps->subgroup_size <= 128;
}

bool wfi_spmv_window_positive(const wfi_point *point)
{
    return point->values[SPMV_ID_WINDOW] > 0;
}

bool wfi_spmv_row_subgroups_in_group(const wfi_point *point)
{
    const uint32_t row_subgroups = point->values[SPMV_ID_ROW_SUBGROUPS];
    return wfi_spmv_power_of_two(row_subgroups) &&
           row_subgroups <= point->values[SPMV_ID_LOCAL_X] / point->caps->subgroup_size;
}

bool wfi_spmv_one_vector(const wfi_point *point)
{
    return !point->problem->spmv.strided;
}

/* --------------------------------------------------------------------------------------- models */

double wfi_spmv_tree_fit(wfi_point *point)
{
    const wfi_spmv_profile *profile = wfi_spmv_profile_of(point->caps);
    point->values[SPMV_ID_LOCAL_X] = wfi_spmv_fit_local(point->caps);
    if (!profile->costs) /* a barrier costs more than a shuffle */
        return wfi_spmv_best_lanes(point, wfi_spmv_row_time, 4.0);
    point->values[SPMV_ID_LANES] = 1;
    return wfi_spmv_instruction_time(point, profile->costs->shared);
}

double wfi_spmv_step_fit(wfi_point *point)
{
    wfi_spmv_tree_fit(point);
    return -1;
}

/* --------------------------------------------------------------------------------------- access */

/* The first columns and values that a subgroup loads, where all rows have the mean length. */
void wfi_spmv_count_access(const wfi_point *point, uint32_t lanes, wf_access *out)
{
    const uint32_t subgroup = point->caps->subgroup_size, group = point->values[SPMV_ID_LOCAL_X];
    const uint32_t size = (uint32_t)wf_type_size(point->problem->type);
    const uint64_t length = (uint64_t)(point->problem->spmv.mean_row + 0.5);
    uint64_t columns[WFI_MOST_LANES], values[WFI_MOST_LANES];
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < subgroup && lane < group && count < WFI_MOST_LANES; lane++) {
        const uint64_t entry = lane / lanes * length + lane % lanes;
        if (lane % lanes >= length)
            continue;
        columns[count] = entry * 4;
        values[count++] = entry * size;
    }
    wfi_access_load(out, columns, count, 4);
    wfi_access_load(out, values, count, size);
    out->row_lanes = lanes;
    out->group_rows = group > lanes ? group / lanes : 1;
}

void wfi_spmv_row_access(const wfi_point *point, wf_access *out)
{
    wfi_spmv_count_access(point, 1, out);
}

void wfi_spmv_lanes_access(const wfi_point *point, wf_access *out)
{
    wfi_spmv_count_access(point, wfi_point_value(point, SPMV_ID_LANES, 1), out);
}
