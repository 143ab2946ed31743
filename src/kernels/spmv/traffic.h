/* What the work-items of sparse products request of memory, counted from the algorithm: the
 * variants' `traffic`, and what is added once a plan is made, where bytes depend on each row. */
#ifndef WFI_KERNELS_SPMV_TRAFFIC_H
#define WFI_KERNELS_SPMV_TRAFFIC_H

#include "plan/family.h"

/* wfi_variant.traffic where so many work-items read both offsets of a row. */
void wfi_spmv_count_traffic(const wfi_point *point, double items_a_row, wfi_traffic *out);
void wfi_spmv_row_traffic(const wfi_point *point, wfi_traffic *out); /* a work-item a row */
void wfi_spmv_lanes_traffic(const wfi_point *point, wfi_traffic *out);
/* The same of `many` and `row_many`. */
void wfi_spmv_many_traffic(const wfi_point *point, wfi_traffic *out);
void wfi_spmv_row_many_traffic(const wfi_point *point, wfi_traffic *out);

/* Adds what the work-items of a row of that length request besides its entries and its element of
 * y. */
typedef void (*wfi_spmv_row_fn)(const wfi_point *point, uint32_t length, wfi_traffic *out);
/* wfi_variant.traffic where all rows have the mean length. */
void wfi_spmv_mean_traffic(const wfi_point *point, wfi_spmv_row_fn add_row, wfi_traffic *out);
/* Of rows whose entries begin at offsets[0 … rows]. */
void wfi_spmv_rows_traffic(const wfi_point *point, wfi_spmv_row_fn add_row, const uint32_t *offsets,
                           uint32_t rows, wfi_traffic *out);

#define WFI_SPMV_CARRY_BYTES 16 /* a row and a sum that a work-group of merge leaves */
/* Of `merge`, on the same. */
void wfi_spmv_merge_traffic(const wfi_point *point, const uint32_t *offsets, uint32_t rows,
                            wfi_traffic *out);
/* Of `blocked`: rows of blocks, all blocks, and the matrix's own rows. */
void wfi_spmv_blocked_traffic(const wfi_point *point, uint64_t block_rows, uint64_t blocks,
                              uint64_t rows, wfi_traffic *out);
/* Of `stream`: its blocks, the bytes of a column, and rows. */
void wfi_spmv_stream_traffic(const wfi_point *point, uint64_t blocks, uint32_t column_bytes,
                             uint64_t rows, wfi_traffic *out);

#endif
