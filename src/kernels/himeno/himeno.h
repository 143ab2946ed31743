/* How the Himeno problem lies in device memory, and its plans; the family and the solver object
 * share them.
 *
 * Inner cells (updated) are numbered from 0; cell -1 is the border. p keeps its borders: a row is
 * `p_left` elements, of which the last is the border, then the inner cells, the border and padding.
 * The coefficients of borders are never used and not kept: a row is the inner cells and padding. */
#ifndef WFI_KERNELS_HIMENO_HIMENO_H
#define WFI_KERNELS_HIMENO_HIMENO_H

#include "plan/family.h"
#include "plan/plan.h"
#include "himeno/himeno_ids.h"

#define WFI_HIMENO_COEFFICIENTS 12 /* a0 … a3, b0 … b2, c0 … c2, wrk1, bnd */
#define WFI_HIMENO_MAX_STEPS 4     /* iterations a pass */
#define WFI_HIMENO_TEXEL_BYTES 16  /* four cells */

/* Bindings of a slab's plan. */
enum { WFI_HIMENO_P_IN, WFI_HIMENO_P_OUT, WFI_HIMENO_CELLS, WFI_HIMENO_PARTIALS };

/* Strides in elements. */
typedef struct wfi_himeno_layout {
    uint64_t p_left, p_row, p_plane;
    uint64_t c_length; /* inner cells of a row and their padding, whole blocks */
    uint64_t c_block;  /* cells of a block */
    uint64_t c_row, c_plane;
    bool interleaved; /* a block's twelve coefficients side by side, else twelve arrays */
} wfi_himeno_layout;

wfi_himeno_layout wfi_himeno_layout_of(const wfi_point *point);

/* Inner cells along i or j that a slab updates. Where the arrays hold cells of neighbours beside
 * them, iterations before the last one of a pass update these, too. */
typedef struct wfi_himeno_span {
    uint32_t first, count;  /* first: counted in the cells that the arrays hold */
    uint32_t before, after; /* held cells of neighbours, up to 255 */
} wfi_himeno_span;

/* A run of planes along k with its own coefficients, small enough for the device's bindings. */
typedef struct wfi_himeno_slab {
    wfi_himeno_span i, j;
    uint32_t planes;       /* inner planes that it updates */
    uint32_t lower, upper; /* planes of coefficients kept before and after these */
    uint64_t p_first;      /* its first inner plane's index in the p buffers it is bound to */
    uint64_t p_planes;     /* planes in those buffers */
    uint32_t groups;       /* partial sums of gosa that an iteration leaves for all slabs */
    uint32_t first_group;  /* index of this slab's first among them */
    uint32_t rows;         /* rows of partial sums in the buffer */
    float omega;
} wfi_himeno_slab;

/* Elements of the slab's coefficient buffer, and elements from one coefficient to the next. */
uint64_t wfi_himeno_cells(const wfi_himeno_layout *layout, const wfi_himeno_slab *slab);
uint64_t wfi_himeno_array(const wfi_himeno_layout *layout, const wfi_himeno_slab *slab);

/* Bytes that a binding of the point may have, wherever it starts. */
uint64_t wfi_himeno_range(const wfi_point *point);
/* The most inner planes that an allocation of p holds, and that a binding holds of p and of the
 * coefficients; 0: not one. */
typedef struct wfi_himeno_room {
    uint64_t block_planes, slab_planes;
} wfi_himeno_room;

wfi_himeno_room wfi_himeno_room_of(const wfi_point *point);
/* The largest allocation that is one buffer. */
uint64_t wfi_himeno_allocation(const wf_caps *caps);
bool wfi_himeno_fits(const wfi_point *point); /* wfi_family_hooks.fits: each holds a plane */
/* Iterations that one pass of the point makes. */
uint32_t wfi_himeno_steps(const wfi_point *point);
/* Subgroups of a work-group that each store a partial sum of gosa; 0: the work-group stores one. */
uint32_t wfi_himeno_subgroups(const wfi_point *point);
/* Partial sums of gosa that an iteration leaves for a slab. */
uint64_t wfi_himeno_partials(const wfi_point *point, const wfi_himeno_slab *slab);
/* Cells that a work-group updates along i, j and k, where the last ones may have fewer. */
void wfi_himeno_tile(const wfi_point *point, uint32_t cells[3]);
/* A point of one iteration a pass on the same layout, for the remainder of a count. Its work-groups
 * update the same cells, so that cuts between work-groups are cuts of both. */
void wfi_himeno_single(const wfi_point *point, wfi_point *single);

/* Sums `rows` rows (the sequence of a recording) of `groups` partial sums to one value each. */
wf_result wfi_himeno_sum_plan(wf_device *device, uint32_t rows, uint32_t groups, wf_plan **out);
/* Fills `count` coefficients with the benchmark's start values; the plan has one binding, which it
 * writes. */
wf_result wfi_himeno_start_plan(wf_device *device, uint64_t count, uint64_t array, wf_plan **out);

#endif
