/* Plans of matrix products from what a variant says of its tiles. */
#ifndef WFI_KERNELS_MATMUL_BUILD_H
#define WFI_KERNELS_MATMUL_BUILD_H

#include "plan/plan.h"
#include "kernels/matmul/stream_k.h"

/* The plan of a variant whose work-groups each compute a tile (or one of split_k parts of its sum),
 * numbered along n first, by wfi_matmul_push: bindings, slabs that fit storage-buffer bindings,
 * batches, split-K and its reduction, stream-K and its fixup, products without A and B. */
wf_result wfi_matmul_build(wf_plan *plan, const wfi_point *point, const wf_matmul_params *params,
                           wfi_matmul_tile tile);

#endif
