/* What the work-items of a variant request of memory, in bytes of one execution, counted from the
 * algorithm and its constants: Vulkan has no counters. */
#ifndef WFI_KERNELS_TRAFFIC_H
#define WFI_KERNELS_TRAFFIC_H

#include "plan/family.h"

/* wfi_variant.traffic of the variants that are counted. */
void wfi_matmul_naive_traffic(const wfi_point *point, wfi_traffic *out);  /* an output an item */
void wfi_matmul_single_traffic(const wfi_point *point, wfi_traffic *out); /* and a dispatch */
void wfi_matmul_square_traffic(const wfi_point *point, wfi_traffic *out); /* square tiles */
/* Tiles of work-groups in shared memory, blocks of outputs a work-item; `reread` where both factors
 * of every product are read from the tile anew. */
void wfi_matmul_block_traffic(const wfi_point *point, wfi_traffic *out);
void wfi_matmul_reread_traffic(const wfi_point *point, wfi_traffic *out);
void wfi_matmul_vector_traffic(const wfi_point *point, wfi_traffic *out); /* sums may be split */
void wfi_himeno_naive_traffic(const wfi_point *point, wfi_traffic *out);
void wfi_himeno_twice_traffic(const wfi_point *point, wfi_traffic *out); /* gosa in its own pass */
void wfi_stencil_naive_traffic(const wfi_point *point, wfi_traffic *out);

#endif
