/* Star and box stencils with constant coefficients: what the rows of the grid family share.
 *
 * Shaders know three axes: i contiguous, j, k slowest. A flat grid (two dimensions) has rows along k
 * and no j. */
#ifndef WFI_KERNELS_STENCIL_STENCIL_H
#define WFI_KERNELS_STENCIL_STENCIL_H

#include "plan/plan.h"
#include "stencil/stencil_ids.h"

/* As in grid_problem.glsl. */
typedef struct wfi_stencil_push {
    int32_t ni, nj, nk;
    uint32_t row, plane, base_in, base_out;
    int32_t first, end;
} wfi_stencil_push;

/* Extents and strides (in elements) along i, j, k. */
typedef struct wfi_stencil_axes {
    uint64_t ni, nj, nk, row, plane;
    bool flat;
} wfi_stencil_axes;

/* wfi_variant.traits */
enum {
    WFI_STENCIL_VECTORS = 1 << 0,  /* a work-item updates a vector along i */
    WFI_STENCIL_ENDS = 1 << 1,     /* tiles end where a grid does that is not periodic */
    WFI_STENCIL_READS_ON = 1 << 2, /* the plane of the turn after the last one is loaded too */
};

wfi_stencil_axes wfi_stencil_axes_of(const wfi_stencil_problem *problem);
/* How many coefficients the shape has. */
uint32_t wfi_stencil_taps(const wfi_stencil_problem *problem);
/* Elements of a grid's buffer. */
uint64_t wfi_stencil_elements(const wfi_stencil_problem *problem);

/* Cells along i that a work-item updates. */
uint32_t wfi_stencil_width(const wfi_point *point);
/* Cells that a work-group updates along i, j, k; and how many more at an end of the grid along i, j. */
typedef struct wfi_stencil_tile {
    int64_t i, j, k, more_i, more_j;
} wfi_stencil_tile;
wfi_stencil_tile wfi_stencil_tile_of(const wfi_point *point);

/* grid_stencil_windows.c: a pass over the grid as dispatches whose windows the device can bind. */

/* Where planes lie: plane k of the axis that a dispatch sees is k - first planes from byte `offset`. */
typedef struct wfi_stencil_place {
    wfi_slot_kind kind;
    uint32_t index;
    uint64_t offset;
    int64_t first;
} wfi_stencil_place;

/* A pipeline that makes `steps` steps, from one place to another. */
typedef struct wfi_stencil_pass {
    const wfi_point *point;
    uint32_t pipeline, steps;
    wfi_stencil_place from, to;
    bool waits; /* for the pass before */
    /* With a seam: the point of its copies, their pipeline, and where in the workspace it lies. */
    const wfi_point *copy;
    uint32_t copy_pipeline;
    uint64_t seam;
} wfi_stencil_pass;

wf_result wfi_stencil_add_pass(wf_plan *plan, const wfi_stencil_pass *pass);
/* Bytes of the planes on either side of a periodic grid's ends that passes of so many steps want side
 * by side, since windows do not wrap around; 0: the whole grid can be bound. */
uint64_t wfi_stencil_seam_bytes(const wfi_point *point, uint32_t steps);
/* Whether the planes that one plane's update reads can be bound, and rows and planes fit a dispatch. */
bool wfi_stencil_fits_binding(const wfi_point *point);
bool wfi_stencil_fits_dispatch(const wfi_point *point);
/* Work-groups side by side along i and j; the tile must be legal. */
uint64_t wfi_stencil_columns(const wfi_point *point);

#define WFI_STENCIL_MOST_STEPS 4096u
/* False: params are not those of a stencil; the first does not look at the coefficients. */
bool wfi_stencil_sizes_of(const wf_stencil_params *params, wfi_stencil_problem *out);
bool wfi_stencil_problem_of(const wf_stencil_params *params, wfi_stencil_problem *out);

/* wf_stencil_plan for a solver: binding WFI_STENCIL_COEFFICIENTS has the coefficients and a number behind
 * them, both of the type that is computed with. Unless that is 0 the plan does nothing. */
#define WFI_STENCIL_COEFFICIENTS 2

/* params: the coefficients (f64), wfi_stencil_taps of them. */
wf_result wfi_stencil_build(wf_plan *plan, const wfi_point *point, const void *params);

double wfi_stencil_fit_naive(wfi_point *point);
double wfi_stencil_fit_march(wfi_point *point);
double wfi_stencil_fit_vector(wfi_point *point);
double wfi_stencil_fit_time(wfi_point *point);
double wfi_stencil_fit_time_vector(wfi_point *point);
double wfi_stencil_fit_time_box(wfi_point *point);

#endif
