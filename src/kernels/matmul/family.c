/* Dense matrix product: the rows of the family. */
#include "kernels/families.h"
#include "kernels/matmul/matmul.h"
#include "kernels/traffic.h"
#include "wfi_shaders.h"

/* Of steps of the ladder that nothing chooses by itself: keeps the defaults. */
static double never_fit(wfi_point *point)
{
    (void)point;
    return -1;
}

static wf_result naive_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_matmul_build(plan, point, params,
                            (wfi_matmul_tile){.m = point->values[MATMUL_ID_LOCAL_Y],
                                              .n = point->values[MATMUL_ID_LOCAL_X]});
}

static wf_result register_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const uint32_t *v = point->values;
    return wfi_matmul_build(plan, point, params,
                            (wfi_matmul_tile){.m = v[MATMUL_ID_TILE_M], .n = v[MATMUL_ID_TILE_N]});
}

static wf_result vector_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_matmul_build_packed(plan, point, params, wfi_matmul_vector_tile(point),
                                   point->values[MATMUL_ID_PACK]);
}

static void append(wfi_pipeline_desc *desc, uint32_t id, uint32_t value)
{
    wfi_pipeline_constant(desc, id, value);
}

static wf_result dispatch_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_matmul_build(plan, point, params,
                            (wfi_matmul_tile){.m = 1, .n = 1, .one_each = true});
}

/* The steps of the ladder that share the module of `register`. */
static void ladder_constants(const wfi_point *point, bool keep, wfi_pipeline_desc *desc)
{
    wfi_matmul_constants(point, desc);
    append(desc, MATMUL_ID_KEEP, keep);
    append(desc, MATMUL_ID_ACROSS, 0);
}

static void blocked_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    ladder_constants(point, false, desc);
}

static void kept_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    ladder_constants(point, true, desc);
}

static void kstep_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    ladder_constants(point, false, desc);
    append(desc, MATMUL_ID_TILE_N, point->values[MATMUL_ID_TILE_M]);
    append(desc, MATMUL_ID_THREAD_M, 1);
    append(desc, MATMUL_ID_THREAD_N, 1);
}

static void tiled_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    kstep_constants(point, desc);
    append(desc, MATMUL_ID_TILE_K, point->values[MATMUL_ID_TILE_M]);
}

static wf_result square_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const uint32_t tile = point->values[MATMUL_ID_TILE_M];
    return wfi_matmul_build(plan, point, params, (wfi_matmul_tile){.m = tile, .n = tile});
}

static void matvec_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    wfi_matmul_constants(point, desc);
    append(desc, MATMUL_ID_MATRIX_IS_B, wfi_matmul_matrix_is_b(p));
    append(desc, MATMUL_ID_VECTORS, (uint32_t)(p->m < p->n ? p->m : p->n));
}

static wf_result matvec_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const uint32_t outputs = wfi_matmul_matvec_outputs(point);
    const bool is_b = wfi_matmul_matrix_is_b(&point->problem->matmul);
    return wfi_matmul_build(plan, point, params,
                            (wfi_matmul_tile){.m = is_b ? WFI_MOST_VECTORS : outputs,
                                              .n = is_b ? outputs : WFI_MOST_VECTORS,
                                              .k = 4,
                                              .split_k = point->values[MATMUL_ID_SPLIT_K],
                                              .reverse = true});
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

/* What the steps on the module of `register` have in common with it. */
#define REGISTER_ROW                                                                               \
    .parameter_count = WFI_REGISTER_PARAMETERS, .parameters = wfi_matmul_register_parameters,      \
    .constraint_count = WFI_REGISTER_CONSTRAINTS, .constraints = wfi_matmul_register_constraints,  \
    .storage_buffers = WF_MATMUL_BINDINGS, .push_bytes = sizeof(wfi_matmul_push),                  \
    .shared_bytes = wfi_matmul_register_shared, .group_size = wfi_matmul_tile_group,               \
    .build = register_build

/* Of the two on matrix units. */
#define COOPERATIVE_ROW                                                                            \
    .parameter_count = WFI_COOPERATIVE_PARAMETERS,                                                 \
    .parameters = wfi_matmul_cooperative_parameters,                                               \
    .constraint_count = WFI_COOPERATIVE_CONSTRAINTS,                                               \
    .constraints = wfi_matmul_cooperative_constraints,                                             \
    .needs = WFI_NEEDS_COOPERATIVE_MATRIX | WFI_NEEDS_FULL_SUBGROUPS,                              \
    .push_bytes = sizeof(wfi_matmul_push), .shared_bytes = wfi_matmul_cooperative_shared,          \
    .group_size = wfi_matmul_cooperative_group, .subgroup_size = wfi_matmul_cooperative_subgroup,  \
    .constants = wfi_matmul_cooperative_constants, .fit = wfi_matmul_cooperative_fit,              \
    .refit = wfi_matmul_cooperative_refit, .build = wfi_matmul_cooperative_build

static const wfi_variant *const variants[] = {
    &(const wfi_variant){
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
        .traffic = wfi_matmul_naive_traffic,
    },
    &(const wfi_variant){
        .name = "dispatch",
        .summary = "a dispatch an output element: what launching costs",
        .source = "Intel VTune cookbook, matrix multiply, step 1",
        .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_naive_f32},
        .constraint_count = 1,
        .constraints = wfi_matmul_dispatch_constraints,
        .storage_buffers = WF_MATMUL_BINDINGS,
        .push_bytes = sizeof(wfi_matmul_push),
        .group_size = wfi_matmul_dispatch_group,
        .constants = wfi_matmul_constants,
        .fit = never_fit,
        .build = dispatch_build,
        .traffic = wfi_matmul_single_traffic,
    },
    &(const wfi_variant){
        .name = "tiled",
        .summary = "square tiles of both operands in shared memory, an output a work-item",
        .source = "Intel VTune cookbook, matrix multiply, step 3",
        .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_register_f32},
        .parameter_count = 1,
        .parameters = wfi_matmul_square_parameters,
        .storage_buffers = WF_MATMUL_BINDINGS,
        .push_bytes = sizeof(wfi_matmul_push),
        .shared_bytes = wfi_matmul_tiled_shared,
        .group_size = wfi_matmul_square_group,
        .constants = tiled_constants,
        .fit = never_fit,
        .build = square_build,
        .traffic = wfi_matmul_square_traffic,
    },
    &(const wfi_variant){
        .name = "kstep",
        .summary = "as tiled, as deep along the sum as wanted",
        .source = "OpenCL SGEMM with private memory (D language series, part 4, 2018)",
        .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_register_f32},
        .parameter_count = WFI_SQUARE_PARAMETERS,
        .parameters = wfi_matmul_square_parameters,
        .storage_buffers = WF_MATMUL_BINDINGS,
        .push_bytes = sizeof(wfi_matmul_push),
        .shared_bytes = wfi_matmul_kstep_shared,
        .group_size = wfi_matmul_square_group,
        .constants = kstep_constants,
        .fit = never_fit,
        .build = square_build,
        .traffic = wfi_matmul_square_traffic,
    },
    &(const wfi_variant){
        .name = "blocked",
        .summary = "a block of outputs a work-item",
        .source = "OpenCL SGEMM with private memory (D language series, part 4, 2018)",
        .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_register_f32},
        REGISTER_ROW,
        .constants = blocked_constants,
        .fit = never_fit,
        .traffic = wfi_matmul_reread_traffic,
    },
    &(const wfi_variant){
        .name = "kept",
        .summary = "as blocked, a row and a column read into registers first",
        .source = "OpenCL SGEMM with private memory (D language series, part 4, 2018)",
        .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_register_f32},
        REGISTER_ROW,
        .constants = kept_constants,
        .fit = never_fit,
        .traffic = wfi_matmul_block_traffic,
    },
    &(const wfi_variant){
        .name = "register",
        .summary = "as kept, the left tile transposed and padded",
        .source = "OpenCL SGEMM with private memory (D language series, part 4, 2018)",
        .modules = ALL_TYPES(register),
        REGISTER_ROW,
        .constants = wfi_matmul_constants,
        .fit = wfi_matmul_register_fit,
        .traffic = wfi_matmul_block_traffic,
    },
    &(const wfi_variant){
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
        .constants = wfi_matmul_vector_constants,
        .fit = wfi_matmul_vector_fit,
        .refit = wfi_matmul_vector_refit,
        .build = vector_build,
        .traffic = wfi_matmul_vector_traffic,
    },
    &(const wfi_variant){
        .name = "subgroup_k",
        .summary = "as vector, for few tiles: teams of a work-group share the sum of one tile",
        .source = "",
        .modules = ALL_TYPES(subgroup_k),
        .parameter_count = WFI_SUBGROUP_K_PARAMETERS,
        .parameters = wfi_matmul_subgroup_k_parameters,
        .constraint_count = WFI_SUBGROUP_K_CONSTRAINTS,
        .constraints = wfi_matmul_subgroup_k_constraints,
        .storage_buffers = WF_MATMUL_BINDINGS,
        .push_bytes = sizeof(wfi_matmul_push),
        .shared_bytes = wfi_matmul_subgroup_k_shared,
        .group_size = wfi_matmul_subgroup_k_group,
        .subgroup_size = wfi_matmul_subgroup_k_subgroup,
        .constants = wfi_matmul_subgroup_k_constants,
        .fit = wfi_matmul_subgroup_k_fit,
        .build = wfi_matmul_subgroup_k_build,
    },
    &(const wfi_variant){
        .name = "panel",
        .summary =
            "up to 16 rows or columns of C: the large matrix goes through registers past the "
            "other operand in shared memory",
        .source = "",
        .modules = ALL_TYPES(panel),
        .parameter_count = WFI_PANEL_PARAMETERS,
        .parameters = wfi_matmul_panel_parameters,
        .constraint_count = WFI_PANEL_CONSTRAINTS,
        .constraints = wfi_matmul_panel_constraints,
        .storage_buffers = WF_MATMUL_BINDINGS,
        .push_bytes = sizeof(wfi_matmul_push),
        .shared_bytes = wfi_matmul_panel_shared,
        .group_size = wfi_matmul_panel_group,
        .constants = wfi_matmul_panel_constants,
        .fit = wfi_matmul_panel_fit,
        .build = wfi_matmul_panel_build,
    },
    &(const wfi_variant){
        .name = "dot",
        .summary =
            "as register, four 8-bit integers a word: dot products of four in one instruction",
        .source = "",
        .modules = {[WF_TYPE_I8] = &wfi_spv_matmul_dot_i8},
        .parameter_count = WFI_DOT_PARAMETERS,
        .parameters = wfi_matmul_dot_parameters,
        .constraint_count = WFI_DOT_CONSTRAINTS,
        .constraints = wfi_matmul_dot_constraints,
        .needs = WFI_NEEDS_INTEGER_DOT,
        .storage_buffers = WF_MATMUL_BINDINGS,
        .push_bytes = sizeof(wfi_matmul_push),
        .shared_bytes = wfi_matmul_dot_shared,
        .group_size = wfi_matmul_tile_group,
        .constants = wfi_matmul_constants,
        .fit = wfi_matmul_dot_fit,
        .build = register_build,
    },
    &(const wfi_variant){
        .name = "matvec",
        .summary =
            "few rows or columns of C: the large matrix is read once, at the speed of memory",
        .source = "",
        .modules = ALL_TYPES(matvec),
        .parameter_count = WFI_MATVEC_PARAMETERS,
        .parameters = wfi_matmul_matvec_parameters,
        .constraint_count = WFI_MATVEC_CONSTRAINTS,
        .constraints = wfi_matmul_matvec_constraints,
        .storage_buffers = WF_MATMUL_BINDINGS,
        .push_bytes = sizeof(wfi_matmul_push),
        .shared_bytes = wfi_matmul_matvec_shared,
        .group_size = wfi_matmul_matvec_group,
        .constants = matvec_constants,
        .fit = wfi_matmul_matvec_fit,
        .build = matvec_build,
    },
    &(const wfi_variant){
        .name = "cooperative",
        .summary = "matrix units: each subgroup multiplies fragments of tiles in shared memory",
        .source = "",
        .modules = MATRIX_TYPES(cooperative),
        .second = MATRIX_TYPES(stream_k),
        COOPERATIVE_ROW,
        .storage_buffers = WF_MATMUL_BINDINGS,
    },
    &(const wfi_variant){
        .name = "f16x2",
        .summary =
            "f32 in two f16 numbers an element, three products on matrix units; math fast only",
        .source = "Ootomo, Yokota, Recovering single precision accuracy from Tensor Cores, 2022",
        .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_cooperative_f16x2},
        .second = {[WF_TYPE_F32] = &wfi_spv_matmul_stream_k_f16x2},
        COOPERATIVE_ROW,
        .storage_buffers = WF_MATMUL_BINDINGS + 1,
    },
};

const wfi_family wfi_family_matmul = {
    .name = "matmul",
    .summary = "dense matrix product C = activation(alpha op(A) op(B) + beta C + bias)",
    .variant_count = sizeof variants / sizeof variants[0],
    .variants = variants,
    .flops = wfi_matmul_flops,
    .least_bytes = wfi_matmul_least_bytes,
};
