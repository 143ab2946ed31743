/* The rows of the spmv family. */
#include "kernels/families.h"
#include "kernels/spmv_rows.h"
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

/* ------------------------------------------------------------------------------------- variants */

#define MODULES(text)                                                                              \
    {                                                                                              \
        [WF_TYPE_F32] = &wfi_spv_spmv_##text##_f32, [WF_TYPE_F64] = &wfi_spv_spmv_##text##_f64,    \
        [WF_TYPE_F16] = &wfi_spv_spmv_##text##_f16                                                 \
    }

/* Types of 16 bits are read as packed words. */
#define EVERY_ROW(text)                                                                            \
    .modules = MODULES(text), .needs = WFI_PACKED_16BIT, .group_size = wfi_spmv_group

static const wfi_variant variants[] = {
    {
        .name = "row",
        .summary = "one work-item a row",
        .source = "OpenACC loop optimisation (Alliance), step 1",
        EVERY_ROW(row),
        .parameter_count = 1,
        .parameters = wfi_spmv_parameters,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .constants = wfi_spmv_strided_constants,
        .fit = wfi_spmv_row_fit,
        .build = wfi_spmv_row_build,
    },
    {
        .name = "plain",
        .summary = "lanes of a work-group a row, a tree in shared memory, buffers not restrict",
        .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), baseline",
        EVERY_ROW(plain),
        .parameter_count = 2,
        .parameters = wfi_spmv_parameters,
        .constraint_count = 2,
        .constraints = wfi_spmv_lanes_constraints,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .shared_bytes = wfi_spmv_lanes_shared,
        .constants = wfi_spmv_strided_constants,
        .fit = wfi_spmv_step_fit,
        .build = wfi_spmv_lanes_build,
    },
    {
        .name = "texel",
        .summary = "the same with x read through a uniform texel buffer, others read-only",
        .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), texture unit",
        EVERY_ROW(texel),
        .parameter_count = 2,
        .parameters = wfi_spmv_parameters,
        .constraint_count = 4,
        .constraints = wfi_spmv_texel_constraints,
        .storage_buffers = 4,
        .texel_buffers = 1 << WFI_SPMV_X_SLOT,
        .push_bytes = WFI_SPMV_PUSH,
        .shared_bytes = wfi_spmv_lanes_shared,
        .constants = wfi_spmv_strided_constants,
        .fit = wfi_spmv_step_fit,
        .build = wfi_spmv_texel_build,
    },
    {
        .name = "shared",
        .summary = "the same with all buffers declared read-only and restrict",
        .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), read-only cache",
        EVERY_ROW(shared),
        .parameter_count = 2,
        .parameters = wfi_spmv_parameters,
        .constraint_count = 2,
        .constraints = wfi_spmv_lanes_constraints,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .shared_bytes = wfi_spmv_lanes_shared,
        .constants = wfi_spmv_strided_constants,
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
        .group_size = wfi_spmv_group,
        .parameter_count = 2,
        .parameters = wfi_spmv_parameters,
        .constraint_count = 2,
        .constraints = wfi_spmv_lanes_constraints,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .constants = wfi_spmv_strided_constants,
        .fit = wfi_spmv_step_fit,
        .build = wfi_spmv_atomic_build,
    },
    {
        .name = "add",
        .summary = "a subgroup a row, reduced by the subgroup's addition",
        .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), subgroup reduction",
        EVERY_ROW(add),
        .parameter_count = 1,
        .parameters = wfi_spmv_parameters,
        .constraint_count = 1,
        .constraints = wfi_spmv_lanes_constraints + 3,
        .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .subgroup_size = wfi_spmv_pinned_subgroup,
        .constants = wfi_spmv_strided_constants,
        .fit = wfi_spmv_add_fit,
        .build = wfi_spmv_add_build,
    },
    {
        .name = "lanes",
        .summary = "part of a subgroup a row, reduced by shuffles (xor)",
        .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), last step",
        EVERY_ROW(lanes),
        .parameter_count = 2,
        .parameters = wfi_spmv_parameters,
        .constraint_count = 4,
        .constraints = wfi_spmv_lanes_constraints,
        .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .subgroup_size = wfi_spmv_pinned_subgroup,
        .constants = wfi_spmv_strided_constants,
        .fit = wfi_spmv_lanes_fit,
        .build = wfi_spmv_lanes_build,
    },
    {
        .name = "many",
        .summary = "several right-hand sides at once, a work-item each",
        .source = "Yang, Buluç, Owens 2018 (row splitting)",
        EVERY_ROW(many),
        .parameter_count = 2,
        .parameters = wfi_spmv_parameters,
        .constraint_count = 2,
        .constraints = wfi_spmv_many_constraints,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .shared_bytes = wfi_spmv_lanes_shared,
        .constants = wfi_spmv_many_constants,
        .fit = wfi_spmv_many_fit,
        .build = wfi_spmv_many_build,
    },
    {
        .name = "adaptive",
        .summary = "rows binned by length, a dispatch with fitting lanes a bin",
        .source = "CSR-Adaptive (Greathouse and Daga 2014), here with whole rows only",
        EVERY_ROW(listed),
        .parameter_count = 1,
        .parameters = wfi_spmv_parameters,
        .constraint_count = 1,
        .constraints = wfi_spmv_adaptive_constraints,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .shared_bytes = wfi_spmv_lanes_shared,
        .constants = wfi_spmv_adaptive_constants,
        .fit = wfi_spmv_adaptive_fit,
        .build = wfi_spmv_adaptive_build,
    },
    {
        .name = "merge",
        .summary = "equal pieces of the merged path of rows and entries, nothing prepared",
        .source = "Merge-path SpMV (Merrill and Garland 2016)",
        EVERY_ROW(merge),
        .parameter_count = 2,
        .parameters = wfi_spmv_merge_parameters,
        .constraint_count = 3,
        .constraints = wfi_spmv_merge_constraints,
        .storage_buffers = 5,
        .push_bytes = WFI_SPMV_PUSH,
        .shared_bytes = wfi_spmv_merge_shared,
        .constants = wfi_spmv_strided_constants,
        .fit = wfi_spmv_merge_fit,
        .build = wfi_spmv_merge_build,
    },
    {
        .name = "blocked",
        .summary = "dense blocks with one column index each",
        .source = "Blocked CSR (Im and Yelick 2001)",
        EVERY_ROW(blocked),
        .parameter_count = 3,
        .parameters = wfi_spmv_parameters,
        .constraint_count = 3,
        .constraints = wfi_spmv_blocked_constraints,
        .storage_buffers = 4,
        .push_bytes = WFI_SPMV_PUSH,
        .shared_bytes = wfi_spmv_blocked_shared,
        .constants = wfi_spmv_strided_constants,
        .fit = wfi_spmv_blocked_fit,
        .build = wfi_spmv_blocked_build,
    },
    {
        .name = "sliced",
        .summary = "slices of sorted rows a subgroup, columns as 8- or 16-bit distances",
        .source = "SELL-C-sigma (Kreutzer et al. 2014), here with lanes and column distances",
        EVERY_ROW(sliced),
        .parameter_count = 4,
        .parameters = wfi_spmv_sliced_parameters,
        .constraint_count = 6,
        .constraints = wfi_spmv_sliced_constraints,
        .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT,
        .storage_buffers = 5,
        .push_bytes = WFI_SPMV_SLICED_PUSH,
        .shared_bytes = wfi_spmv_sliced_shared,
        .subgroup_size = wfi_spmv_pinned_subgroup,
        .fit = wfi_spmv_sliced_fit,
        .build = wfi_spmv_sliced_build,
    },
    {
        .name = "equal",
        .summary = "blocks of one size a subgroup, all loads but x's at once; for small matrices",
        .source = "",
        EVERY_ROW(equal),
        .parameter_count = 5,
        .parameters = wfi_spmv_equal_parameters,
        .constraint_count = 7,
        .constraints = wfi_spmv_equal_constraints,
        .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT,
        .storage_buffers = 5,
        .push_bytes = WFI_SPMV_SLICED_PUSH,
        .shared_bytes = wfi_spmv_sliced_shared,
        .subgroup_size = wfi_spmv_pinned_subgroup,
        .fit = wfi_spmv_equal_fit,
        .build = wfi_spmv_equal_build,
    },
    {
        .name = "quads",
        .summary = "one work-item a row, four entries a texel; for devices that are processors",
        .source = "",
        EVERY_ROW(quads),
        .parameter_count = 2,
        .parameters = wfi_spmv_quads_parameters,
        .constraint_count = 3,
        .constraints = wfi_spmv_quads_constraints,
        .storage_buffers = 5,
        .texel_buffers =
            1 << WFI_SPMV_QUADS_ROWS | 1 << WFI_SPMV_QUADS_COLUMNS | 1 << WFI_SPMV_QUADS_VALUES,
        .push_bytes = WFI_SPMV_PUSH,
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
