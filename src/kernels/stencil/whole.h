/* The check of every cell of a star or box stencil, in f64 with one bound for all. */
#ifndef WFI_KERNELS_STENCIL_WHOLE_H
#define WFI_KERNELS_STENCIL_WHOLE_H

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

/* Compares all cells, slab by slab along k, and says which is farthest off; worst[0] is negative
 * where that would take too long: the cells' range alone is looked at then (check->ranged), or
 * where inputs are not finite or may overflow nothing. WF_ERROR_CANCELLED,
 * WF_ERROR_OUT_OF_HOST_MEMORY. */
wf_result wfi_stencil_check_whole(const wfi_stencil_reference *grid, wf_check *check,
                                  int64_t worst[3]);

#endif
