/* Star and box stencils with constant coefficients: their problems, and how work-groups cover a
 * grid.
 *
 * Shaders know three axes: i is contiguous, k is the slowest. A flat grid (two dimensions) has its
 * rows along k and no j. */
#ifndef WFI_KERNELS_STENCIL_STENCIL_H
#define WFI_KERNELS_STENCIL_STENCIL_H

#include "plan/plan.h"
#include "stencil/stencil_ids.h"

/* Extents and strides (in elements) along i, j, k. */
typedef struct wfi_stencil_axes {
    uint64_t ni, nj, nk, row, plane;
    bool flat;
} wfi_stencil_axes;

wfi_stencil_axes wfi_stencil_axes_of(const wfi_stencil_problem *problem);
/* How many coefficients the shape has. */
uint32_t wfi_stencil_taps(const wfi_stencil_problem *problem);
double wfi_stencil_cells(const wfi_stencil_problem *problem);
/* Elements of a grid's buffer. */
uint64_t wfi_stencil_elements(const wfi_stencil_problem *problem);

#define WFI_STENCIL_MOST_STEPS 4096u
/* False: params are not those of a stencil; the first does not look at the coefficients. */
bool wfi_stencil_sizes_of(const wf_stencil_params *params, wfi_stencil_problem *out);
bool wfi_stencil_problem_of(const wf_stencil_params *params, wfi_stencil_problem *out);

/* The binding of a solver's plan that holds the coefficients and, behind them, a number: unless
 * that is 0 the plan does nothing. All are of the type that is computed with. */
#define WFI_STENCIL_COEFFICIENTS 2

/* Where rows of several arrays are cut alike, so that vectors and lines of memory stay whole. */
#define WFI_STENCIL_ROW_UNIT 32

/* Cells along i that a work-item updates. */
uint32_t wfi_stencil_width(const wfi_point *point);
/* Cells that a work-group updates along i, j, k, and how many more it updates at an end of the grid
 * along i, j. */
typedef struct wfi_stencil_tile {
    int64_t i, j, k, more_i, more_j;
} wfi_stencil_tile;
wfi_stencil_tile wfi_stencil_tile_of(const wfi_point *point);
/* Work-groups along i and j, and their product; the tile must be legal. */
void wfi_stencil_groups(const wfi_point *point, uint64_t groups[2]);
uint64_t wfi_stencil_columns(const wfi_point *point);

#endif
