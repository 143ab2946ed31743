/* Variant shared: lanes of a work-group multiply a row and add up in shared memory. */
#include "kernels/spmv/build.h"
#include "kernels/spmv/traffic.h"
#include "kernels/spmv/variant.h"

const wfi_variant wfi_spmv_shared = {
    WFI_SPMV_ROW(shared),
    .modules = WFI_MODULES_spmv_shared,
    .summary = "the same with all buffers declared read-only and restrict",
    .source = "CSR SpMV on a new GPU generation (G-DEP, 2013), read-only cache",
    .parameter_count = WFI_COUNT(wfi_spmv_lanes_parameters),
    .parameters = wfi_spmv_lanes_parameters,
    .constraint_count = WFI_COUNT(wfi_spmv_tree_constraints),
    .constraints = wfi_spmv_tree_constraints,
    .storage_buffers = 4,
    .push_bytes = WFI_SPMV_PUSH,
    .traits = WFI_SPMV_CONVERTS,
    .shared_bytes = wfi_spmv_lanes_shared,
    .constants = wfi_spmv_strided_constants,
    .fit = wfi_spmv_tree_fit,
    .traffic = wfi_spmv_lanes_traffic,
    .access = wfi_spmv_lanes_access,
    .build = wfi_spmv_lanes_build,
};
