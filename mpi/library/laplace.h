/* A grid of Laplace's equation on many ranks, in slabs. */
#ifndef WFI_MPI_LAPLACE_H
#define WFI_MPI_LAPLACE_H

#include "choice.h"
#include "slabs.h"

struct wf_mpi_laplace {
    wfi_ranks ranks;
    wf_device *device;
    wf_mpi_laplace_params params;
    wf_laplace_params grid; /* the whole one, without defaults; its tuning is `tuning` */
    wf_laplace_cut cut;     /* as all ranks have it */
    wfi_choice_sent choice; /* of Jacobi */
    wf_constant constants[WF_MAX_PARAMETERS]; /* of `choice` */
    wf_tuning tuning;
    uint32_t *first; /* row, by rank, and behind the last */
    int root;        /* the lowest rank with rows */
    wf_laplace_slab *slab;
    wfi_slabs slabs;
    bool failed; /* nothing more can be done */
};

/* laplace_create.c */
uint32_t wfi_mpi_laplace_rows(const wf_mpi_laplace *laplace, int rank);

#endif
