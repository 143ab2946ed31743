/* Checks of a matrix's arrays, whose contents decide which addresses the device reads. */
#ifndef WFI_KERNELS_SPMV_CHECKS_H
#define WFI_KERNELS_SPMV_CHECKS_H

#include "core/device.h"

/* Checks everything but the arrays' contents. */
wf_result wfi_spmv_check_params(const wf_device *device, const wf_spmv_params *params);
/* Whether the offsets, in host memory, ascend from 0. */
wf_result wfi_spmv_check_offsets(const wf_device *device, const wf_spmv_params *params);
/* Whether all columns, in host memory, are in the matrix. */
wf_result wfi_spmv_check_columns(const wf_device *device, const wf_spmv_params *params);

/* Log lines for a first offset that is not 0, of offset `at`, which is below the one before, and
 * of the column of an entry. */
wf_result wfi_spmv_bad_first(const wf_device *device, uint32_t offset);
wf_result wfi_spmv_bad_row(const wf_device *device, uint32_t at);
wf_result wfi_spmv_bad_column(const wf_device *device, uint32_t entry, uint32_t column,
                              uint32_t columns);

#endif
