/* Vectors that the user gives as .npy files. */
#ifndef WFI_TOOL_VECTORS_H
#define WFI_TOOL_VECTORS_H

#include <stdint.h>

#include "wavefit/wavefit.h"

/* Reads a vector of `rows` elements (a row or a column), or, with several vectors, a matrix of as
 * many columns, and converts it to the type; *data is malloc'ed. On failure prints one line and
 * returns the exit code. */
int wfi_read_vectors(const char *path, wf_type type, uint64_t rows, uint64_t vectors, void **data);

#endif
