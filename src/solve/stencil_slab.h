/* A part of a stencil's grid that other devices have the rest of. */
#ifndef WFI_SOLVE_STENCIL_SLAB_H
#define WFI_SOLVE_STENCIL_SLAB_H

#include "kernels/stencil/stencil.h"
#include "solve/halo_boxes.h"

/* Cells that one plan updates. Those that neighbours need go early. */
typedef struct wfi_stencil_piece {
    uint32_t begin[3],
        end[3]; /* i and j counted from the first that is held, k in the whole grid */
    bool early;
} wfi_stencil_piece;

/* On two sides of each axis, and the inside. */
#define WFI_STENCIL_MOST_PIECES 7

struct wf_stencil_slab {
    wf_device *device;
    wf_stencil_params grid; /* its coefficients and tuning are the two below */
    double *coefficients;
    wf_tuning tuning;
    wf_stencil_cut cut;
    /* A block's own grid is what it holds of the whole one along i and j, its neighbours' cells
     * among it: what a pass makes wrong at the ends of that reaches no further than the halo. */
    wf_stencil_params local;
    uint64_t plane_bytes;  /* of `local` */
    wfi_part_axis axes[3]; /* i, j, k */
    bool is_block;
    wfi_halo_copier copier; /* a block's */
    uint32_t first, end;    /* planes */
    wfi_stencil_part held;  /* what the arrays hold */
    wf_buffer *grids[2];    /* grids[now]: as it is */
    uint32_t now;
    uint32_t piece_count;
    wfi_stencil_piece pieces[WFI_STENCIL_MOST_PIECES];
    wf_plan *(*plans)[WFI_STENCIL_MOST_PIECES]; /* by the steps of a pass, made when needed */
    wfi_halos halos;
    wfi_part_passes passes;
};

/* stencil_pieces.c: what the arrays hold along i or j. */
int64_t wfi_stencil_held_from(const wf_stencil_slab *slab, int axis);
uint32_t wfi_stencil_held_cells(const wf_stencil_slab *slab, int axis);
/* Cuts what a pass updates, whose inside, the last piece, needs none of the neighbours' cells.
 * Where nothing is between what they need, all pieces are early, and where there are no neighbours
 * the only one. */
void wfi_stencil_cut_pieces(wf_stencil_slab *slab);
bool wfi_stencil_has_inside(const wf_stencil_slab *slab);
/* The plans of passes of so many steps. */
wf_result wfi_stencil_plan_pieces(wf_stencil_slab *slab, uint32_t steps);

#endif
