/* Checkpoints of a stencil's grid on many ranks. */
#ifndef WFI_MPI_TOOL_STENCIL_KEEP_H
#define WFI_MPI_TOOL_STENCIL_KEEP_H

#include "checkpoints.h"
#include "tool/cases/cases.h"

/* Writes what the grid (rank 0: all its cells) came to after so many steps. The exit code is the
 * same on all ranks, and an error is told. Collective. */
int wfi_stencil_keep(const wfi_rank *rank, wfi_checkpoints *c, const wfi_stencil_request *request,
                     const wf_plan_info *info, uint32_t steps, const void *grid);

/* Reads a checkpoint: all of the request but its steps, and the variant, constants and seed of the
 * rank's options, are those of the run that wrote it. *steps: how many it had made. Collective. */
int wfi_stencil_keep_read(wfi_rank *rank, const char *path, wfi_checkpoint *out,
                          wfi_stencil_request *request, uint32_t *steps);

#endif
