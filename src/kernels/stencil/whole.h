/* The check of every cell of a star or box stencil, in f64 with one bound for all. */
#ifndef WFI_KERNELS_STENCIL_WHOLE_H
#define WFI_KERNELS_STENCIL_WHOLE_H

#include "kernels/stencil/reference.h"

/* Compares all cells, slab by slab along k, and says which is farthest off; worst[0] is negative
 * where that would take too long: sums of rows are compared then (row_sums.h) or, where these would
 * take too long too, the cells' range alone is looked at (check->ranged), or where inputs are not
 * finite or may overflow nothing. WF_ERROR_CANCELLED, WF_ERROR_OUT_OF_HOST_MEMORY. */
wf_result wfi_stencil_check_whole(const wfi_stencil_reference *grid, uint64_t seed, wf_check *check,
                                  int64_t worst[3]);

#endif
