/* What the rows of several variants share: parameters, constraints, geometry, bytes. */
#ifndef WFI_KERNELS_SPMV_VARIANT_H
#define WFI_KERNELS_SPMV_VARIANT_H

#include "core/arithmetic.h"
#include "kernels/spmv/variants.h"
#include "spmv/spmv_ids.h"
#include "wfi_shaders.h"

/* A trait of variants: their plans are made from a matrix in device memory too (wfi_spmv_job.csr);
 * building returns WF_NOT_READY where this one cannot be. */
#define WFI_SPMV_CONVERTS (1 << 0)
/* Another: each element of the plan's arrays is loaded once (by all lanes of a subgroup at once
 * where it is one for all of them), and x once for each place of a value. */
#define WFI_SPMV_READS_ONCE (1 << 1)

/* Another: what its kernels are compiled for depends on the matrix's rows. */
#define WFI_SPMV_BY_MATRIX (1 << 2)
/* Another: its plans call wfi_plan_bind_sets, whatever the matrix. */
#define WFI_SPMV_BINDS_SETS (1 << 3)

/* What all rows say alike; f16 is read as packed words. */
#define WFI_SPMV_ROW(text) .name = #text, .needs = WFI_PACKED_16BIT, .group_size = wfi_spmv_group

/* Initializers of parameters. Their meaning is the same in all variants that have them. */
extern const uint32_t wfi_spmv_local_values[6], wfi_spmv_lane_values[8], wfi_spmv_load_values[6],
    wfi_spmv_window_values[5], wfi_spmv_row_subgroup_values[6];
#define WFI_SPMV_LOCAL_X                                                                           \
    {                                                                                              \
        "local_x", SPMV_ID_LOCAL_X, 128, WFI_COUNT(wfi_spmv_local_values), wfi_spmv_local_values,  \
            "work-items a work-group"                                                              \
    }
#define WFI_SPMV_LANES                                                                             \
    {                                                                                              \
        "lanes", SPMV_ID_LANES, 4, WFI_COUNT(wfi_spmv_lane_values), wfi_spmv_lane_values,          \
            "work-items that multiply a row together"                                              \
    }
#define WFI_SPMV_WINDOW                                                                            \
    {                                                                                              \
        "window", SPMV_ID_WINDOW, 256, WFI_COUNT(wfi_spmv_window_values), wfi_spmv_window_values,  \
            "rows that are sorted by length together (sigma of SELL-C-sigma)"                      \
    }
#define WFI_SPMV_ROW_SUBGROUPS                                                                     \
    {                                                                                              \
        "row_subgroups", SPMV_ID_ROW_SUBGROUPS, 1, WFI_COUNT(wfi_spmv_row_subgroup_values),        \
            wfi_spmv_row_subgroup_values, "the most subgroups that multiply a long row together"   \
    }

/* local_x, and local_x with lanes. */
extern const wfi_parameter wfi_spmv_row_parameters[1];
extern const wfi_parameter wfi_spmv_lanes_parameters[2];

/* Initializers of constraints that several variants have. */
#define WFI_SPMV_LANES_HALVE                                                                       \
    {                                                                                              \
        "lanes must be a power of two, since each step of the sum halves their number",            \
            wfi_spmv_lanes_power_of_two                                                            \
    }
#define WFI_SPMV_LANES_DIVIDE                                                                      \
    {                                                                                              \
        "local_x must be a multiple of lanes, since a row stays in one work-group",                \
            wfi_spmv_lanes_divide_group                                                            \
    }
#define WFI_SPMV_LOCAL_POWER(because)                                                              \
    {                                                                                              \
        "local_x must be a power of two, since " because, wfi_spmv_local_power_of_two              \
    }
#define WFI_SPMV_WHOLE_SUBGROUPS(what)                                                             \
    {                                                                                              \
        "local_x must be a multiple of the subgroup size, since " what " are counted by subgroup", \
            wfi_spmv_group_of_whole_subgroups                                                      \
    }
#define WFI_SPMV_SUBGROUP_KNOWN(what)                                                              \
    {                                                                                              \
        "the subgroup size must be known and 4 to 128, since " what " are made for it",            \
            wfi_spmv_subgroup_known                                                                \
    }
#define WFI_SPMV_WINDOW_POSITIVE                                                                   \
    {                                                                                              \
        "window must be at least one row", wfi_spmv_window_positive                                \
    }
#define WFI_SPMV_SUBGROUPS_IN_GROUP                                                                \
    {                                                                                              \
        "row_subgroups must be a power of two and at most the subgroups of local_x, since they "   \
        "meet "                                                                                    \
        "in one work-group's shared memory",                                                       \
            wfi_spmv_row_subgroups_in_group                                                        \
    }
#define WFI_SPMV_ONE_VECTOR                                                                        \
    {                                                                                              \
        "the variant multiplies one vector without strides", wfi_spmv_one_vector                   \
    }

bool wfi_spmv_power_of_two(uint32_t n);
bool wfi_spmv_lanes_power_of_two(const wfi_point *point);
bool wfi_spmv_lanes_divide_group(const wfi_point *point);
bool wfi_spmv_local_power_of_two(const wfi_point *point);
bool wfi_spmv_group_of_whole_subgroups(const wfi_point *point);
bool wfi_spmv_subgroup_known(const wfi_point *point);
bool wfi_spmv_window_positive(const wfi_point *point);
bool wfi_spmv_row_subgroups_in_group(const wfi_point *point);
bool wfi_spmv_one_vector(const wfi_point *point);

/* What lanes that add up in shared memory ask for. */
extern const wfi_constraint wfi_spmv_tree_constraints[2];

void wfi_spmv_group(const wfi_point *point, uint32_t size[3]);
void wfi_spmv_strided_constants(const wfi_point *point, wfi_pipeline_desc *desc);
/* The subgroup size to pin; 0 where the device has only one or cannot. */
uint32_t wfi_spmv_pinned_subgroup(const wfi_point *point);
/* Bytes of an element of x or y. */
uint64_t wfi_spmv_real_bytes(const wfi_point *point);
/* Whether a row's lanes are sure to be of one subgroup; if not, its subgroups meet in shared
 * memory. */
bool wfi_spmv_lanes_in_subgroup(const wfi_point *point);
/* A sum for each work-item. */
uint64_t wfi_spmv_lanes_shared(const wfi_point *point);

/* The model of variants that are steps of the ladder: values as for `shared`, never chosen. */
double wfi_spmv_step_fit(wfi_point *point);
/* Good values for lanes that add up in shared memory, and their time. */
double wfi_spmv_tree_fit(wfi_point *point);
/* wfi_variant.access: a work-item a row, and lanes that share a row. */
void wfi_spmv_row_access(const wfi_point *point, wf_access *out);
void wfi_spmv_lanes_access(const wfi_point *point, wf_access *out);
void wfi_spmv_count_access(const wfi_point *point, uint32_t lanes, wf_access *out);

#endif
