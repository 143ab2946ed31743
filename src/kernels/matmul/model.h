/* What the models of tiled matmul variants share. */
#ifndef WFI_KERNELS_MATMUL_MODEL_H
#define WFI_KERNELS_MATMUL_MODEL_H

#include <math.h>

#include "kernels/matmul/matmul.h"

#define WFI_LEAST_REVERSED 4e7 /* bytes of a matrix of which caches keep some, not all */
/* Steps: shorter sums were no faster by columns (bench/notes/matmul.md#machine-code). */
#define WFI_LONG_SUM 512

/* The tile of a work-group and of a work-item. */
typedef struct wfi_matmul_block {
    uint32_t tile_m, tile_n, tile_k, thread_m, thread_n;
} wfi_matmul_block;

static inline void wfi_matmul_set_block(wfi_point *point, const wfi_matmul_block *block)
{
    uint32_t *v = point->values;
    v[MATMUL_ID_TILE_M] = block->tile_m;
    v[MATMUL_ID_TILE_N] = block->tile_n;
    v[MATMUL_ID_TILE_K] = block->tile_k;
    v[MATMUL_ID_THREAD_M] = block->thread_m;
    v[MATMUL_ID_THREAD_N] = block->thread_n;
}

static inline double wfi_matmul_tile_count(const wfi_matmul_problem *p, double tile_m,
                                           double tile_n)
{
    return ceil((double)p->m / tile_m) * ceil((double)p->n / tile_n) * (double)p->batch;
}

/* Time units of a point: padded multiply-adds, the cost of the reads that feed them, and the share
 * of the device that is busy. */
double wfi_matmul_block_time(const wfi_point *point, double wanted);

#endif
