/* The tool under MPI: its other form, wavefit-mpi, which is linked with MPI's library. This one is
 * not, so that it runs where there is none; and a library that is loaded at run time would have a
 * second copy of wavefit in it, and hide MPI's symbols from its own plugins. */
#ifndef WFI_TOOL_CLI_RANKS_H
#define WFI_TOOL_CLI_RANKS_H

/* Where mpirun or the like started this process and the command is one that ranks share, becomes
 * wavefit-mpi, which is beside it. Returns WFI_EXIT_DONE where it is not so, else the exit code
 * after saying why that failed. */
int wfi_ranks_take_over(char **argv);

#endif
