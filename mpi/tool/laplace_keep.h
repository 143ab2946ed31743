/* Checkpoints of Laplace's equation on many ranks. */
#ifndef WFI_MPI_TOOL_LAPLACE_KEEP_H
#define WFI_MPI_TOOL_LAPLACE_KEEP_H

#include "checkpoints.h"

typedef struct wfi_laplace_keep {
    wfi_rank *rank;
    wfi_checkpoints checkpoints;
    const wf_laplace_params *grid;
    wf_mpi_laplace_info part;
    void *whole;           /* rank 0: room for the whole field, where it is written from */
    unsigned long sum;     /* rank 0: CRC-32 of the field that the solve was asked to begin from */
    const double *history; /* rank 0: of the checks so far */
    int told;              /* an exit code whose words are printed */
    wfi_checkpoint before; /* what is gone on from */
    wf_mpi_laplace_state state;
} wfi_laplace_keep;

/* Moves rows between rank 0, which has the whole field, and the others. Collective. */
void wfi_laplace_scatter(const wfi_laplace_keep *keep, const void *whole, void *own);
void wfi_laplace_gather(const wfi_laplace_keep *keep, const void *own, void *whole);

/* A wf_mpi_laplace_keep_fn: rank 0 writes what all have. */
bool wfi_laplace_keep_state(void *user, const wf_mpi_laplace_state *state);
/* Reads a checkpoint of the same problem: rank 0's `whole` gets its field, history (rank 0) what is
 * known, and `state` its scalars. The exit code is the same on all ranks, and an error is told.
 * Collective. */
int wfi_laplace_keep_read(wfi_laplace_keep *keep, const char *path, void *whole, double *history);

#endif
