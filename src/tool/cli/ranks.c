#include "tool/cli/ranks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/cli/options.h"
#include "tool/cli/process.h"

/* What Open MPI, MPICH and its kin, and Slurm with PMIx tell a process that they start. */
static bool is_under_mpi(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
    bool found = false;
    for (size_t i = 0; i < WFI_COUNT(names); i++)
        found |= getenv(names[i]) != NULL;
    return found;
}

static bool is_shared(const char *command)
{
    static const char *const commands[] = {"cg", "himeno", "laplace", "spmv", "stencil"};
    bool found = false;
    for (size_t i = 0; i < WFI_COUNT(commands); i++)
        found |= strcmp(command, commands[i]) == 0;
    return found;
}

int wfi_ranks_take_over(char **argv)
{
    if (!argv[0] || !argv[1] || !is_shared(argv[1]) || !is_under_mpi())
        return WFI_EXIT_DONE;
    wfi_process_become("wavefit-mpi", argv);
    return wfi_run_error("MPI has started this program, and wavefit-mpi is not beside it: it is "
                         "built where CMake finds MPI (docs/mpi.md)");
}
