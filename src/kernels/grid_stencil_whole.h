/* The check of every cell of a star or box stencil, in f64 with one bound for all. */
#ifndef WFI_KERNELS_GRID_STENCIL_WHOLE_H
#define WFI_KERNELS_GRID_STENCIL_WHOLE_H

#include "kernels/bound.h"

typedef struct wfi_grid_tap {
    int64_t offset[3]; /* i, j, k */
    double value;
} wfi_grid_tap;

typedef struct wfi_grid_reference {
    int64_t size[3];     /* cells along i, j, k */
    uint64_t row, plane; /* elements from one to the next */
    bool flat;           /* two dimensions: no j */
    wf_border border;
    uint32_t radius, steps;
    wf_type type;
    uint32_t count;
    const wfi_grid_tap *taps;
    const void *in, *out;
    wfi_watch *watch;
} wfi_grid_reference;

/* Compares all cells, slab by slab along k, and says which is farthest off; worst[0] is negative
 * where that would take too long: the cells' range alone is looked at then (check->ranged), or
 * where inputs are not finite or may overflow nothing. WF_ERROR_CANCELLED,
 * WF_ERROR_OUT_OF_HOST_MEMORY. */
wf_result wfi_grid_check_whole(const wfi_grid_reference *grid, wf_check *check, int64_t worst[3]);

#endif
