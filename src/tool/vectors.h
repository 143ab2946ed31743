/* Matrices and vectors that the user gives as .npy files. */
#ifndef WFI_TOOL_VECTORS_H
#define WFI_TOOL_VECTORS_H

#include <stdint.h>

#include "io/npy.h"

/* The elements of what was read, in C order and of the type, malloc'ed in *data; frees the rest. A
 * finite value that the type cannot hold is an error. On failure prints one line and returns the
 * exit code. */
int wfi_npy_elements(const char *path, wfi_npy *npy, wf_type type, void **data);

/* Reads a vector of `rows` elements (a row or a column), or, with several vectors, a matrix of as
 * many columns, and converts it to the type; *data is malloc'ed. On failure prints one line and
 * returns the exit code. */
int wfi_read_vectors(const char *path, wf_type type, uint64_t rows, uint64_t vectors, void **data);

#endif
