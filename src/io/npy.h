/* NumPy's .npy files (NumPy Enhancement Proposal 1; format versions 1.0 to 3.0): little-endian f2,
 * f4 and f8, C and Fortran order, up to two dimensions. */
#ifndef WFI_IO_NPY_H
#define WFI_IO_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "io/io_error.h"
#include "io/mapping.h"
#include "wavefit/wavefit.h"

typedef struct wfi_npy {
    wf_type type; /* F16, F32 or F64 */
    uint32_t dimensions;
    uint64_t shape[2]; /* rows, columns; 1 where there are fewer dimensions */
    bool fortran_order;
    void *data; /* in the file's type and order; may be written to */
    /* Of the file, where its elements stand at multiples of their size; else data is malloc'ed. */
    wfi_mapping mapping;
} wfi_npy;

/* The file is mapped where it can be. The shape is checked against the file's size before anything
 * is allocated for it. */
bool wfi_npy_read(const char *path, wfi_npy *out, wfi_io_error *error);
void wfi_npy_free(wfi_npy *npy);

/* The elements in C order and of the type, malloc'ed; NULL without memory. *overflowed gets how
 * many finite values became infinite (may be NULL). */
void *wfi_npy_convert(const wfi_npy *npy, wf_type type, uint64_t *overflowed);

/* Makes the elements what wfi_npy_convert gives, in place of the file's; those that are so already
 * stay where they are. False without memory. */
bool wfi_npy_become(wfi_npy *npy, wf_type type, uint64_t *overflowed);

/* Writes C-ordered elements of the type; dimensions 1 (shape[0]) or 2. The file appears whole or
 * not at all. */
bool wfi_npy_write(const char *path, wf_type type, uint32_t dimensions, const uint64_t shape[2],
                   const void *data, wfi_io_error *error);

#endif
