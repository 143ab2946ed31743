/* What the models of tiled matmul variants share. */
#ifndef WFI_KERNELS_MATMUL_MODEL_H
#define WFI_KERNELS_MATMUL_MODEL_H

#include <math.h>

#include "kernels/matmul_rows.h"

#define WFI_LEAST_TURNED 4e7 /* bytes of a matrix of which caches keep some, not all */
/* Steps: shorter sums were no faster by columns (bench/notes/matmul.md#machine-code). */
#define WFI_LONG_SUM 512

/* As the first five parameters of the variants. */
typedef struct wfi_matmul_block {
    uint32_t tile_m, tile_n, tile_k, thread_m, thread_n;
} wfi_matmul_block;

static inline double wfi_matmul_tile_count(const wfi_matmul_problem *p, double tile_m,
                                           double tile_n)
{
    return ceil((double)p->m / tile_m) * ceil((double)p->n / tile_n) * (double)p->batch;
}

/* Time units of a point: padded multiply-adds, the cost of the reads that feed them, and the share
 * of the device that is busy. */
double wfi_matmul_block_time(const wfi_point *point, double wanted);

#endif
