/* A star or box stencil on a grid, and its result, as checks on the host read them. */
#ifndef WFI_KERNELS_STENCIL_REFERENCE_H
#define WFI_KERNELS_STENCIL_REFERENCE_H

#include "kernels/check/bound.h"

typedef struct wfi_stencil_tap {
    int64_t offset[3]; /* i, j, k */
    double value;
} wfi_stencil_tap;

typedef struct wfi_stencil_reference {
    int64_t size[3];     /* cells along i, j, k */
    uint64_t row, plane; /* elements from one to the next */
    bool flat;           /* two dimensions: no j */
    wf_border border;
    uint32_t radius, steps;
    wf_type type;
    uint32_t count;
    const wfi_stencil_tap *taps;
    const void *in, *out;
    wfi_watch *watch;
} wfi_stencil_reference;

/* What holds for all cells. */
typedef struct wfi_stencil_bounds {
    double sum;   /* of the coefficients' magnitudes */
    double start; /* largest magnitude of the input */
    double most;  /* of any step */
    double error; /* of the result against the exact one */
} wfi_stencil_bounds;

#endif
