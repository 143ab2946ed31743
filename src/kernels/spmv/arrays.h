/* The arrays that an spmv plan owns, and how much of a matrix its bindings hold. */
#ifndef WFI_KERNELS_SPMV_ARRAYS_H
#define WFI_KERNELS_SPMV_ARRAYS_H

#include "kernels/spmv/spmv.h"

/* The most bytes that a binding of the plan's own can have. */
uint64_t wfi_spmv_range(const wf_caps *caps);
uint64_t wfi_spmv_x_bytes(const wfi_spmv_job *job);
uint64_t wfi_spmv_y_bytes(const wfi_spmv_job *job, uint32_t rows);
/* WF_ERROR_TOO_LARGE: x is larger than a binding. */
wf_result wfi_spmv_check_x(const wf_device *device, const wfi_spmv_job *job);
/* WF_ERROR_TOO_LARGE: the row does not fit a binding. */
wf_result wfi_spmv_row_too_long(wf_plan *plan, const wfi_spmv_job *job, uint32_t row);
/* Whether the arrays of a block of rows fit bindings: words of its pattern, values, rows of y and
 * bytes of scratch. */
bool wfi_spmv_rearranged_fits(const wf_caps *caps, const wfi_spmv_job *job, uint32_t rows,
                              uint64_t pattern_words, uint64_t place_count, uint64_t scratch);
wfi_slot wfi_spmv_x_slot(const wfi_spmv_job *job);
/* The binding of y from row `first` on; *base_y is the part of the offset that the binding's
 * alignment leaves, in elements. */
wfi_slot wfi_spmv_y_slot(const wf_caps *caps, const wfi_spmv_job *job, uint32_t first,
                         uint32_t rows, uint32_t *base_y);
/* A buffer of the plan's, bound whole; without data it starts at zero. */
wf_result wfi_spmv_own(wf_plan *plan, const wfi_spmv_job *job, const void *data, uint64_t bytes,
                       wfi_slot *slot);
/* A buffer of values: place i holds entry places[i] (UINT32_MAX: padding; places NULL: entry
 * begin + i), all of them in [begin, end). The plan keeps it where wf_spmv_update finds it. */
wf_result wfi_spmv_values(wf_plan *plan, const wfi_spmv_job *job, const uint32_t *places,
                          uint64_t count, uint32_t begin, uint32_t end, wfi_slot *slot);
/* The same for a buffer that is filled already: the plan takes it, and *buffer is then NULL. */
wf_result wfi_spmv_adopt(wf_plan *plan, const wfi_spmv_job *job, wf_buffer **buffer, uint64_t bytes,
                         wfi_slot *slot);
/* The values and places of a whole matrix that the device has converted: the plan takes both, the
 * places where wf_spmv_update needs them. */
wf_result wfi_spmv_adopt_values(wf_plan *plan, const wfi_spmv_job *job, wf_buffer **values,
                                wf_buffer **places, uint64_t count, wfi_slot *slot);

#endif
