/* Matrices and vectors that the user gives as .npy files. */
#ifndef WFI_TOOL_CASES_VECTORS_H
#define WFI_TOOL_CASES_VECTORS_H

#include <stdint.h>

#include "io/csr.h"
#include "io/npy.h"

/* Brings what was read into C order and the type. A finite value that the type cannot hold is an
 * error. On failure prints one line and returns the exit code; npy is to be freed all the same. */
int wfi_npy_elements(const char *path, wfi_npy *npy, wf_type type);

/* The matrix's values in the type: its own where that is f64, else malloc'ed in *narrow. NULL with
 * WFI_IO_BAD_INPUT at a value that is too large for the type, or WFI_IO_NO_MEMORY; *narrow is to be
 * freed all the same. `name` is the matrix's, for the error. */
const void *wfi_matrix_values(const wfi_csr *matrix, const char *name, wf_type type, void **narrow,
                              wfi_io_error *error);

/* Reads a vector of `rows` elements (a row or a column), or, with several vectors, a matrix of as
 * many columns, and converts it to the type. On failure prints one line and returns the exit code;
 * npy is to be freed all the same. */
int wfi_read_vectors(const char *path, wf_type type, uint64_t rows, uint64_t vectors, wfi_npy *npy);

#endif
