/* What the models of several variants count. Times are in loads of a work-item's loop, and
 * comparable between the variants of one device. */
#ifndef WFI_KERNELS_SPMV_COST_H
#define WFI_KERNELS_SPMV_COST_H

#include "plan/family.h"
#include "profiles/spmv.h"

double wfi_spmv_vectors_of(const wfi_point *point);
/* The largest power of two that the device allows for local_x, up to 256: enough to hide latency,
 * and a long row keeps no larger work-group waiting. */
uint32_t wfi_spmv_fit_local(const wf_caps *caps);
/* Subgroups of a work-group of `local` that may share a long row; 1 where that gains nothing. */
uint32_t wfi_spmv_fit_row_subgroups(const wf_caps *caps, uint32_t local);
/* The deviation of row lengths that keeps rows waiting, at most twice the mean. The longest row is
 * left out: alone, it keeps few others waiting. */
double wfi_spmv_waiting(const wfi_spmv_problem *problem);
/* The time of a variant where instructions are what costs, times the device's processors. */
double wfi_spmv_instruction_time(const wfi_point *point, wfi_spmv_cost cost);
/* The time where memory is what costs and `lanes` work-items multiply a row: the passes of the loop
 * of a row (as many as its longest lane has entries; rows side by side wait for the longest of
 * them), reduction_step for each halving of the sums, and the memory transactions that lanes apart
 * in memory cost. Every vector reads the matrix again. */
double wfi_spmv_row_time(const wfi_point *point, uint32_t lanes, double reduction_step);
typedef double (*wfi_spmv_time_fn)(const wfi_point *point, uint32_t lanes, double reduction_step);
/* Gives the point the legal value of `lanes` that takes the least time, and returns that. */
double wfi_spmv_best_lanes(wfi_point *point, wfi_spmv_time_fn time_of, double reduction_step);

#endif
