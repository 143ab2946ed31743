/* What the builders of spmv plans share. */
#ifndef WFI_KERNELS_SPMV_BUILD_H
#define WFI_KERNELS_SPMV_BUILD_H

#include "kernels/plan.h"

/* The point's pipeline and the bindings x and y. WF_ERROR_TOO_LARGE: x is over a binding. */
wf_result wfi_spmv_begin(wf_plan *plan, const wfi_point *point, const wf_spmv_params *params,
                         uint32_t *pipeline);

/* The binding of y from `first` on; *base_y is what is left of the offset, in elements. */
wfi_slot wfi_spmv_y_slot(const wf_caps *caps, const wf_spmv_params *params, uint32_t first,
                         uint32_t rows, uint32_t *base_y);

/* Fails: the row does not fit a binding. */
wf_result wfi_spmv_row_too_long(wf_plan *plan, const wf_spmv_params *params, uint32_t row);

/* Subgroup size to pin, 0 where the device has only one. */
uint32_t wfi_spmv_pinned_subgroup(const wfi_point *point);

/* spmv_sliced.c */
enum { WFI_SPMV_SLICED_LOCAL_X, WFI_SPMV_SLICED_TURNS, WFI_SPMV_SLICED_WINDOW };
#define WFI_SPMV_SLICED_PUSH 20
wf_result wfi_spmv_sliced_build(wf_plan *plan, const wfi_point *point, const void *params);

#endif
