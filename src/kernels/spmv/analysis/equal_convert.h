/* Equal blocks (formats/equal.h), made by the device from a matrix in its memory: what
 * wfi_equal_make would give of all rows, word for word. */
#ifndef WFI_KERNELS_SPMV_ANALYSIS_EQUAL_CONVERT_H
#define WFI_KERNELS_SPMV_ANALYSIS_EQUAL_CONVERT_H

#include "kernels/spmv/analysis/cut.h"
#include "kernels/spmv/formats/equal.h"

/* The result of a conversion. The caller owns its buffers and may take some of them out. */
typedef struct wfi_equal_made {
    wfi_equal sizes; /* its arrays are NULL; without blocks there are no buffers */
    wf_buffer *pattern;
    wf_buffer *places; /* NULL: they were not asked for, and the values were written at once */
    wf_buffer *values; /* NULL: they are not made yet (wfi_device_values) */
} wfi_equal_made;

/* `places`: they are made, too. Does not read params->matrix, first and rows. Returns WF_NOT_READY,
 * without a line in the log, where an array is larger than a binding. */
wf_result wfi_equal_convert(wfi_passes *passes, const wfi_device_csr *csr,
                            const wfi_equal_params *params, bool places, uint32_t longest_row,
                            wfi_equal_made *made);
/* Accepts a zeroed one. */
void wfi_equal_made_free(wfi_equal_made *made);

#endif
