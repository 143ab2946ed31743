/* Checkpoints of a Himeno grid on many ranks. */
#ifndef WFI_MPI_TOOL_HIMENO_KEEP_H
#define WFI_MPI_TOOL_HIMENO_KEEP_H

#include "checkpoints.h"

/* Iterations of a pass: counts that are multiples of it are made by the same passes however they
 * are cut. */
wf_result wfi_himeno_unit(const wf_mpi_himeno *himeno, uint32_t *unit);

typedef struct wfi_himeno_state {
    uint32_t extent[3]; /* ni, nj, nk */
    uint32_t iterations;
    float gosa;
    float *p; /* rank 0: room for all cells */
} wfi_himeno_state;

/* Writes what the grid came to. The exit code is the same on all ranks, and an error is told.
 * Collective. */
int wfi_himeno_keep(wfi_rank *rank, wfi_checkpoints *c, wf_mpi_himeno *himeno,
                    const wfi_himeno_state *state);

/* Reads a checkpoint: the grid's extents, iterations and gosa go to `state`, and variant and
 * constants to the rank's options, as if they had been asked for. Extents that are set before must
 * be the same. Collective. */
int wfi_himeno_keep_read(wfi_rank *rank, const char *path, wfi_checkpoint *out,
                         wfi_himeno_state *state);
/* Sets the grid, behind its start values. Collective. */
wf_result wfi_himeno_resume(const wfi_checkpoint *c, wf_mpi_himeno *himeno);

#endif
