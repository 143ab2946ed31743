/* Compressed sparse rows as variants without a format of their own read them, made by the device
 * from a matrix in its memory: offsets and columns one behind the other, and values. */
#ifndef WFI_KERNELS_SPMV_ANALYSIS_CSR_COPY_H
#define WFI_KERNELS_SPMV_ANALYSIS_CSR_COPY_H

#include "kernels/spmv/analysis/device_csr.h"

/* The caller owns the buffers and may take some of them out. */
typedef struct wfi_csr_copied {
    wf_buffer *pattern, *values;
    wf_buffer *places; /* of each value its own number; NULL: they were not asked for */
    uint64_t pattern_words;
} wfi_csr_copied;

/* Returns WF_NOT_READY, without a line in the log, where an array is larger than a binding. */
wf_result wfi_csr_copy(wfi_passes *passes, const wfi_device_csr *csr, bool places,
                       wfi_csr_copied *made);
/* Accepts a zeroed one. */
void wfi_csr_copied_free(wfi_csr_copied *made);

#endif
