/* Blocks of neighbouring rows, all with room for as many entries and rows, so that a work-group
 * knows where its data lies without loading it; entries stand in the order of the matrix, without
 * padding between rows. The words of a block: its first row, its rows, the lowest column and a
 * zero; 16 bits a row that say where it begins in the block, and where the last one ends; columns
 * as 16-bit distances from the lowest, or whole. */
#ifndef WFI_KERNELS_SPMV_FORMATS_STREAM_H
#define WFI_KERNELS_SPMV_FORMATS_STREAM_H

#include "wavefit/wavefit.h"

typedef struct wfi_csr_stream_params {
    const wf_spmv_params *matrix;
    uint32_t first, rows; /* the rows to take; none is longer than a block */
    /* Those of a block, at most; the entries are a multiple of 4, below 65536, the rows even. */
    uint32_t block_entries, block_rows;
} wfi_csr_stream_params;

#define WFI_CSR_STREAM_ROWS 8192 /* of a block that shaders make */

typedef struct wfi_csr_stream {
    uint32_t blocks;
    uint32_t width, stride; /* 8 << width bits a column; words a block */
    uint64_t pattern_words, place_count;
    uint32_t *pattern;
    uint32_t *places; /* the matrix's entry of each value, UINT32_MAX: padding */
} wfi_csr_stream;

/* Counts, without making the arrays. */
void wfi_csr_stream_measure(const wfi_csr_stream_params *params, wfi_csr_stream *out);
/* Sets the sizes that follow from the number of blocks and how far apart the columns of any are. */
void wfi_csr_stream_size(const wfi_csr_stream_params *params, uint32_t blocks, uint32_t span,
                         wfi_csr_stream *out);
/* Makes the arrays of what was measured; WF_ERROR_OUT_OF_HOST_MEMORY. */
wf_result wfi_csr_stream_make(const wfi_csr_stream_params *params, wfi_csr_stream *measured);
/* Accepts a zeroed one. */
void wfi_csr_stream_free(wfi_csr_stream *stream);

#endif
