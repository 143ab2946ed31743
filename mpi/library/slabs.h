/* A grid that is cut into slabs or blocks: neighbouring ranks exchange boundary cells while their
 * devices update the others. */
#ifndef WFI_MPI_SLABS_H
#define WFI_MPI_SLABS_H

#include "blocks.h"
#include "shared.h"

/* The functions of a part of a grid in the main library. */
typedef struct wfi_slab_functions {
    wf_result (*bind)(void *part, const wf_halo_bindings *halos);
    wf_result (*begin)(void *part, uint32_t steps, bool arrived);
    wf_result (*next)(void *part, uint32_t steps, bool arrived, double *seconds);
    wf_result (*end)(void *part, double *seconds);
} wfi_slab_functions;

typedef struct wfi_slabs {
    const wfi_ranks *ranks;
    const wfi_slab_functions *functions;
    void *part;                    /* NULL: this rank has no cells */
    int neighbours[WF_HALO_SIDES]; /* MPI_PROC_NULL: the grid ends, or that rank has left */
    wf_halo halo;
    wfi_shared shared; /* with neighbours of this host, in place of messages */
    bool arrived;      /* the neighbours' cells are there */
} wfi_slabs;

/* The nearest ranks with planes below and above this one; `first` has each rank's first plane.
 * around: above the last is the first. */
void wfi_slabs_find(wfi_slabs *slabs, const wfi_ranks *ranks, const uint32_t *first, bool around);
/* The same for blocks, each with up to 26 nearest ones around it. */
void wfi_slabs_find_around(wfi_slabs *slabs, const wfi_ranks *ranks, const wfi_blocks *blocks,
                           bool around);
/* Halos must have one size on both sides of a cut; then memory is shared where that can be.
 * Collective. */
wf_result wfi_slabs_open(wfi_slabs *slabs, wf_device *device);
/* How many neighbours' halos this rank's device reads where these left them. */
uint32_t wfi_slabs_shared(const wfi_slabs *slabs);
/* The part is destroyed before, and the work of all ranks' devices has ended. Collective. */
void wfi_slabs_close(wfi_slabs *slabs);

/* Which memory what is done next leaves planes in and takes the neighbours' from. */
wf_result wfi_slabs_bind(wfi_slabs *slabs);
/* The same between two exchanges, for what takes the planes of the last one and leaves none. */
wf_result wfi_slabs_bind_arrived(wfi_slabs *slabs);
/* Sends this rank's boundary planes to the neighbours that are still there and receives theirs. A
 * rank that stops sends a message without a plane in place of each: a neighbour that gets one stops
 * too, WF_NOT_READY, and tells its other neighbour in the next exchange, so that nobody waits for a
 * rank that has left. */
wf_result wfi_slabs_exchange(wfi_slabs *slabs, wf_result own);
/* Makes `count` steps in passes of `most`; `ones`: what is left in passes of one. Passes are
 * counted alike on all ranks. What it returns is to be agreed on. */
wf_result wfi_slabs_run(wfi_slabs *slabs, uint32_t count, uint32_t most, bool ones,
                        wf_mpi_times *times);

#endif
