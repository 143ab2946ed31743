/* wavefit-mpi: the commands that ranks of MPI share. `wavefit` becomes this program where MPI has
 * started it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "core/arithmetic.h"
#include "tool/cli/console.h"

static const struct {
    const char *name;
    int (*run)(wfi_rank *rank, int argc, char **argv);
} commands[] = {{"cg", wfi_mpi_cg},
                {"himeno", wfi_mpi_himeno},
                {"laplace", wfi_mpi_laplace},
                {"spmv", wfi_mpi_spmv},
                {"stencil", wfi_mpi_stencil}};

static int run(wfi_rank *rank, int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < WFI_COUNT(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(rank, argc, argv);
    return rank->prints
               ? wfi_usage_error(
                     "usage: mpirun -n RANKS wavefit cg|himeno|laplace|spmv|stencil [OPTIONS]")
               : WFI_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    static wfi_rank rank;
    int threads = 0;
    wfi_console_start(&argc, &argv);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &threads);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rank.count);
    rank.prints = rank.rank == 0;
    char **split = wfi_options_split(&argc, &argv);
    int code = run(&rank, argc, argv);
    const bool lost = fflush(stdout) != 0 || ferror(stdout);
    if (lost && !wfi_console_reader_is_gone() && code == WFI_EXIT_DONE)
        code = wfi_run_error("standard output cannot be written");
    MPI_Finalize();
    free(split);
    return code;
}
