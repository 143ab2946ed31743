/* Statistics of a matrix for models and the caller. They are counted in whole numbers, so that host
 * and device get the same ones in any order. */
#ifndef WFI_KERNELS_SPMV_STATISTICS_H
#define WFI_KERNELS_SPMV_STATISTICS_H

#include "plan/family.h"

#define WFI_SPMV_HISTOGRAM 33
#define WFI_SPMV_SIDES 3 /* of blocks: 2, 3 and 4 */
/* The least number of rows of blocks that are counted, where there are more. */
#define WFI_SPMV_SAMPLED 1000
/* Rows side by side in the slices that are assumed; longer group rows are not counted. */
#define WFI_SPMV_SLICE_ROWS 32
#define WFI_SPMV_SLICE_LONGEST 512

typedef struct wfi_spmv_counts {
    uint32_t shortest, longest, bandwidth;
    uint32_t histogram[WFI_SPMV_HISTOGRAM]; /* as in wf_spmv_analysis */
    uint64_t entries;
    uint64_t squares; /* sum of the squares of the row lengths, which their sum's square bounds */
    uint64_t taken;   /* loads of four entries that rows side by side take */
    uint64_t needed;  /* and that they would take alone */
    /* By side less 2: entries in the rows of blocks that are looked at, and blocks that have
     * entries. */
    uint64_t block_entries[WFI_SPMV_SIDES], blocks[WFI_SPMV_SIDES];
} wfi_spmv_counts;

/* n, where every n-th row of blocks of the side is counted. */
uint32_t wfi_spmv_sample_step(uint32_t rows, uint32_t side);
/* Counts on the host. */
void wfi_spmv_count(const wf_spmv_params *matrix, wfi_spmv_counts *counts);
/* Row statistics for the models, and those for the caller. */
wfi_problem wfi_spmv_describe(const wf_spmv_params *matrix, const wfi_spmv_counts *counts,
                              wf_spmv_analysis *analysis);

#endif
