/* --blocks: how a grid is cut. */
#ifndef WFI_MPI_TOOL_BLOCKS_H
#define WFI_MPI_TOOL_BLOCKS_H

#include "ranks.h"

#define WFI_BLOCKS_OPTION(text)                                                                    \
    {                                                                                              \
        "--blocks", "IxJxK|auto", text, NULL,                                                      \
            "cut the grid along several axes, a block for each rank; 1x1xRANKS: slabs; auto: "     \
            "what a model says is fastest (default: of himeno auto, but slabs with weights; of "   \
            "stencil slabs)"                                                                       \
    }

/* Where rank 0 alone parses for all, it says what is wrong. text NULL: slabs. */
int wfi_blocks_parse(const wfi_rank *rank, const char *command, const char *text,
                     uint32_t blocks[3]);
/* Collects what ranks had of a grid and of the time: planes of slabs, or cells of blocks. */
void wfi_blocks_collect(wfi_rank *rank, const wf_mpi_part *part, const wf_mpi_times *times,
                        double iterations, wfi_result_case *out);
/* given: what --blocks was parsed to. */
void wfi_blocks_print(const wf_mpi_part *part, const uint32_t given[3]);

#endif
