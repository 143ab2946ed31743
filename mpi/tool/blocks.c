#include "blocks.h"

#include <stdio.h>
#include <string.h>

int wfi_blocks_parse(const wfi_rank *rank, const char *command, const char *text,
                     uint32_t blocks[3])
{
    uint64_t count[3] = {0};
    memset(blocks, 0, 3 * sizeof *blocks);
    if (text && strcmp(text, "auto") == 0) {
        blocks[0] = WF_MPI_BLOCKS_AUTO;
        return WFI_EXIT_DONE;
    }
    if (!text)
        return WFI_EXIT_DONE;
    if (!wfi_parse_triple("--blocks", text, INT32_MAX, count))
        return WFI_EXIT_USAGE;
    const double all = (double)count[0] * (double)count[1] * (double)count[2];
    if (all < rank->count || all > rank->count)
        return wfi_usage_error("%s: --blocks %s are not one for each of %d ranks", command, text,
                               rank->count);
    for (int axis = 0; axis < 3; axis++)
        blocks[axis] = (uint32_t)count[axis];
    return WFI_EXIT_DONE;
}

static bool are_slabs(const wf_mpi_part *part)
{
    return part->blocks[0] == 1 && part->blocks[1] == 1;
}

void wfi_blocks_collect(wfi_rank *rank, const wf_mpi_part *part, const wf_mpi_times *times,
                        double iterations, wfi_result_case *out)
{
    const uint64_t cells = (uint64_t)part->cells[0] * part->cells[1] * part->cells[2];
    memcpy(out->blocks, part->blocks, sizeof out->blocks);
    if (are_slabs(part))
        wfi_rank_collect(rank, "planes", part->first[2], part->cells[2], times, iterations, out);
    else
        wfi_rank_collect(rank, "cells", 0, cells, times, iterations, out);
}

void wfi_blocks_print(const wf_mpi_part *part, const uint32_t given[3])
{
    const char *by = given[0] == WF_MPI_BLOCKS_AUTO ? " (auto)" : "";
    if (!are_slabs(part))
        printf("blocks    %u x %u x %u%s, the first of %u x %u x %u cells\n", part->blocks[0],
               part->blocks[1], part->blocks[2], by, part->cells[0], part->cells[1],
               part->cells[2]);
    else if (part->blocks[2] > 1)
        printf("slabs     %u%s\n", part->blocks[2], by);
}
