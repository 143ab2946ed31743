/* A part of a grid of Laplace's equation, for a solve on several devices. Rows are counted in the
 * whole grid but where they are said to be of the arrays. */
#ifndef WFI_SOLVE_LAPLACE_SLAB_H
#define WFI_SOLVE_LAPLACE_SLAB_H

#include "solve/laplace.h"
#include "solve/part_passes.h"

/* What the last iteration of a pass updates: the rows that neighbours need, below and above, and
 * the others; or all. */
enum { WFI_LOWER_ROWS, WFI_UPPER_ROWS, WFI_OTHER_ROWS, WFI_ROW_PIECES };

struct wf_laplace_slab {
    wf_device *device;
    wf_laplace_params grid; /* the whole one, without defaults; its tuning is the one below */
    wf_tuning tuning;
    wf_constant constants[WF_MAX_PARAMETERS];
    wfi_laplace l;       /* of the rows that the arrays hold, from origin on */
    uint32_t first, end; /* its own rows */
    uint32_t origin, halo, most;
    bool there[WFI_SIDES]; /* neighbours */
    bool whole;            /* too thin for pieces: all rows are updated at once */
    uint32_t now;          /* Jacobi: the array that has the cells as they are */
    /* SOR: a sweep over all rows that the arrays hold, and one of each colour over a piece. */
    wf_plan *sweep, *pieces[WFI_ROW_PIECES][2];
    wf_plan *(*steps)[WFI_ROW_PIECES]; /* Jacobi: by the iterations of a pass, made when needed */
    wfi_halos halos;
    wfi_part_passes passes;
};

/* laplace_slab_pass.c: SOR's plans; Jacobi's, of passes of so many iterations. */
wf_result wfi_laplace_slab_sweeps(wf_laplace_slab *slab);
wf_result wfi_laplace_slab_steps(wf_laplace_slab *slab, uint32_t iterations);
void wfi_laplace_slab_free_plans(wf_laplace_slab *slab);
/* Records that boundary rows are left to the neighbours, or theirs are taken. */
void wfi_laplace_slab_leave(const wf_laplace_slab *slab, VkCommandBuffer command_buffer,
                            uint32_t array);
void wfi_laplace_slab_arrive(const wf_laplace_slab *slab, VkCommandBuffer command_buffer);

#endif
