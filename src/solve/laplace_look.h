/* What the host finds in the rows of a grid of Laplace's equation, in long double. */
#ifndef WFI_SOLVE_LAPLACE_LOOK_H
#define WFI_SOLVE_LAPLACE_LOOK_H

#include "solve/laplace.h"

/* Rows of a grid, all of them or a part's. */
typedef struct wfi_laplace_rows {
    const wf_laplace_params *grid; /* the whole one */
    uint32_t first, count;
    const void *own;
    const void *lower, *upper; /* the rows around them; NULL: the grid ends, or nobody asks */
} wfi_laplace_rows;

/* Sums of squares are of values divided by a unit, whose own square may overflow. */
typedef struct wfi_laplace_found {
    double largest; /* magnitude; infinite where a value is not finite */
    long double border, residual, scale;
} wfi_laplace_found;

wf_result wfi_laplace_find_largest(wf_device *device, const wfi_laplace_rows *rows,
                                   wfi_laplace_found *found);
/* Of what the border contributes to the equations of these rows: the square of |b|. */
void wfi_laplace_find_border(const wfi_laplace_rows *rows, double unit, wfi_laplace_found *found);
/* Of r, and of the sums of the magnitudes that r is computed from. */
wf_result wfi_laplace_find_residual(wf_device *device, const wfi_laplace_rows *rows, double unit,
                                    wfi_laplace_found *found);

#endif
