/* The search spaces of the spmv family: parameters, geometry and constraints of its rows. */
#include "kernels/spmv/rows.h"

/* ----------------------------------------------------------------------------------- parameters */

static const uint32_t sizes[] = {32, 64, 128, 256, 512, 1024},
                      lane_counts[] = {1, 2, 4, 8, 16, 32, 64, 128},
                      load_counts[] = {1, 2, 4, 8, 16, 32}, slice_counts[] = {1, 2, 4, 8},
                      windows[] = {1, 256, 2048, UINT32_C(1) << 20, UINT32_MAX},
                      group_rows[] = {1, 2, 4, 8, 16, 32}, item_counts[] = {3, 5, 7, 8, 9, 11},
                      block_sides[] = {2, 3, 4}, entry_counts[] = {4, 8, 16},
                      row_counts[] = {1, 2, 3, 4, 6, 8}, long_sizes[] = {0, 128, 256, 512, 1024};

const wfi_parameter wfi_spmv_parameters[3] = {
    {"local_x", SPMV_ID_LOCAL_X, 128, 6, sizes, "work-items a work-group"},
    {"lanes", SPMV_ID_LANES, 4, 8, lane_counts, "work-items that share a row"},
    {"block", SPMV_ID_BLOCK, 2, 3, block_sides, "rows and columns of a block"},
};

const wfi_parameter wfi_spmv_sliced_parameters[4] = {
    {"local_x", SPMV_ID_LOCAL_X, 128, 6, sizes, "work-items a work-group"},
    {"loads", SPMV_ID_SLICE_LOADS, 16, 6, load_counts,
     "four entries each; longer rows get more lanes"},
    {"window", SPMV_ID_WINDOW, 256, 5, windows, "rows sorted by length together"},
    {"row_subgroups", SPMV_ID_ROW_SUBGROUPS, 1, 6, group_rows,
     "subgroups that may share a long row"},
};

const wfi_parameter wfi_spmv_equal_parameters[7] = {
    {"local_x", SPMV_ID_LOCAL_X, 128, 6, sizes, "work-items a work-group"},
    {"loads", SPMV_ID_LOADS, 2, 4, load_counts, "four entries each of a block's lanes"},
    {"slices", SPMV_ID_SLICES, 1, 4, slice_counts, "rows that a lane's entries are of"},
    {"window", SPMV_ID_WINDOW, 256, 5, windows, "rows sorted by length together"},
    {"row_subgroups", SPMV_ID_ROW_SUBGROUPS, 1, 6, group_rows,
     "subgroups that may share a long row"},
    {"long_x", SPMV_ID_LONG_X, 0, 5, long_sizes,
     "work-items a work-group of rows longer than that, which get a "
     "dispatch of their own; 0: they do not"},
    {"long_loads", SPMV_ID_LONG_LOADS, 2, 4, load_counts, "loads a block of theirs"},
};

const wfi_parameter wfi_spmv_merge_parameters[2] = {
    {"local_x", SPMV_ID_LOCAL_X, 128, 6, sizes, "work-items a work-group"},
    {"items", SPMV_ID_ITEMS, 7, 6, item_counts,
     "rows and entries a work-item; odd ones meet no bank conflicts"},
};

const wfi_parameter wfi_spmv_quads_parameters[2] = {
    {"local_x", SPMV_ID_LOCAL_X, 128, 6, sizes, "work-items a work-group"},
    {"window", SPMV_ID_WINDOW, 256, 5, windows, "rows sorted by length together"},
};

const wfi_parameter wfi_spmv_stream_parameters[3] = {
    {"local_x", SPMV_ID_LOCAL_X, 128, 6, sizes, "work-items a work-group"},
    {"items", SPMV_ID_ITEMS, 4, 3, entry_counts, "entries a work-item"},
    {"rows", SPMV_ID_ROWS, 2, 6, row_counts, "rows a work-item, at most"},
};

void wfi_spmv_group(const wfi_point *point, uint32_t size[3])
{
    size[0] = point->values[SPMV_ID_LOCAL_X];
    size[1] = size[2] = 1;
}

static void append(wfi_pipeline_desc *desc, uint32_t id, uint32_t value)
{
    wfi_pipeline_constant(desc, id, value);
}

void wfi_spmv_strided_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    append(desc, SPMV_ID_STRIDED, point->problem->spmv.strided);
}

/* The bins' own lanes replace this one. */
void wfi_spmv_adaptive_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    wfi_spmv_strided_constants(point, desc);
    append(desc, SPMV_ID_LANES, 1);
}

void wfi_spmv_many_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    append(desc, SPMV_ID_VECTORS, point->problem->spmv.vectors ? point->problem->spmv.vectors : 1);
}

static uint64_t real_bytes(const wfi_point *point)
{
    return wf_type_size(wfi_spmv_real(point->problem->type));
}

uint64_t wfi_spmv_lanes_shared(const wfi_point *point)
{
    return point->values[SPMV_ID_LOCAL_X] * real_bytes(point);
}

uint64_t wfi_spmv_blocked_shared(const wfi_point *point)
{
    return wfi_spmv_lanes_shared(point) * point->values[SPMV_ID_BLOCK];
}

/* Products and ends of rows a step; an open sum and a flag a work-item; the search. */
uint64_t wfi_spmv_merge_shared(const wfi_point *point)
{
    const uint64_t local = point->values[SPMV_ID_LOCAL_X];
    return local * (point->values[SPMV_ID_ITEMS] + UINT64_C(1)) * (real_bytes(point) + 4) + 24;
}

uint64_t wfi_spmv_sliced_shared(const wfi_point *point)
{
    return point->values[SPMV_ID_LOCAL_X] / 4 * real_bytes(point);
}

/* Of the larger of its two kernels. */
uint64_t wfi_spmv_equal_shared(const wfi_point *point)
{
    const uint32_t local = point->values[SPMV_ID_LOCAL_X], longs = point->values[SPMV_ID_LONG_X];
    return (local > longs ? local : longs) / 4 * real_bytes(point);
}

uint64_t wfi_spmv_stream_shared(const wfi_point *point)
{
    return (uint64_t)point->values[SPMV_ID_LOCAL_X] * point->values[SPMV_ID_ITEMS] *
           real_bytes(point);
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
    return power_of_two(point->values[SPMV_ID_LANES]);
}

static bool lanes_divide_group(const wfi_point *point)
{
    return point->values[SPMV_ID_LOCAL_X] % point->values[SPMV_ID_LANES] == 0;
}

static bool lanes_in_subgroup(const wfi_point *point)
{
    const uint32_t pinned = wfi_spmv_pinned_subgroup(point);
    return point->values[SPMV_ID_LANES] <= (pinned ? pinned : point->caps->subgroup_min);
}

static bool group_of_whole_subgroups(const wfi_point *point)
{
    const uint32_t pinned = wfi_spmv_pinned_subgroup(point);
    return point->values[SPMV_ID_LOCAL_X] % (pinned ? pinned : point->caps->subgroup_max) == 0;
}

static bool local_power_of_two(const wfi_point *point)
{
    return power_of_two(point->values[SPMV_ID_LOCAL_X]);
}

static bool subgroup_known(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const bool known = wfi_spmv_pinned_subgroup(point) || caps->subgroup_min == caps->subgroup_max;
    return known && caps->subgroup_size >= 4 && caps->subgroup_size <= 128;
}

static bool loads_fit_their_field(const wfi_point *point)
{
    const uint32_t loads = point->values[SPMV_ID_SLICE_LOADS];
    return loads > 0 && loads <= 2048;
}

static bool window_positive(const wfi_point *point)
{
    return point->values[SPMV_ID_WINDOW] > 0;
}

static bool row_fits_texels(const wfi_point *point)
{
    const uint64_t texels = point->problem->type == WF_TYPE_F64 ? 2 : 1;
    return (point->problem->spmv.longest_row + UINT64_C(3)) / 4 * texels <=
           point->caps->max_texel_elements;
}

static bool equal_loads_fit(const wfi_point *point)
{
    const uint32_t loads = point->values[SPMV_ID_LOADS];
    return loads > 0 && loads <= 8;
}

static bool slices_divide_loads(const wfi_point *point)
{
    const uint32_t slices = point->values[SPMV_ID_SLICES];
    return slices > 0 && slices <= 8 && 4 * point->values[SPMV_ID_LOADS] % slices == 0;
}

static bool row_subgroups_in_group(const wfi_point *point)
{
    const uint32_t row_subgroups = point->values[SPMV_ID_ROW_SUBGROUPS];
    return power_of_two(row_subgroups) &&
           row_subgroups <= point->values[SPMV_ID_LOCAL_X] / point->caps->subgroup_size;
}

static bool long_loads_fit(const wfi_point *point)
{
    const uint32_t loads = point->values[SPMV_ID_LONG_LOADS];
    return loads > 0 && loads <= 8;
}

static bool long_group_of_subgroups(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const uint32_t size = point->values[SPMV_ID_LONG_X];
    return size <= caps->max_invocations && size <= caps->max_group_size[0] &&
           size % caps->subgroup_size == 0 &&
           (size == 0 || power_of_two(size / caps->subgroup_size));
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
    return (vectors ? vectors : 1) * (uint64_t)point->values[SPMV_ID_LANES] <=
           point->values[SPMV_ID_LOCAL_X];
}

static bool items_positive(const wfi_point *point)
{
    return point->values[SPMV_ID_ITEMS] > 0 && point->values[SPMV_ID_ITEMS] <= 64;
}

static bool block_side_known(const wfi_point *point)
{
    return point->values[SPMV_ID_BLOCK] >= 2 && point->values[SPMV_ID_BLOCK] <= 8;
}

static bool whole_pieces(const wfi_point *point)
{
    const uint32_t items = point->values[SPMV_ID_ITEMS];
    return items > 0 && items <= 16 && items % 4 == 0;
}

static bool words_aligned(const wfi_point *point)
{
    const uint32_t local = point->values[SPMV_ID_LOCAL_X];
    return local > 0 && local % 8 == 0;
}

static bool few_rows(const wfi_point *point)
{
    return point->values[SPMV_ID_ROWS] > 0 && point->values[SPMV_ID_ROWS] <= 8;
}

static bool longest_row_in_group(const wfi_point *point)
{
    return point->problem->spmv.longest_row <=
           (uint64_t)point->values[SPMV_ID_LOCAL_X] * point->values[SPMV_ID_ITEMS];
}

const wfi_constraint wfi_spmv_lanes_constraints[4] = {
    {"lanes must be a power of two, since the sum halves its distance", lanes_power_of_two},
    {"local_x must be a multiple of lanes, since rows are not split over work-groups",
     lanes_divide_group},
    {"lanes must fit the smallest subgroup, since shuffles do not leave it", lanes_in_subgroup},
    {"local_x must be a multiple of the subgroup, since rows are counted by subgroup",
     group_of_whole_subgroups},
};

const wfi_constraint wfi_spmv_texel_constraints[4] = {
    {"lanes must be a power of two, since the sum halves its distance", lanes_power_of_two},
    {"local_x must be a multiple of lanes, since rows are not split over work-groups",
     lanes_divide_group},
    {"x must fit a texel buffer of the device", x_fits_texels},
    {"it multiplies one vector without strides", one_vector},
};

const wfi_constraint wfi_spmv_quads_constraints[3] = {
    {"the longest row must fit a texel buffer of the device", row_fits_texels},
    {"window must be at least one row", window_positive},
    {"it multiplies one vector without strides", one_vector},
};

const wfi_constraint wfi_spmv_blocked_constraints[3] = {
    {"lanes must be a power of two, since the sum halves its distance", lanes_power_of_two},
    {"local_x must be a multiple of lanes, since rows are not split over work-groups",
     lanes_divide_group},
    {"block must be 2 to 8", block_side_known},
};

const wfi_constraint wfi_spmv_many_constraints[2] = {
    {"lanes must be a power of two, since the sum halves its distance", lanes_power_of_two},
    {"lanes times the right-hand sides must fit local_x, since a row stays in a work-group",
     vectors_in_group},
};

const wfi_constraint wfi_spmv_merge_constraints[3] = {
    {"local_x must be a power of two, since the scan doubles its distance", local_power_of_two},
    {"items must be 1 to 64", items_positive},
    {"it multiplies one vector without strides", one_vector},
};

const wfi_constraint wfi_spmv_adaptive_constraints[1] = {
    {"local_x must be a power of two, since lanes halve it", local_power_of_two},
};

const wfi_constraint wfi_spmv_sliced_constraints[6] = {
    {"the subgroup size must be one of 4 to 128 and known, since slices are made for it",
     subgroup_known},
    {"local_x must be a multiple of the subgroup, since slices are counted by subgroup",
     group_of_whole_subgroups},
    {"loads must be 1 to 2048, since they are counted in 12 bits", loads_fit_their_field},
    {"window must be at least one row", window_positive},
    {"row_subgroups must be a power of two and fit local_x, since a row_subgroups stays in a "
     "work-group",
     row_subgroups_in_group},
    {"it multiplies one vector without strides", one_vector},
};

const wfi_constraint wfi_spmv_equal_constraints[9] = {
    {"the subgroup size must be one of 4 to 128 and known, since blocks are made for it",
     subgroup_known},
    {"local_x must be a multiple of the subgroup, since blocks are counted by subgroup",
     group_of_whole_subgroups},
    {"loads must be 1 to 8, since a lane keeps them in registers", equal_loads_fit},
    {"slices must be 1 to 8 and divide four times loads, since they share a lane's entries",
     slices_divide_loads},
    {"window must be at least one row", window_positive},
    {"row_subgroups must be a power of two and fit local_x, since a row_subgroups stays in a "
     "work-group",
     row_subgroups_in_group},
    {"long_x must be 0 or a power of two of subgroups and fit a work-group, since it is one "
     "row_subgroups",
     long_group_of_subgroups},
    {"long_loads must be 1 to 8, since a lane keeps them in registers", long_loads_fit},
    {"it multiplies one vector without strides", one_vector},
};

const wfi_constraint wfi_spmv_stream_constraints[5] = {
    {"local_x must be a multiple of 8, since a block's words are read four at once", words_aligned},
    {"items must be 4 to 16 and a multiple of 4, since four are loaded at once", whole_pieces},
    {"rows must be 1 to 8, since a work-item keeps them in registers", few_rows},
    {"the longest row must fit items times local_x, since a row stays in a work-group",
     longest_row_in_group},
    {"it multiplies one vector without strides", one_vector},
};
