/* Shares of a Himeno grid by measured speed. */
#ifndef WFI_MPI_TOOL_BALANCE_H
#define WFI_MPI_TOOL_BALANCE_H

#include "ranks.h"

/* Relaxes the grid for a few iterations, cut as params say, and sets one weight a rank: how fast
 * its device was, 1 on the average. Collective. */
wf_result wfi_mpi_balance(const wfi_rank *rank, const wf_mpi_himeno_params *params,
                          double *weights);
/* A line of the table's kind. */
void wfi_mpi_balance_print(const wfi_rank *rank, const double *weights);

#endif
