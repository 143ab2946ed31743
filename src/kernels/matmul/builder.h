/* A matmul plan under construction, within matmul_build.c and matmul_slabs.c. */
#ifndef WFI_KERNELS_MATMUL_BUILDER_H
#define WFI_KERNELS_MATMUL_BUILDER_H

#include "kernels/matmul/matmul.h"

#define WFI_SLAB_UNIT 16 /* parts begin at multiples of it: the most elements that move at once */

/* A part of the batch, of C and of the sum. */
typedef struct wfi_matmul_slab {
    uint64_t z0, batch, m0, m, n0, n, k0, k;
} wfi_matmul_slab;

/* What the sums of a dispatch become. */
enum { ADDS = 1, FINISHES = 2, KEEPS_SUMS = 4, STREAM_K = 8, STAGES = 16 };

typedef struct wfi_matmul_builder {
    wf_plan *plan;
    const wfi_point *point;
    const wfi_matmul_problem *p;
    const wf_caps *caps;
    wfi_matmul_tile tile;
    wfi_matmul_slab whole; /* the largest part one dispatch takes */
    bool raw;              /* sums go to the plan's own buffer first */
    bool first;            /* no step yet */
    uint32_t sums;         /* that own buffer */
    wfi_matmul_scalar alpha, beta;
    bool made[STAGES]; /* pipelines of the variant */
    uint32_t pipelines[STAGES];
    uint32_t reduction, reduction_x; /* pipeline; elements a group */
    wfi_matmul_stream_k stream_k;
    uint32_t partials, fixup; /* own buffer of what groups leave of shared tiles, pipeline */
} wfi_matmul_builder;

/* matmul_slabs.c: sets `whole` to the largest parts whose stream_k of A, B, C and kept sums each fit one
 * storage-buffer binding. */
void wfi_matmul_size_slabs(wfi_matmul_builder *b);

#endif
