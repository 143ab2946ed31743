/* Sliced rows (formats/sliced.h), made by the device from a matrix in its memory: what
 * wfi_sliced_make would give of all rows, word for word. */
#ifndef WFI_KERNELS_SPMV_ANALYSIS_SLICED_CONVERT_H
#define WFI_KERNELS_SPMV_ANALYSIS_SLICED_CONVERT_H

#include "kernels/spmv/analysis/device_csr.h"
#include "kernels/spmv/formats/sliced.h"

/* Sizes are in `sliced`, whose arrays are NULL; pattern and places are new buffers, the caller's.
 * params->matrix, first and rows are not looked at. WF_NOT_READY, without a line in the log: a
 * binding does not hold what that takes. */
wf_result wfi_sliced_convert(wfi_passes *passes, const wfi_device_csr *csr,
                             const wfi_sliced_params *params, uint32_t longest_row,
                             wfi_sliced *sliced, wf_buffer **pattern, wf_buffer **places);

#endif
