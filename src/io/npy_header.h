/* The dictionary that NumPy's .npy files begin with: elements, order and shape. */
#ifndef WFI_IO_NPY_HEADER_H
#define WFI_IO_NPY_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "io/io_error.h"
#include "wavefit/wavefit.h"

#define WFI_NPY_DIMENSIONS 4

/* A kind of elements in files. */
typedef struct wfi_npy_stored {
    const char *name; /* NumPy's, without the order of its bytes */
    size_t size;
    wf_type type;                  /* that holds all its values, those of 8-byte integers rounded */
    double (*get)(const void *at); /* NULL: elements are stored as those of the type are */
} wfi_npy_stored;

typedef struct wfi_npy_header {
    const wfi_npy_stored *stored;
    bool swapped; /* the most significant byte is the first */
    bool fortran_order;
    uint32_t dimensions;
    uint64_t shape[WFI_NPY_DIMENSIONS]; /* 1 where there are fewer dimensions */
} wfi_npy_header;

/* `path` is what errors begin with; `text` is the dictionary. */
bool wfi_npy_parse_header(const char *path, const char *text, wfi_npy_header *out,
                          wfi_io_error *error);

#endif
