/* The check of a star or box stencil by weighted sums of its rows along i, for runs of which a
 * reference of every cell would take too long. */
#ifndef WFI_KERNELS_STENCIL_ROW_SUMS_H
#define WFI_KERNELS_STENCIL_ROW_SUMS_H

#include "kernels/stencil/reference.h"

/* Whether a run of so many steps on so long rows takes about two seconds or less, and no more
 * memory than checks may have. */
bool wfi_stencil_sums_pay(const wfi_stencil_reference *g, const wfi_stencil_bounds *bounds);

/* Compares the sums of all rows, with weights drawn with `seed`, the cells at the ends of rows one
 * by one, and every cell's range. The mismatch of a row has the index of its first cell.
 * check->summed are cells of rows in which an error as large as the row's root mean square in one
 * cell is always found; of check->ranged, those of the other rows, this holds for larger errors
 * alone. WF_ERROR_CANCELLED, WF_ERROR_OUT_OF_HOST_MEMORY. */
wf_result wfi_stencil_check_sums(const wfi_stencil_reference *g, const wfi_stencil_bounds *bounds,
                                 uint64_t seed, wf_check *check);

#endif
