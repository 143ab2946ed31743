/* Matrices that measurements are told by name. */
#ifndef WFI_BENCH_MATRIX_H
#define WFI_BENCH_MATRIX_H

#include "io/csr.h"
#include "wavefit/wavefit.h"

/* Reads FILE.mtx, or makes KIND:SIZE as wavefit spmv --generate does. Returns the values in the
 * type, malloc'ed; NULL, with nothing in *out and the reason on standard error, where there is no
 * such matrix or no memory. */
void *bench_matrix_read(const char *text, wf_type type, wfi_csr *out);

#endif
