/* Sparse matrix times vector, compressed sparse rows: rows of the family, and its plans. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/params.h"
#include "kernels/families.h"
#include "kernels/grid.h"
#include "kernels/plan.h"
#include "kernels/spmv_build.h"
#include "spmv/spmv_ids.h"
#include "wfi_shaders.h"

/* As in spmv_problem.glsl. */
typedef struct spmv_push {
    uint32_t rows, columns_at, base_y;
} spmv_push;

static double flops(const wfi_problem *problem)
{
    return 2.0 * (double)problem->spmv.entries;
}

/* Every value and index once, x and y once. */
static double least_bytes(const wfi_problem *problem)
{
    const wfi_spmv_problem *p = &problem->spmv;
    const double real = (double)wf_type_size(problem->type);
    return (double)p->entries * (4 + real) + (double)(p->rows + 1) * 4 +
           (double)(p->rows + p->columns) * real;
}

/* ------------------------------------------------------------------------------------- building */

/* A block of whole rows whose index and value arrays each fit one binding. */
typedef struct row_block {
    uint32_t first, rows;
} row_block;

/* The block that starts at `first`, as long as bindings allow; rows 0 when even one row is over. */
static row_block next_block(const wf_caps *caps, const wf_spmv_params *p, uint32_t first)
{
    uint64_t range = caps->max_storage_range;
    if (range > caps->max_buffer)
        range = caps->max_buffer;
    const uint64_t real = wf_type_size(p->type);
    row_block block = {first, 0};
    while (first + block.rows < p->rows) {
        const uint64_t entries =
            p->row_offsets[first + block.rows + 1] - (uint64_t)p->row_offsets[first];
        const uint64_t index_bytes = (entries + block.rows + 2) * 4;
        const uint64_t y_bytes = (block.rows + UINT64_C(1)) * real + caps->storage_alignment;
        if (index_bytes > range || entries * real > range || y_bytes > range)
            break;
        block.rows++;
    }
    return block;
}

/* Row offsets counted from the block's first entry, then the column indices; malloc'ed. */
static uint32_t *pack_pattern(const wf_spmv_params *p, row_block block, uint64_t *words)
{
    const uint32_t begin = p->row_offsets[block.first];
    const uint64_t entries = p->row_offsets[block.first + block.rows] - (uint64_t)begin;
    *words = block.rows + UINT64_C(1) + entries;
    uint32_t *pattern = malloc((size_t)*words * sizeof *pattern);
    if (!pattern)
        return NULL;
    for (uint32_t i = 0; i <= block.rows; i++)
        pattern[i] = p->row_offsets[block.first + i] - begin;
    if (entries)
        memcpy(pattern + block.rows + 1, p->column_indices + begin,
               (size_t)entries * sizeof *pattern);
    return pattern;
}

static wf_result upload_block(wf_plan *plan, const wf_spmv_params *p, row_block block,
                              wfi_step *step)
{
    const uint64_t real = wf_type_size(p->type);
    const uint64_t begin = p->row_offsets[block.first];
    const uint64_t value_bytes = (p->row_offsets[block.first + block.rows] - begin) * real;
    uint64_t words = 0;
    uint32_t pattern_buffer = 0, value_buffer = 0;
    uint32_t *pattern = pack_pattern(p, block, &words);
    if (!pattern)
        return wfi_fail(&wfi_plan_device(plan)->log, WF_ERROR_OUT_OF_HOST_MEMORY,
                        "out of host memory");
    wf_result result = wfi_plan_add_own(plan, pattern, words * 4, &pattern_buffer);
    free(pattern);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_own(plan, (const char *)p->values + begin * real, value_bytes,
                                  &value_buffer);
    step->slots[0] = (wfi_slot){WFI_SLOT_OWN, pattern_buffer, 0, words * 4};
    step->slots[1] = (wfi_slot){WFI_SLOT_OWN, value_buffer, 0, value_bytes ? value_bytes : 4};
    return result;
}

static wf_result add_block(wf_plan *plan, const wfi_point *point, const wf_spmv_params *p,
                           uint32_t pipeline, row_block block, uint32_t rows_a_group)
{
    const uint64_t real = wf_type_size(p->type);
    spmv_push push = {block.rows, block.rows + 1, 0};
    wfi_step step = {.pipeline = pipeline, .slot_count = 4, .push_bytes = sizeof push};
    const uint64_t groups = (block.rows + (uint64_t)rows_a_group - 1) / rows_a_group;
    wf_result result = wfi_grid(plan, groups, step.groups);
    if (result == WF_SUCCESS)
        result = upload_block(plan, p, block, &step);
    step.slots[2] = (wfi_slot){WFI_SLOT_BINDING, WF_SPMV_X, 0, p->columns * real};
    step.slots[3] = wfi_spmv_y_slot(point->caps, p, block.first, block.rows, &push.base_y);
    memcpy(step.push, &push, sizeof push);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

static wf_result check_x(const wf_device *device, const wf_spmv_params *p)
{
    const uint64_t bytes = p->columns * (uint64_t)wf_type_size(p->type);
    if (bytes <= device->caps.max_storage_range)
        return WF_SUCCESS;
    return wfi_fail(&device->log, WF_ERROR_TOO_LARGE,
                    "x of %llu bytes is over this device's binding of %llu bytes",
                    (unsigned long long)bytes, (unsigned long long)device->caps.max_storage_range);
}

wf_result wfi_spmv_begin(wf_plan *plan, const wfi_point *point, const wf_spmv_params *params,
                         uint32_t *pipeline)
{
    const uint64_t real = wf_type_size(params->type);
    const wfi_binding_spec x = {"x", WFI_READS, params->columns * real},
                           y = {"y", WFI_WRITES, params->rows * real};
    wfi_pipeline_desc desc;
    wfi_point_pipeline(point, &desc);
    wf_result result = check_x(wfi_plan_device(plan), params);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_pipeline(plan, &desc, pipeline);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_binding(plan, &x);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_binding(plan, &y);
    return result;
}

wfi_slot wfi_spmv_y_slot(const wf_caps *caps, const wf_spmv_params *params, uint32_t first,
                         uint32_t rows, uint32_t *base_y)
{
    const uint64_t real = wf_type_size(params->type);
    const uint64_t begin = first * real, start = begin - begin % caps->storage_alignment;
    *base_y = (uint32_t)((begin - start) / real);
    return (wfi_slot){WFI_SLOT_BINDING, WF_SPMV_Y, start, begin - start + rows * real};
}

wf_result wfi_spmv_row_too_long(wf_plan *plan, const wf_spmv_params *params, uint32_t row)
{
    return wfi_fail(&wfi_plan_device(plan)->log, WF_ERROR_TOO_LARGE,
                    "row %u has %u entries, more than one binding of this device holds", row,
                    params->row_offsets[row + 1] - params->row_offsets[row]);
}

static wf_result build(wf_plan *plan, const wfi_point *point, const wf_spmv_params *p,
                       uint32_t rows_a_group)
{
    uint32_t pipeline = 0;
    wf_result result = wfi_spmv_begin(plan, point, p, &pipeline);
    for (uint32_t first = 0; result == WF_SUCCESS && first < p->rows;) {
        const row_block block = next_block(point->caps, p, first);
        if (block.rows == 0)
            return wfi_spmv_row_too_long(plan, p, first);
        result = add_block(plan, point, p, pipeline, block, rows_a_group);
        first += block.rows;
    }
    return result;
}

/* ------------------------------------------------------------------------------------- variants */

enum { LOCAL_X, LANES };

static const uint32_t sizes[] = {32, 64, 128, 256, 512, 1024},
                      lane_counts[] = {1, 2, 4, 8, 16, 32, 64, 128};

static const uint32_t turn_counts[] = {1, 2, 4, 8, 16, 32},
                      windows[] = {1, 256, 2048, UINT32_C(1) << 20, UINT32_MAX};

static const wfi_parameter sliced_parameters[] = {
    [WFI_SPMV_SLICED_LOCAL_X] = {"local_x", 0, 128, 6, sizes, "work-items a work-group"},
    [WFI_SPMV_SLICED_TURNS] = {"turns", WFI_NO_CONSTANT, 16, 6, turn_counts,
                               "four entries each; longer rows get more lanes"},
    [WFI_SPMV_SLICED_WINDOW] = {"window", WFI_NO_CONSTANT, 256, 5, windows,
                                "rows sorted by length together"},
};

static const wfi_parameter parameters[] = {
    {"local_x", 0, 128, 6, sizes, "work-items a work-group"},
    {"lanes", SPMV_ID_LANES, 4, 8, lane_counts, "work-items that share a row"},
};

static void group_size(const wfi_point *point, uint32_t size[3])
{
    size[0] = point->values[LOCAL_X];
    size[1] = size[2] = 1;
}

static bool lanes_power_of_two(const wfi_point *point)
{
    const uint32_t lanes = point->values[LANES];
    return lanes > 0 && (lanes & (lanes - 1)) == 0;
}

static bool lanes_divide_group(const wfi_point *point)
{
    return point->values[LOCAL_X] % point->values[LANES] == 0;
}

uint32_t wfi_spmv_pinned_subgroup(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const bool varies = caps->subgroup_min != caps->subgroup_max;
    return varies && caps->subgroup_size_control ? caps->subgroup_size : 0;
}

static bool lanes_in_subgroup(const wfi_point *point)
{
    const uint32_t pinned = wfi_spmv_pinned_subgroup(point);
    return point->values[LANES] <= (pinned ? pinned : point->caps->subgroup_min);
}

static bool group_of_whole_subgroups(const wfi_point *point)
{
    const uint32_t pinned = wfi_spmv_pinned_subgroup(point);
    return point->values[LOCAL_X] % (pinned ? pinned : point->caps->subgroup_max) == 0;
}

static const wfi_constraint lanes_constraints[] = {
    {"lanes must be a power of two, since the sum halves its distance", lanes_power_of_two},
    {"local_x must be a multiple of lanes, since rows are not split over work-groups",
     lanes_divide_group},
    {"lanes must fit the smallest subgroup, since shuffles do not leave it", lanes_in_subgroup},
    {"local_x must be a multiple of the subgroup, since rows are counted by subgroup",
     group_of_whole_subgroups},
};

static bool subgroup_known(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const bool known = wfi_spmv_pinned_subgroup(point) || caps->subgroup_min == caps->subgroup_max;
    return known && caps->subgroup_size >= 4 && caps->subgroup_size <= 128;
}

static bool turns_fit_their_field(const wfi_point *point)
{
    const uint32_t turns = point->values[WFI_SPMV_SLICED_TURNS];
    return turns > 0 && turns <= 4096;
}

static bool window_positive(const wfi_point *point)
{
    return point->values[WFI_SPMV_SLICED_WINDOW] > 0;
}

static const wfi_constraint sliced_constraints[] = {
    {"the subgroup size must be one of 4 to 128 and known, since slices are made for it",
     subgroup_known},
    {"local_x must be a multiple of the subgroup, since slices are counted by subgroup",
     group_of_whole_subgroups},
    {"turns must be 1 to 4096, since they are counted in 16 bits", turns_fit_their_field},
    {"window must be at least one row", window_positive},
};

static uint64_t shared_bytes(const wfi_point *point)
{
    return point->values[LOCAL_X] * (uint64_t)wf_type_size(point->problem->type);
}

static wf_result row_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return build(plan, point, params, point->values[LOCAL_X]);
}

static wf_result lanes_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return build(plan, point, params, point->values[LOCAL_X] / point->values[LANES]);
}

static double row_fit(wfi_point *point);
static double lanes_fit(wfi_point *point);
static double shared_fit(wfi_point *point);
static double sliced_fit(wfi_point *point);

static const wfi_variant variants[] = {
    {
        .name = "row",
        .summary = "one work-item a row",
        .source = "OpenACC loop optimisation (Alliance), step 1",
        .modules = {[WF_TYPE_F32] = &wfi_spv_spmv_row_f32, [WF_TYPE_F64] = &wfi_spv_spmv_row_f64},
        .parameter_count = 1,
        .parameters = parameters,
        .storage_buffers = 4,
        .push_bytes = sizeof(spmv_push),
        .group_size = group_size,
        .fit = row_fit,
        .build = row_build,
    },
    {
        .name = "lanes",
        .summary = "part of a subgroup a row, reduced by shuffles",
        .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), last step",
        .modules =
            {[WF_TYPE_F32] = &wfi_spv_spmv_lanes_f32, [WF_TYPE_F64] = &wfi_spv_spmv_lanes_f64},
        .parameter_count = 2,
        .parameters = parameters,
        .constraint_count = 4,
        .constraints = lanes_constraints,
        .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT,
        .storage_buffers = 4,
        .push_bytes = sizeof(spmv_push),
        .group_size = group_size,
        .subgroup_size = wfi_spmv_pinned_subgroup,
        .fit = lanes_fit,
        .build = lanes_build,
    },
    {
        .name = "shared",
        .summary = "lanes of a work-group a row, reduced in shared memory",
        .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), step 1",
        .modules =
            {[WF_TYPE_F32] = &wfi_spv_spmv_shared_f32, [WF_TYPE_F64] = &wfi_spv_spmv_shared_f64},
        .parameter_count = 2,
        .parameters = parameters,
        .constraint_count = 2,
        .constraints = lanes_constraints,
        .storage_buffers = 4,
        .push_bytes = sizeof(spmv_push),
        .shared_bytes = shared_bytes,
        .group_size = group_size,
        .fit = shared_fit,
        .build = lanes_build,
    },
    {
        .name = "sliced",
        .summary = "slices of sorted rows a subgroup, columns as 8- or 16-bit distances",
        .source = "SELL-C-sigma (Kreutzer et al. 2014), here with lanes and column distances",
        .modules =
            {[WF_TYPE_F32] = &wfi_spv_spmv_sliced_f32, [WF_TYPE_F64] = &wfi_spv_spmv_sliced_f64},
        .parameter_count = 3,
        .parameters = sliced_parameters,
        .constraint_count = 4,
        .constraints = sliced_constraints,
        .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT,
        .storage_buffers = 5,
        .push_bytes = WFI_SPMV_SLICED_PUSH,
        .group_size = group_size,
        .subgroup_size = wfi_spmv_pinned_subgroup,
        .fit = sliced_fit,
        .build = wfi_spmv_sliced_build,
    },
};

/* The largest candidate size that the device allows, up to 256: enough to hide latency, small
 * enough that a long row does not keep a large work-group. */
static uint32_t fit_local(const wf_caps *caps)
{
    uint32_t size = caps->max_invocations < 256 ? caps->max_invocations : 256;
    if (size > caps->max_group_size[0])
        size = caps->max_group_size[0];
    uint32_t power = 1;
    while (power * 2 <= size)
        power *= 2;
    return power;
}

/* Time units of one lane count: turns of the loop a row (a row takes as many as its longest lane,
 * rows side by side wait for the longest of them), a step of the reduction each halving, and on
 * GPUs the memory transactions that lanes apart in memory cost. */
static double row_time(const wfi_point *point, uint32_t lanes, double reduction_step)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const bool cpu = point->caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const double typical = p->mean_row + (lanes == 1 ? p->row_deviation : p->row_deviation / 2);
    const double turns = ceil(typical / lanes) + 1;
    const double scatter = cpu ? 1.0 : 1.0 + fmin(p->mean_row / lanes, 8.0);
    const double steps = lanes > 1 ? log2(lanes) * reduction_step : 0;
    return (double)p->rows * lanes * (turns * scatter + steps);
}

/* The lane count of least time among those legal; the point gets it. */
static double best_lanes(wfi_point *point, double reduction_step)
{
    double best = -1;
    uint32_t best_count = 1;
    for (size_t i = 0; i < sizeof lane_counts / sizeof *lane_counts; i++) {
        point->values[LANES] = lane_counts[i];
        if (!wfi_point_legal(point, NULL))
            continue;
        const double time = row_time(point, lane_counts[i], reduction_step);
        if (best < 0 || time < best) {
            best = time;
            best_count = lane_counts[i];
        }
    }
    point->values[LANES] = best_count;
    return best;
}

static double row_fit(wfi_point *point)
{
    point->values[LOCAL_X] = fit_local(point->caps);
    return row_time(point, 1, 0);
}

static double lanes_fit(wfi_point *point)
{
    point->values[LOCAL_X] = fit_local(point->caps);
    return best_lanes(point, 0.5);
}

/* A barrier in place of a shuffle. */
static double shared_fit(wfi_point *point)
{
    point->values[LOCAL_X] = fit_local(point->caps);
    return best_lanes(point, 4.0);
}

/* Turns as many as leave enough subgroups to fill the device. Sorting pays where rows differ; the
 * wider the window, the further apart the x of a slice may lie. A CPU has no idle lanes to fill and
 * gathers by the element: there it pays by what sorting saves alone. */
static double sliced_fit(wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const wfi_spmv_problem *p = &point->problem->spmv;
    const bool cpu = caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const double units = caps->compute_units ? caps->compute_units : 32;
    const double spread = p->mean_row > 0 ? p->row_deviation / p->mean_row : 0;
    const double turns_there_are = (double)p->entries / (4.0 * caps->subgroup_size);
    uint32_t turns = cpu ? 16 : 8;
    while (!cpu && turns > 2 && turns_there_are / turns < units * 30)
        turns /= 2;
    point->values[WFI_SPMV_SLICED_LOCAL_X] = fit_local(caps);
    point->values[WFI_SPMV_SLICED_TURNS] = turns;
    point->values[WFI_SPMV_SLICED_WINDOW] = spread < 0.35 ? 1 : spread < 3 ? 2048 : UINT32_MAX;
    return ((double)p->entries + (double)p->rows) * (cpu ? 1.15 : 1.0);
}

const wfi_family wfi_family_spmv = {
    .name = "spmv",
    .summary = "sparse matrix times vector, y = A x",
    .variant_count = sizeof variants / sizeof *variants,
    .variants = variants,
    .flops = flops,
    .least_bytes = least_bytes,
};

/* ------------------------------------------------------------------------------------ public API */

/* The caller's arrays decide what the device reads: every offset and index is checked. */
static wf_result check_pattern(const wf_device *device, const wf_spmv_params *p)
{
    if (p->row_offsets[0] != 0)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_spmv_plan: row_offsets[0] is %u, not 0", p->row_offsets[0]);
    for (uint32_t row = 0; row < p->rows; row++)
        if (p->row_offsets[row + 1] < p->row_offsets[row])
            return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                            "wf_spmv_plan: row_offsets[%u] is below the one before", row + 1);
    const uint32_t entries = p->row_offsets[p->rows];
    if (entries && (!p->column_indices || !p->values))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_spmv_plan: column_indices and values are missing");
    for (uint32_t i = 0; i < entries; i++)
        if (p->column_indices[i] >= p->columns)
            return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                            "wf_spmv_plan: column_indices[%u] is %u, not below %u", i,
                            p->column_indices[i], p->columns);
    return WF_SUCCESS;
}

static wf_result check_params(const wf_device *device, const wf_spmv_params *p)
{
    if (p->rows == 0 || p->columns == 0 || !p->row_offsets)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_spmv_plan: rows and columns must be positive and row_offsets given");
    if ((unsigned)p->type >= WF_TYPE_COUNT)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT, "wf_spmv_plan: unknown type");
    if (p->rows == UINT32_MAX)
        return wfi_fail(&device->log, WF_ERROR_TOO_LARGE, "wf_spmv_plan: too many rows");
    return check_pattern(device, p);
}

static wfi_problem describe(const wf_spmv_params *p)
{
    wfi_spmv_problem s = {
        .rows = p->rows, .columns = p->columns, .entries = p->row_offsets[p->rows]};
    s.mean_row = (double)s.entries / (double)s.rows;
    double squares = 0;
    for (uint32_t row = 0; row < p->rows; row++) {
        const uint32_t length = p->row_offsets[row + 1] - p->row_offsets[row];
        const double difference = length - s.mean_row;
        squares += difference * difference;
        if (length > s.longest_row)
            s.longest_row = length;
    }
    s.row_deviation = sqrt(squares / (double)s.rows);
    return (wfi_problem){.family = WF_FAMILY_SPMV, .type = p->type, .spmv = s};
}

wf_result wf_spmv_plan(wf_device *device, const wf_spmv_params *given, wf_plan **out)
{
    if (!device || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_spmv_params params;
    wf_result result = wfi_params_read(&device->log, "wf_spmv_plan", given, &params, sizeof params);
    if (result == WF_SUCCESS)
        result = check_params(device, &params);
    if (result != WF_SUCCESS)
        return result;
    wfi_choice choice;
    const wfi_problem problem = describe(&params);
    result = wfi_choose(&device->log, &device->caps, &problem, params.tuning, &choice);
    return result == WF_SUCCESS ? wfi_plan_create_with(device, &choice, params.jobs, &params, out)
                                : result;
}
