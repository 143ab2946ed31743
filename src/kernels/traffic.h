/* What the work-items of a variant request of memory, in bytes of one execution, counted from the
 * algorithm and its constants: Vulkan has no counters. */
#ifndef WFI_KERNELS_TRAFFIC_H
#define WFI_KERNELS_TRAFFIC_H

#include "plan/family.h"

/* wfi_variant.traffic of the variants that are counted. */
void wfi_himeno_naive_traffic(const wfi_point *point, wfi_traffic *out);
void wfi_himeno_twice_traffic(const wfi_point *point, wfi_traffic *out); /* gosa in its own pass */
void wfi_stencil_naive_traffic(const wfi_point *point, wfi_traffic *out);
void wfi_spmv_row_traffic(const wfi_point *point, wfi_traffic *out); /* an item a row */
void wfi_spmv_lanes_traffic(const wfi_point *point, wfi_traffic *out);

#endif
