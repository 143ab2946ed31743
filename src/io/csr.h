/* A sparse matrix in compressed sparse rows on the host, and its making from triplets. */
#ifndef WFI_IO_CSR_H
#define WFI_IO_CSR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/io_error.h"

typedef struct wfi_csr {
    uint32_t rows, columns, entries;
    uint32_t *row_offsets;    /* rows + 1 */
    uint32_t *column_indices; /* ascending within a row, no duplicates */
    double *values;
} wfi_csr;

/* Entries in any order, growing geometrically. */
typedef struct wfi_triplets {
    bool (*stopped)(void); /* asked every few milliseconds of work; true: give up. NULL: never */
    size_t count, room;
    uint32_t *rows, *columns;
    double *values;
} wfi_triplets;

/* False without memory, beyond 2^32 - 1 entries, or when stopped. */
bool wfi_triplets_add(wfi_triplets *triplets, uint32_t row, uint32_t column, double value);
/* Room for so many in all. False without memory, or beyond 2^32 - 1. */
bool wfi_triplets_make_room(wfi_triplets *triplets, size_t count);
/* Puts those of `more` at `at` and behind, where there is room; counts nothing. */
void wfi_triplets_put(wfi_triplets *triplets, size_t at, const wfi_triplets *more);
void wfi_triplets_free(wfi_triplets *triplets);

/* Bytes that making a matrix of these sizes takes, without its entries. */
double wfi_csr_fixed_bytes(uint32_t rows, uint32_t columns);

/* The same with so many triplets, and with the triplets themselves. */
double wfi_csr_bytes(double triplets, uint32_t rows, uint32_t columns);

/* Sorts, sums duplicates in the order they were added; where there is nothing to sort or sum, it
 * takes the triplets' own arrays. False without memory or when stopped. */
bool wfi_csr_from_triplets(wfi_triplets *triplets, uint32_t rows, uint32_t columns, wfi_csr *out);
void wfi_csr_free(wfi_csr *csr);

#endif
