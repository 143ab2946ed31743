/* A matmul plan under construction, which build.c and slabs.c share. */
#ifndef WFI_KERNELS_MATMUL_BUILDER_H
#define WFI_KERNELS_MATMUL_BUILDER_H

#include "kernels/matmul/build.h"

#define WFI_SLAB_UNIT 16 /* slabs begin at multiples of it: the most elements that move at once */

/* A piece of the batch, of C and of the sum. */
typedef struct wfi_matmul_slab {
    uint64_t z0, batch, m0, m, n0, n, k0, k;
} wfi_matmul_slab;

/* What a dispatch does with its sums, in bits: it adds C before, applies the epilogue, writes them
 * as they are, leaves partial tiles. STAGES counts all combinations. */
enum { ADDS = 1, FINISHES = 2, KEEPS_SUMS = 4, STREAM_K = 8, STAGES = 16 };

typedef struct wfi_matmul_builder {
    wf_plan *plan;
    const wfi_point *point;
    const wfi_matmul_problem *p;
    const wf_caps *caps;
    wfi_matmul_tile tile;
    wfi_matmul_slab whole; /* the largest slab that one dispatch takes */
    bool raw;              /* partial sums go to the buffer `sums` first */
    bool first;            /* no step yet */
    uint32_t sums;         /* own buffer of the plan */
    wfi_matmul_scalar alpha, beta;
    bool made[STAGES]; /* pipelines of the variant */
    uint32_t pipelines[STAGES];
    uint32_t reduction, reduction_x; /* pipeline; elements a group */
    wfi_matmul_stream_k stream_k;
    uint32_t partials, fixup; /* own buffer of the partial tiles; pipeline */
} wfi_matmul_builder;

/* slabs.c: sets `whole` to the largest slab whose pieces of A, B, C and of the partial sums each
 * fit one storage-buffer binding. */
void wfi_matmul_size_slabs(wfi_matmul_builder *b);

#endif
