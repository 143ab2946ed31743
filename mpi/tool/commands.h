/* The commands of wavefit-mpi; each gets the whole argv and returns the exit code. */
#ifndef WFI_MPI_TOOL_COMMANDS_H
#define WFI_MPI_TOOL_COMMANDS_H

#include "ranks.h"

int wfi_mpi_cg(wfi_rank *rank, int argc, char **argv);
int wfi_mpi_himeno(wfi_rank *rank, int argc, char **argv);
int wfi_mpi_laplace(wfi_rank *rank, int argc, char **argv);
int wfi_mpi_spmv(wfi_rank *rank, int argc, char **argv);
int wfi_mpi_stencil(wfi_rank *rank, int argc, char **argv);

#endif
