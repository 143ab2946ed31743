/* A matmul plan under construction, within matmul_build.c and matmul_parts.c. */
#ifndef WFI_KERNELS_MATMUL_BUILDER_H
#define WFI_KERNELS_MATMUL_BUILDER_H

#include "kernels/matmul_rows.h"

#define WFI_PART_UNIT 16 /* parts begin at multiples of it: the most elements that move at once */

/* A part of the batch, of C and of the sum. */
typedef struct wfi_matmul_part {
    uint64_t z0, batch, m0, m, n0, n, k0, k;
} wfi_matmul_part;

/* What the sums of a dispatch become. */
enum { ADDS = 1, FINISHES = 2, KEEPS_SUMS = 4, SHARES = 8, STAGES = 16 };

typedef struct wfi_matmul_builder {
    wf_plan *plan;
    const wfi_point *point;
    const wfi_matmul_problem *p;
    const wf_caps *caps;
    wfi_matmul_tile tile;
    wfi_matmul_part whole; /* the largest part one dispatch takes */
    bool raw;              /* sums go to the plan's own buffer first */
    bool first;            /* no step yet */
    uint32_t sums;         /* that own buffer */
    wfi_matmul_scalar alpha, beta;
    bool made[STAGES]; /* pipelines of the variant */
    uint32_t pipelines[STAGES];
    uint32_t reduction, reduction_x; /* pipeline; elements a group */
    wfi_matmul_shares shares;
    uint32_t parts, join; /* own buffer of what groups leave of shared tiles, pipeline */
} wfi_matmul_builder;

/* matmul_parts.c: sets `whole` to the largest parts whose shares of A, B, C and kept sums each fit one
 * storage-buffer binding. */
void wfi_matmul_size_parts(wfi_matmul_builder *b);

#endif
