/* Dense matrix product: the rows of the family. */
#include "kernels/families.h"
#include "kernels/matmul_rows.h"
#include "wfi_shaders.h"

static wf_result naive_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_matmul_build(
        plan, point, params,
        (wfi_matmul_tile){.m = point->values[WFI_NAIVE_Y], .n = point->values[WFI_NAIVE_X]});
}

static wf_result register_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const uint32_t *v = point->values;
    return wfi_matmul_build(plan, point, params,
                            (wfi_matmul_tile){.m = v[WFI_TILE_M], .n = v[WFI_TILE_N]});
}

static wf_result vector_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const uint32_t *v = point->values;
    return wfi_matmul_build(
        plan, point, params,
        (wfi_matmul_tile){
            .m = v[WFI_TILE_M], .n = v[WFI_TILE_N], .k = v[WFI_TILE_K], .splits = v[WFI_SPLITS]});
}

/* The modules of an algorithm, one a type. */
#define ALL_TYPES(algorithm)                                                                       \
    {                                                                                              \
        &wfi_spv_matmul_##algorithm##_f32, &wfi_spv_matmul_##algorithm##_f64,                      \
            &wfi_spv_matmul_##algorithm##_f16, &wfi_spv_matmul_##algorithm##_bf16,                 \
            &wfi_spv_matmul_##algorithm##_i8                                                       \
    }

/* Of the types that matrix units take. */
#define MATRIX_TYPES(algorithm)                                                                    \
    {                                                                                              \
        [WF_TYPE_F16] = &wfi_spv_matmul_##algorithm##_f16,                                         \
        [WF_TYPE_BF16] = &wfi_spv_matmul_##algorithm##_bf16,                                       \
        [WF_TYPE_I8] = &wfi_spv_matmul_##algorithm##_i8,                                           \
    }

static const wfi_variant variants[] = {
    {
        .name = "naive",
        .summary = "one work-item an output element, everything read from memory",
        .source = "Intel VTune cookbook, matrix multiply, step 2",
        .modules = ALL_TYPES(naive),
        .parameter_count = WFI_NAIVE_PARAMETERS,
        .parameters = wfi_matmul_naive_parameters,
        .storage_buffers = WF_MATMUL_BINDINGS,
        .push_bytes = sizeof(wfi_matmul_push),
        .group_size = wfi_matmul_naive_group,
        .constants = wfi_matmul_constants,
        .fit = wfi_matmul_naive_fit,
        .build = naive_build,
    },
    {
        .name = "register",
        .summary = "tiles in shared memory, a block of outputs in each work-item's registers",
        .source = "OpenCL SGEMM with private memory (D language series, part 4, 2018)",
        .modules = ALL_TYPES(register),
        .parameter_count = WFI_REGISTER_PARAMETERS,
        .parameters = wfi_matmul_register_parameters,
        .constraint_count = WFI_REGISTER_CONSTRAINTS,
        .constraints = wfi_matmul_register_constraints,
        .storage_buffers = WF_MATMUL_BINDINGS,
        .push_bytes = sizeof(wfi_matmul_push),
        .shared_bytes = wfi_matmul_register_shared,
        .group_size = wfi_matmul_tile_group,
        .constants = wfi_matmul_constants,
        .fit = wfi_matmul_register_fit,
        .build = register_build,
    },
    {
        .name = "vector",
        .summary = "loads of four values, tiles fetched ahead into a second half of shared memory, "
                   "sums split over work-groups",
        .source = "",
        .modules = ALL_TYPES(vector),
        .parameter_count = WFI_VECTOR_PARAMETERS,
        .parameters = wfi_matmul_vector_parameters,
        .constraint_count = WFI_VECTOR_CONSTRAINTS,
        .constraints = wfi_matmul_vector_constraints,
        .storage_buffers = WF_MATMUL_BINDINGS,
        .push_bytes = sizeof(wfi_matmul_push),
        .shared_bytes = wfi_matmul_vector_shared,
        .group_size = wfi_matmul_tile_group,
        .constants = wfi_matmul_constants,
        .fit = wfi_matmul_vector_fit,
        .build = vector_build,
    },
    {
        .name = "cooperative",
        .summary = "matrix units: each subgroup multiplies fragments of tiles in shared memory",
        .source = "",
        .modules = MATRIX_TYPES(cooperative),
        .parameter_count = WFI_COOPERATIVE_PARAMETERS,
        .parameters = wfi_matmul_cooperative_parameters,
        .constraint_count = WFI_COOPERATIVE_CONSTRAINTS,
        .constraints = wfi_matmul_cooperative_constraints,
        .needs = WFI_NEEDS_COOPERATIVE_MATRIX | WFI_NEEDS_FULL_SUBGROUPS,
        .storage_buffers = WF_MATMUL_BINDINGS,
        .push_bytes = sizeof(wfi_matmul_push),
        .shared_bytes = wfi_matmul_cooperative_shared,
        .group_size = wfi_matmul_cooperative_group,
        .subgroup_size = wfi_matmul_cooperative_subgroup,
        .constants = wfi_matmul_cooperative_constants,
        .fit = wfi_matmul_cooperative_fit,
        .build = wfi_matmul_cooperative_build,
    },
    {
        .name = "split",
        .summary =
            "f32 in two f16 numbers an element, three products on matrix units; math fast only",
        .source = "Ootomo, Yokota, Recovering single precision accuracy from Tensor Cores, 2022",
        .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_cooperative_split},
        .parameter_count = WFI_COOPERATIVE_PARAMETERS,
        .parameters = wfi_matmul_cooperative_parameters,
        .constraint_count = WFI_COOPERATIVE_CONSTRAINTS,
        .constraints = wfi_matmul_cooperative_constraints,
        .needs = WFI_NEEDS_COOPERATIVE_MATRIX | WFI_NEEDS_FULL_SUBGROUPS,
        .storage_buffers = WF_MATMUL_BINDINGS + 1,
        .push_bytes = sizeof(wfi_matmul_push),
        .shared_bytes = wfi_matmul_cooperative_shared,
        .group_size = wfi_matmul_cooperative_group,
        .subgroup_size = wfi_matmul_cooperative_subgroup,
        .constants = wfi_matmul_cooperative_constants,
        .fit = wfi_matmul_cooperative_fit,
        .build = wfi_matmul_cooperative_build,
    },
};

const wfi_family wfi_family_matmul = {
    .name = "matmul",
    .summary = "dense matrix product C = activation(alpha op(A) op(B) + beta C + bias)",
    .variant_count = sizeof variants / sizeof *variants,
    .variants = variants,
    .flops = wfi_matmul_flops,
    .least_bytes = wfi_matmul_least_bytes,
};
