/* A pass over a grid, as dispatches that each bind a window of planes no larger than the device
 * allows. */
#ifndef WFI_KERNELS_STENCIL_WINDOWS_H
#define WFI_KERNELS_STENCIL_WINDOWS_H

#include "kernels/stencil/stencil.h"

/* Where planes lie: plane k of the axis that a dispatch sees is k - first planes from byte
 * `offset`. */
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
    /* With a seam: the point of its copies, their pipeline, and its offset in the workspace. */
    const wfi_point *copy;
    uint32_t copy_pipeline;
    uint64_t seam;
} wfi_stencil_pass;

/* The pass over the problem's part, whose arrays hold all planes that it reads. */
wf_result wfi_stencil_add_part(wf_plan *plan, const wfi_stencil_pass *pass);
wf_result wfi_stencil_add_pass(wf_plan *plan, const wfi_stencil_pass *pass);
/* Bytes of the planes on either side of a periodic grid's ends that passes of so many steps need
 * side by side, since windows do not wrap around; 0: the whole grid can be bound. */
uint64_t wfi_stencil_seam_bytes(const wfi_point *point, uint32_t steps);
/* Whether the planes that one plane's update reads can be bound. */
bool wfi_stencil_fits_binding(const wfi_point *point);

#endif
