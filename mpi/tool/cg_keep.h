/* Checkpoints of conjugate gradients on many ranks. */
#ifndef WFI_MPI_TOOL_CG_KEEP_H
#define WFI_MPI_TOOL_CG_KEEP_H

#include "checkpoints.h"
#include "sparse.h"

typedef struct wfi_cg_keep {
    wfi_rank *rank;
    wfi_checkpoints checkpoints;
    const wfi_rank_matrix *matrix;
    wf_precondition precondition;
    const void *whole_b;                   /* rank 0 */
    unsigned long values_sum, columns_sum; /* rank 0: CRC-32 of the matrix's */
    const double *history;                 /* rank 0: of the iterations so far */
    int told;                              /* an exit code whose words are printed */
    wfi_checkpoint before;                 /* what is gone on from */
    wf_mpi_cg_state state;
    void *own[4]; /* its vectors */
} wfi_cg_keep;

/* Has the solve keep what it comes to, where --checkpoint asks for that. */
void wfi_cg_keep_ask(wfi_cg_keep *keep, wf_mpi_cg_params *params);
/* Reads a checkpoint of the same system, hands it out and has the solve go on from it. history
 * (rank 0) gets what is known. The exit code is the same on all ranks, and an error is told.
 * Collective. */
int wfi_cg_keep_read(wfi_cg_keep *keep, const char *path, wf_mpi_cg_params *params,
                     double *history);
void wfi_cg_keep_free(wfi_cg_keep *keep);

#endif
