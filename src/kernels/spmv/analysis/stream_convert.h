/* Blocks of neighbouring rows (formats/stream.h), made by the device from a matrix in its memory:
 * what wfi_csr_stream_make would give of all rows, word for word. */
#ifndef WFI_KERNELS_SPMV_ANALYSIS_STREAM_CONVERT_H
#define WFI_KERNELS_SPMV_ANALYSIS_STREAM_CONVERT_H

#include "kernels/spmv/analysis/device_csr.h"
#include "kernels/spmv/formats/stream.h"

/* The result of a conversion. The caller owns its buffers and may take some of them out. */
typedef struct wfi_csr_stream_made {
    wfi_csr_stream sizes; /* its arrays are NULL */
    wf_buffer *pattern;
    wf_buffer *places; /* NULL: they were not asked for, and the values were written at once */
    wf_buffer *values; /* NULL: they are not made yet (wfi_device_values) */
} wfi_csr_stream_made;

/* `places`: they are made, too. Does not read params->matrix, first and rows. Returns WF_NOT_READY,
 * without a line in the log, where an array is larger than a binding. */
wf_result wfi_csr_stream_convert(wfi_passes *passes, const wfi_device_csr *csr,
                                 const wfi_csr_stream_params *params, bool places,
                                 wfi_csr_stream_made *made);
/* Accepts a zeroed one. */
void wfi_csr_stream_made_free(wfi_csr_stream_made *made);

#endif
