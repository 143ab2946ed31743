/* Matrix Market files (Boisvert, Pozo, Remington: The Matrix Market Exchange Formats, NISTIR 5935,
 * 1996), plain or gzip-compressed. */
#ifndef WFI_IO_MATRIX_MARKET_H
#define WFI_IO_MATRIX_MARKET_H

#include "io/csr.h"

/* What a matrix is said to have, before its entries are read. */
typedef struct wfi_matrix_sizes {
    uint32_t rows, columns;
    uint64_t line; /* of the file, which says so */
} wfi_matrix_sizes;

/* The sizes of a file that wfi_matrix_market_read could begin to read. */
bool wfi_matrix_market_sizes(const char *path, wfi_matrix_sizes *out, wfi_io_error *error);

/* Reads coordinate and array matrices of real, integer and pattern fields (a pattern's values are
 * 1), expanding symmetric and skew-symmetric storage ("hermitian" with a real field is symmetric).
 * The format stores the lower triangle; an entry above the diagonal, which some files have, stands
 * for both of its places all the same. Duplicates are summed, also those that a file with both
 * triangles makes. A diagonal entry given in skew-symmetric storage is taken as written. Zeros
 * stored in coordinate form are kept; those of array form are not entries. Complex fields are
 * refused as unsupported. Anything else that the format does not allow (wrong counts, indices out
 * of range, NaN or infinite values, text after an entry) is refused with file and line. */
bool wfi_matrix_market_read(const char *path, wfi_csr *out, wfi_io_error *error);

/* The same in at most `threads` pieces of at least `least_piece` bytes, which only coordinate
 * matrices of plain files are read in; *in_pieces: whether it was. */
bool wfi_matrix_market_read_with(const char *path, unsigned threads, uint64_t least_piece,
                                 wfi_csr *out, bool *in_pieces, wfi_io_error *error);

/* Writes coordinate form, real and general, every value with all its digits; whole or not at
 * all. */
bool wfi_matrix_market_write(const char *path, const wfi_csr *csr, wfi_io_error *error);

#endif
