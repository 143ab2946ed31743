/* The order of rows in formats where rows side by side wait for each other. */
#ifndef WFI_KERNELS_SPMV_ORDER_H
#define WFI_KERNELS_SPMV_ORDER_H

#include <stdint.h>

/* A sorting key: longer rows have smaller keys, and of equally long rows the earlier one. The low
 * half is the row. */
static inline uint64_t wfi_row_key(uint32_t length, uint32_t row)
{
    return (uint64_t)~length << 32 | row;
}

/* Sorts the keys of each `window` rows, which is not 0, among themselves; those of the last may be
 * fewer. */
void wfi_order_rows(uint64_t *keys, uint32_t count, uint32_t window);

#endif
