/* The spmv family's table: variants, their parameters and constraints. */
#include "kernels/families.h"
#include "kernels/spmv_build.h"
#include "spmv/spmv_ids.h"
#include "wfi_shaders.h"

static double flops(const wfi_problem *problem)
{
    const uint32_t vectors = problem->spmv.vectors;
    return 2.0 * (double)problem->spmv.entries * (vectors ? vectors : 1);
}

/* Every value and index once, x and y once. */
static double least_bytes(const wfi_problem *problem)
{
    const wfi_spmv_problem *p = &problem->spmv;
    const double real = (double)wf_type_size(wfi_spmv_real(problem->type));
    return (double)p->entries * (4 + (double)wf_type_size(problem->type)) +
           (double)(p->rows + 1) * 4 +
           (double)(p->rows + p->columns) * real * (p->vectors ? p->vectors : 1);
}

/* ----------------------------------------------------------------------------------- parameters */

static const uint32_t sizes[] = {32, 64, 128, 256, 512, 1024},
                      lane_counts[] = {1, 2, 4, 8, 16, 32, 64, 128},
                      turn_counts[] = {1, 2, 4, 8, 16, 32},
                      windows[] = {1, 256, 2048, UINT32_C(1) << 20, UINT32_MAX},
                      teams[] = {1, 2, 4, 8, 16, 32}, item_counts[] = {3, 5, 7, 8, 9, 11},
                      block_sides[] = {2, 3, 4};

static const wfi_parameter parameters[] = {
    [WFI_SPMV_LOCAL_X] = {"local_x", 0, 128, 6, sizes, "work-items a work-group"},
    [WFI_SPMV_LANES] = {"lanes", SPMV_ID_LANES, 4, 8, lane_counts, "work-items that share a row"},
    [WFI_SPMV_BLOCK] = {"block", SPMV_ID_BLOCK, 2, 3, block_sides, "rows and columns of a block"},
};

static const wfi_parameter sliced_parameters[] = {
    [WFI_SPMV_SLICED_LOCAL_X] = {"local_x", 0, 128, 6, sizes, "work-items a work-group"},
    [WFI_SPMV_SLICED_TURNS] = {"turns", WFI_NO_CONSTANT, 16, 6, turn_counts,
                               "four entries each; longer rows get more lanes"},
    [WFI_SPMV_SLICED_WINDOW] = {"window", WFI_NO_CONSTANT, 256, 5, windows,
                                "rows sorted by length together"},
    [WFI_SPMV_SLICED_TEAM] = {"team", WFI_NO_CONSTANT, 1, 6, teams,
                              "subgroups that may share a long row"},
};

static const wfi_parameter merge_parameters[] = {
    {"local_x", 0, 128, 6, sizes, "work-items a work-group"},
    [WFI_SPMV_MERGE_ITEMS] = {"items", SPMV_ID_ITEMS, 7, 6, item_counts,
                              "rows and entries a work-item; odd ones meet no bank conflicts"},
};

static const wfi_parameter quads_parameters[] = {
    {"local_x", 0, 128, 6, sizes, "work-items a work-group"},
    [WFI_SPMV_QUADS_WINDOW] = {"window", WFI_NO_CONSTANT, 256, 5, windows,
                               "rows sorted by length together"},
};

static void group_size(const wfi_point *point, uint32_t size[3])
{
    size[0] = point->values[WFI_SPMV_LOCAL_X];
    size[1] = size[2] = 1;
}

static void append(wfi_pipeline_desc *desc, uint32_t id, uint32_t value)
{
    desc->constants[desc->constant_count++] = (wfi_constant){id, value};
}

static void strided_constant(const wfi_point *point, wfi_pipeline_desc *desc)
{
    append(desc, SPMV_ID_STRIDED, point->problem->spmv.strided);
}

/* The bins' own lanes replace this one. */
static void adaptive_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    strided_constant(point, desc);
    append(desc, SPMV_ID_LANES, 1);
}

static void many_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    append(desc, SPMV_ID_VECTORS, point->problem->spmv.vectors ? point->problem->spmv.vectors : 1);
}

static uint64_t real_bytes(const wfi_point *point)
{
    return wf_type_size(wfi_spmv_real(point->problem->type));
}

static uint64_t shared_bytes(const wfi_point *point)
{
    return point->values[WFI_SPMV_LOCAL_X] * real_bytes(point);
}

static uint64_t blocked_bytes(const wfi_point *point)
{
    return shared_bytes(point) * point->values[WFI_SPMV_BLOCK];
}

/* Products and ends of rows a step; an open sum and a flag a work-item; the search. */
static uint64_t merge_bytes(const wfi_point *point)
{
    const uint64_t local = point->values[WFI_SPMV_LOCAL_X];
    return local * (point->values[WFI_SPMV_MERGE_ITEMS] + UINT64_C(1)) * (real_bytes(point) + 4) +
           24;
}

static uint64_t sliced_bytes(const wfi_point *point)
{
    return point->values[WFI_SPMV_LOCAL_X] / 4 * real_bytes(point);
}

uint32_t wfi_spmv_pinned_subgroup(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const bool varies = caps->subgroup_min != caps->subgroup_max;
    return varies && caps->subgroup_size_control ? caps->subgroup_size : 0;
}

/* ---------------------------------------------------------------------------------- constraints */

static bool power_of_two(uint32_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static bool lanes_power_of_two(const wfi_point *point)
{
    return power_of_two(point->values[WFI_SPMV_LANES]);
}

static bool lanes_divide_group(const wfi_point *point)
{
    return point->values[WFI_SPMV_LOCAL_X] % point->values[WFI_SPMV_LANES] == 0;
}

static bool lanes_in_subgroup(const wfi_point *point)
{
    const uint32_t pinned = wfi_spmv_pinned_subgroup(point);
    return point->values[WFI_SPMV_LANES] <= (pinned ? pinned : point->caps->subgroup_min);
}

static bool group_of_whole_subgroups(const wfi_point *point)
{
    const uint32_t pinned = wfi_spmv_pinned_subgroup(point);
    return point->values[WFI_SPMV_LOCAL_X] % (pinned ? pinned : point->caps->subgroup_max) == 0;
}

static bool local_power_of_two(const wfi_point *point)
{
    return power_of_two(point->values[WFI_SPMV_LOCAL_X]);
}

static bool subgroup_known(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const bool known = wfi_spmv_pinned_subgroup(point) || caps->subgroup_min == caps->subgroup_max;
    return known && caps->subgroup_size >= 4 && caps->subgroup_size <= 128;
}

static bool turns_fit_their_field(const wfi_point *point)
{
    const uint32_t turns = point->values[WFI_SPMV_SLICED_TURNS];
    return turns > 0 && turns <= 2048;
}

static bool window_positive(const wfi_point *point)
{
    return point->values[WFI_SPMV_SLICED_WINDOW] > 0;
}

static bool quads_window_positive(const wfi_point *point)
{
    return point->values[WFI_SPMV_QUADS_WINDOW] > 0;
}

static bool row_fits_texels(const wfi_point *point)
{
    const uint64_t texels = point->problem->type == WF_TYPE_F64 ? 2 : 1;
    return (point->problem->spmv.longest_row + UINT64_C(3)) / 4 * texels <=
           point->caps->max_texel_elements;
}

static bool team_in_group(const wfi_point *point)
{
    const uint32_t team = point->values[WFI_SPMV_SLICED_TEAM];
    return power_of_two(team) &&
           team <= point->values[WFI_SPMV_SLICED_LOCAL_X] / point->caps->subgroup_size;
}

static bool one_vector(const wfi_point *point)
{
    return !point->problem->spmv.strided;
}

static bool x_fits_texels(const wfi_point *point)
{
    return point->problem->spmv.columns <= point->caps->max_texel_elements;
}

static bool vectors_in_group(const wfi_point *point)
{
    const uint32_t vectors = point->problem->spmv.vectors;
    return (vectors ? vectors : 1) * (uint64_t)point->values[WFI_SPMV_LANES] <=
           point->values[WFI_SPMV_LOCAL_X];
}

static bool items_positive(const wfi_point *point)
{
    return point->values[WFI_SPMV_MERGE_ITEMS] > 0 && point->values[WFI_SPMV_MERGE_ITEMS] <= 64;
}

static bool block_side_known(const wfi_point *point)
{
    return point->values[WFI_SPMV_BLOCK] >= 2 && point->values[WFI_SPMV_BLOCK] <= 8;
}

static const wfi_constraint lanes_constraints[] = {
    {"lanes must be a power of two, since the sum halves its distance", lanes_power_of_two},
    {"local_x must be a multiple of lanes, since rows are not split over work-groups",
     lanes_divide_group},
    {"lanes must fit the smallest subgroup, since shuffles do not leave it", lanes_in_subgroup},
    {"local_x must be a multiple of the subgroup, since rows are counted by subgroup",
     group_of_whole_subgroups},
};

static const wfi_constraint texel_constraints[] = {
    {"lanes must be a power of two, since the sum halves its distance", lanes_power_of_two},
    {"local_x must be a multiple of lanes, since rows are not split over work-groups",
     lanes_divide_group},
    {"x must fit a texel buffer of the device", x_fits_texels},
    {"it multiplies one vector without strides", one_vector},
};

static const wfi_constraint quads_constraints[] = {
    {"the longest row must fit a texel buffer of the device", row_fits_texels},
    {"window must be at least one row", quads_window_positive},
    {"it multiplies one vector without strides", one_vector},
};

static const wfi_constraint blocked_constraints[] = {
    {"lanes must be a power of two, since the sum halves its distance", lanes_power_of_two},
    {"local_x must be a multiple of lanes, since rows are not split over work-groups",
     lanes_divide_group},
    {"block must be 2 to 8", block_side_known},
};

static const wfi_constraint many_constraints[] = {
    {"lanes must be a power of two, since the sum halves its distance", lanes_power_of_two},
    {"lanes times the right-hand sides must fit local_x, since a row stays in a work-group",
     vectors_in_group},
};

static const wfi_constraint merge_constraints[] = {
    {"local_x must be a power of two, since the scan doubles its distance", local_power_of_two},
    {"items must be 1 to 64", items_positive},
    {"it multiplies one vector without strides", one_vector},
};

static const wfi_constraint adaptive_constraints[] = {
    {"local_x must be a power of two, since lanes halve it", local_power_of_two},
};

static const wfi_constraint sliced_constraints[] = {
    {"the subgroup size must be one of 4 to 128 and known, since slices are made for it",
     subgroup_known},
    {"local_x must be a multiple of the subgroup, since slices are counted by subgroup",
     group_of_whole_subgroups},
    {"turns must be 1 to 2048, since they are counted in 12 bits", turns_fit_their_field},
    {"window must be at least one row", window_positive},
    {"team must be a power of two and fit local_x, since a team stays in a work-group",
     team_in_group},
    {"it multiplies one vector without strides", one_vector},
};

/* ------------------------------------------------------------------------------------- variants */

#define MODULES(text)                                                                              \
    {                                                                                              \
        [WF_TYPE_F32] = &wfi_spv_spmv_##text##_f32, [WF_TYPE_F64] = &wfi_spv_spmv_##text##_f64,    \
        [WF_TYPE_F16] = &wfi_spv_spmv_##text##_f16                                                 \
    }

static const wfi_variant variants[] = {
    {
        .name = "row",
        .summary = "one work-item a row",
        .source = "OpenACC loop optimisation (Alliance), step 1",
        .modules = MODULES(row),
        .needs = WFI_PACKED_16BIT,
        .parameter_count = 1,
        .parameters = parameters,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .group_size = group_size,
        .constants = strided_constant,
        .fit = wfi_spmv_row_fit,
        .build = wfi_spmv_row_build,
    },
    {
        .name = "plain",
        .summary = "lanes of a work-group a row, a tree in shared memory, buffers not restrict",
        .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), baseline",
        .modules = MODULES(plain),
        .needs = WFI_PACKED_16BIT,
        .parameter_count = 2,
        .parameters = parameters,
        .constraint_count = 2,
        .constraints = lanes_constraints,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .shared_bytes = shared_bytes,
        .group_size = group_size,
        .constants = strided_constant,
        .fit = wfi_spmv_step_fit,
        .build = wfi_spmv_lanes_build,
    },
    {
        .name = "texel",
        .summary = "the same with x read through a uniform texel buffer, others read-only",
        .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), texture unit",
        .modules = MODULES(texel),
        .needs = WFI_PACKED_16BIT,
        .parameter_count = 2,
        .parameters = parameters,
        .constraint_count = 4,
        .constraints = texel_constraints,
        .storage_buffers = 4,
        .texel_buffers = 1 << WFI_SPMV_X_SLOT,
        .push_bytes = WFI_SPMV_PUSH,
        .shared_bytes = shared_bytes,
        .group_size = group_size,
        .constants = strided_constant,
        .fit = wfi_spmv_step_fit,
        .build = wfi_spmv_texel_build,
    },
    {
        .name = "shared",
        .summary = "the same with all buffers declared read-only and restrict",
        .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), read-only cache",
        .modules = MODULES(shared),
        .needs = WFI_PACKED_16BIT,
        .parameter_count = 2,
        .parameters = parameters,
        .constraint_count = 2,
        .constraints = lanes_constraints,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .shared_bytes = shared_bytes,
        .group_size = group_size,
        .constants = strided_constant,
        .fit = wfi_spmv_shared_fit,
        .build = wfi_spmv_lanes_build,
    },
    {
        .name = "atomic",
        .summary = "lanes a row, each adding to y atomically; bits differ from run to run",
        .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), atomic accumulation",
        .modules =
            {[WF_TYPE_F32] = &wfi_spv_spmv_atomic_f32, [WF_TYPE_F16] = &wfi_spv_spmv_atomic_f16},
        .needs = WFI_PACKED_16BIT,
        .parameter_count = 2,
        .parameters = parameters,
        .constraint_count = 2,
        .constraints = lanes_constraints,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .group_size = group_size,
        .constants = strided_constant,
        .fit = wfi_spmv_step_fit,
        .build = wfi_spmv_atomic_build,
    },
    {
        .name = "add",
        .summary = "a subgroup a row, reduced by the subgroup's addition",
        .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), subgroup reduction",
        .modules = MODULES(add),
        .needs = WFI_PACKED_16BIT,
        .parameter_count = 1,
        .parameters = parameters,
        .constraint_count = 1,
        .constraints = lanes_constraints + 3,
        .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .group_size = group_size,
        .subgroup_size = wfi_spmv_pinned_subgroup,
        .constants = strided_constant,
        .fit = wfi_spmv_add_fit,
        .build = wfi_spmv_add_build,
    },
    {
        .name = "lanes",
        .summary = "part of a subgroup a row, reduced by shuffles (xor)",
        .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), last step",
        .modules = MODULES(lanes),
        .needs = WFI_PACKED_16BIT,
        .parameter_count = 2,
        .parameters = parameters,
        .constraint_count = 4,
        .constraints = lanes_constraints,
        .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .group_size = group_size,
        .subgroup_size = wfi_spmv_pinned_subgroup,
        .constants = strided_constant,
        .fit = wfi_spmv_lanes_fit,
        .build = wfi_spmv_lanes_build,
    },
    {
        .name = "many",
        .summary = "several right-hand sides at once, a work-item each",
        .source = "Yang, Buluç, Owens 2018 (row splitting)",
        .modules = MODULES(many),
        .needs = WFI_PACKED_16BIT,
        .parameter_count = 2,
        .parameters = parameters,
        .constraint_count = 2,
        .constraints = many_constraints,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .shared_bytes = shared_bytes,
        .group_size = group_size,
        .constants = many_constants,
        .fit = wfi_spmv_many_fit,
        .build = wfi_spmv_many_build,
    },
    {
        .name = "adaptive",
        .summary = "rows binned by length, a dispatch with fitting lanes a bin",
        .source = "CSR-Adaptive (Greathouse and Daga 2014), here with whole rows only",
        .modules = MODULES(listed),
        .needs = WFI_PACKED_16BIT,
        .parameter_count = 1,
        .parameters = parameters,
        .constraint_count = 1,
        .constraints = adaptive_constraints,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .shared_bytes = shared_bytes,
        .group_size = group_size,
        .constants = adaptive_constants,
        .fit = wfi_spmv_adaptive_fit,
        .build = wfi_spmv_adaptive_build,
    },
    {
        .name = "merge",
        .summary = "equal pieces of the merged path of rows and entries, nothing prepared",
        .source = "Merge-path SpMV (Merrill and Garland 2016)",
        .modules = MODULES(merge),
        .needs = WFI_PACKED_16BIT,
        .parameter_count = 2,
        .parameters = merge_parameters,
        .constraint_count = 3,
        .constraints = merge_constraints,
        .storage_buffers = 5,
        .push_bytes = WFI_SPMV_PUSH,
        .shared_bytes = merge_bytes,
        .group_size = group_size,
        .constants = strided_constant,
        .fit = wfi_spmv_merge_fit,
        .build = wfi_spmv_merge_build,
    },
    {
        .name = "blocked",
        .summary = "dense blocks with one column index each",
        .source = "Blocked CSR (Im and Yelick 2001)",
        .modules = MODULES(blocked),
        .needs = WFI_PACKED_16BIT,
        .parameter_count = 3,
        .parameters = parameters,
        .constraint_count = 3,
        .constraints = blocked_constraints,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .shared_bytes = blocked_bytes,
        .group_size = group_size,
        .constants = strided_constant,
        .fit = wfi_spmv_blocked_fit,
        .build = wfi_spmv_blocked_build,
    },
    {
        .name = "sliced",
        .summary = "slices of sorted rows a subgroup, columns as 8- or 16-bit distances",
        .source = "SELL-C-sigma (Kreutzer et al. 2014), here with lanes and column distances",
        .modules = MODULES(sliced),
        .needs = WFI_PACKED_16BIT,
        .parameter_count = 4,
        .parameters = sliced_parameters,
        .constraint_count = 6,
        .constraints = sliced_constraints,
        .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT,
        .storage_buffers = 5,
        .push_bytes = WFI_SPMV_SLICED_PUSH,
        .shared_bytes = sliced_bytes,
        .group_size = group_size,
        .subgroup_size = wfi_spmv_pinned_subgroup,
        .fit = wfi_spmv_sliced_fit,
        .build = wfi_spmv_sliced_build,
    },
    {
        .name = "quads",
        .summary = "one work-item a row, four entries a texel; for devices that are processors",
        .source = "",
        .modules = MODULES(quads),
        .needs = WFI_PACKED_16BIT,
        .parameter_count = 2,
        .parameters = quads_parameters,
        .constraint_count = 3,
        .constraints = quads_constraints,
        .storage_buffers = 5,
        .texel_buffers =
            1 << WFI_SPMV_QUADS_ROWS | 1 << WFI_SPMV_QUADS_COLUMNS | 1 << WFI_SPMV_QUADS_VALUES,
        .push_bytes = WFI_SPMV_PUSH,
        .group_size = group_size,
        .fit = wfi_spmv_quads_fit,
        .build = wfi_spmv_quads_build,
    },
};

const wfi_family wfi_family_spmv = {
    .name = "spmv",
    .summary = "sparse matrix times vector, y = alpha A x + beta y",
    .variant_count = sizeof variants / sizeof *variants,
    .variants = variants,
    .flops = flops,
    .least_bytes = least_bytes,
};
