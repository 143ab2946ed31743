/* Matrices in compressed sparse rows whose analysis or conversion by shaders is compared with the
 * host's: grids, random rows, long, empty and distant ones. */
#ifndef WFI_TESTS_CSR_MATRIX_H
#define WFI_TESTS_CSR_MATRIX_H

#include "harness.h"
#include "kernels/spmv/analysis/device_csr.h"

typedef struct csr_matrix {
    char name[64];
    wf_spmv_params params;
    uint32_t *offsets, *columns;
    double *values; /* room for the largest type */
} csr_matrix;

/* One of eight kinds, by the number; values are random words, many of them -0. */
void csr_matrix_make(csr_matrix *m, uint32_t number, test_random *random);
/* More rows than one work-item goes through (stream_convert.c), some of them empty for long. */
void csr_matrix_make_tall(csr_matrix *m, test_random *random);
/* More than a megabyte of columns and of values, of f32. */
void csr_matrix_make_wide(csr_matrix *m, test_random *random);
void csr_matrix_free(csr_matrix *m);

wfi_device_csr csr_matrix_upload(wf_device *device, const csr_matrix *m);

/* How many matrices a test draws: all but under an emulator. */
uint32_t csr_matrix_cases(uint32_t of_all);

#endif
