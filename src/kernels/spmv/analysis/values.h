/* The values of a format by the entries that its places name. */
#ifndef WFI_KERNELS_SPMV_ANALYSIS_VALUES_H
#define WFI_KERNELS_SPMV_ANALYSIS_VALUES_H

#include "kernels/spmv/analysis/device_csr.h"

/* A new buffer of the values of `count` places, as wfi_spmv_values makes it. WF_NOT_READY: a
 * binding does not hold it. */
wf_result wfi_device_values(wfi_passes *passes, const wfi_device_csr *csr, const wf_buffer *places,
                            uint64_t count, wf_buffer **values);

#endif
