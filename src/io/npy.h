/* NumPy's .npy files (NumPy Enhancement Proposal 1; format versions 1.0 to 3.0), and arrays in its
 * .npz files: floats of 2, 4 and 8 bytes, integers and bool, either order of bytes, C and Fortran
 * order, up to four dimensions. */
#ifndef WFI_IO_NPY_H
#define WFI_IO_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "io/io_error.h"
#include "io/mapping.h"
#include "io/npy_header.h"
#include "wavefit/wavefit.h"

typedef struct wfi_npy {
    wf_type type; /* F16, F32, F64, I8; wider integers are F32 or F64 already */
    uint32_t dimensions;
    uint64_t shape[WFI_NPY_DIMENSIONS]; /* 1 where there are fewer dimensions */
    bool fortran_order;
    void *data; /* of the type, in the file's order; may be written to */
    /* Of the file, where its elements stand at multiples of their size; else data is malloc'ed. */
    wfi_mapping mapping;
} wfi_npy;

/* Reads FILE.npy, FILE.npz:NAME, or the one array of FILE.npz. A .npy file is mapped where it can
 * be. The shape is checked against the file's size before anything is allocated for it. */
bool wfi_npy_read(const char *path, wfi_npy *out, wfi_io_error *error);
void wfi_npy_free(wfi_npy *npy);

/* How many elements there are. */
uint64_t wfi_npy_count(const wfi_npy *npy);
/* "3 x 4", for messages. */
#define WFI_NPY_SHAPE_TEXT 96
void wfi_npy_shape_text(const wfi_npy *npy, char text[WFI_NPY_SHAPE_TEXT]);

/* The elements in C order and of the type, malloc'ed; NULL without memory. *lost (may be NULL) gets
 * how many the type does not hold: finite values that became infinite, and for I8 all that are not
 * whole numbers from -128 to 127. Other values are rounded. */
void *wfi_npy_convert(const wfi_npy *npy, wf_type type, uint64_t *lost);

/* Makes the elements what wfi_npy_convert gives, in place of the file's; those that are so already
 * stay where they are. False without memory. */
bool wfi_npy_become(wfi_npy *npy, wf_type type, uint64_t *lost);

/* Writes C-ordered elements of the type, in as many dimensions as `shape` has sizes. The file
 * appears whole or not at all. */
bool wfi_npy_write(const char *path, wf_type type, uint32_t dimensions, const uint64_t *shape,
                   const void *data, wfi_io_error *error);

#endif
