/* Matrices and vectors that the user gives as .npy files. */
#ifndef WFI_TOOL_CASES_VECTORS_H
#define WFI_TOOL_CASES_VECTORS_H

#include <stdint.h>

#include "io/csr.h"
#include "io/npy.h"

/* Brings what was read into C order and the type. A finite value that is too large for the type is
 * an error, and for I8 whatever is not one of its whole numbers. On failure prints one line and
 * returns the exit code; npy is to be freed all the same. */
int wfi_npy_elements(const char *path, wfi_npy *npy, wf_type type);

/* The matrix's values in the type: its own where that is f64, else malloc'ed in *narrow. NULL with
 * WFI_IO_BAD_INPUT at a value that is too large for the type, or WFI_IO_NO_MEMORY; *narrow is to be
 * freed all the same. `name` is the matrix's, for the error. */
const void *wfi_matrix_values(const wfi_csr *matrix, const char *name, wf_type type, void **narrow,
                              wfi_io_error *error);

/* Reads a vector of `rows` elements (a row or a column), or, with several vectors, a matrix of as
 * many columns, of a .npy or a Matrix Market file, and converts it to the type. *vectors 0: gets as
 * many as the file has. On failure prints one line and returns the exit code; npy is to be freed
 * all the same. */
int wfi_read_vectors(const char *path, wf_type type, uint64_t rows, uint64_t *vectors,
                     wfi_npy *npy);

/* Zeroed memory for an answer, whose pages the system has given already: what it takes for that
 * belongs to no stage of a run. NULL: there is none. To be freed. */
void *wfi_answer_memory(size_t bytes);

/* The shape of a result of vectors of `rows` elements: one dimension, or two where there are
 * several vectors or where those of `like` (NULL or empty: there are none) had two. Returns the
 * number of dimensions. */
uint32_t wfi_vectors_shape(const wfi_npy *like, uint64_t rows, uint64_t vectors, uint64_t shape[2]);

#endif
