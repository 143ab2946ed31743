/* Variant texel: as plain, with x read through the texture unit. */
#include "kernels/spmv/build.h"
#include "kernels/spmv/traffic.h"
#include "kernels/spmv/variant.h"

static bool x_fits_texels(const wfi_point *point)
{
    return point->problem->spmv.columns <= point->caps->max_texel_elements;
}

static const wfi_constraint constraints[] = {
    WFI_SPMV_LANES_HALVE,
    WFI_SPMV_LANES_DIVIDE,
    {"x must fit a texel buffer of the device", x_fits_texels},
    WFI_SPMV_ONE_VECTOR,
};

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    wfi_plan_bind_sets(plan); /* the view of x is kept with its set */
    return wfi_spmv_lanes_build(plan, point, params);
}

const wfi_variant wfi_spmv_texel = {
    WFI_SPMV_ROW(texel),
    .modules = WFI_MODULES_spmv_texel,
    .summary = "the same with x read through a uniform texel buffer, others read-only",
    .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), texture unit",
    .parameter_count = WFI_COUNT(wfi_spmv_lanes_parameters),
    .parameters = wfi_spmv_lanes_parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .storage_buffers = 4,
    .texel_buffers = 1 << WFI_SPMV_X_SLOT,
    .push_bytes = WFI_SPMV_PUSH,
    .traits = WFI_SPMV_CONVERTS | WFI_SPMV_BINDS_SETS,
    .shared_bytes = wfi_spmv_lanes_shared,
    .constants = wfi_spmv_strided_constants,
    .fit = wfi_spmv_step_fit,
    .traffic = wfi_spmv_lanes_traffic,
    .access = wfi_spmv_lanes_access,
    .build = build,
};
