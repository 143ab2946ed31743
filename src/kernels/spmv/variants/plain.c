/* Variant plain: the baseline of the ladder of "CSR SpMV on a new GPU generation"; its shader is
 * that of `shared` without read-only buffers. */
#include "kernels/spmv/build.h"
#include "kernels/spmv/traffic.h"
#include "kernels/spmv/variant.h"

const wfi_variant wfi_spmv_plain = {
    WFI_SPMV_ROW(plain),
    .modules = WFI_MODULES_spmv_plain,
    .summary = "lanes of a work-group a row, a tree in shared memory, buffers not restrict",
    .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), baseline",
    .parameter_count = WFI_COUNT(wfi_spmv_lanes_parameters),
    .parameters = wfi_spmv_lanes_parameters,
    .constraint_count = WFI_COUNT(wfi_spmv_tree_constraints),
    .constraints = wfi_spmv_tree_constraints,
    .storage_buffers = 4,
    .push_bytes = WFI_SPMV_PUSH,
    .traits = WFI_SPMV_CONVERTS,
    .shared_bytes = wfi_spmv_lanes_shared,
    .constants = wfi_spmv_strided_constants,
    .fit = wfi_spmv_step_fit,
    .traffic = wfi_spmv_lanes_traffic,
    .access = wfi_spmv_lanes_access,
    .build = wfi_spmv_lanes_build,
};
