#include "blocks.h"

#include <stdlib.h>

/* ----------------------------------------------------------------------------------------- cuts */

wf_result wfi_blocks_open(const wfi_ranks *ranks, const uint32_t count[3], wfi_blocks *b)
{
    const bool slabs = !count[0] && !count[1] && !count[2];
    const uint64_t all = (uint64_t)count[0] * count[1];
    *b = (wfi_blocks){.count = {1, 1, ranks->count}};
    for (int axis = 0; axis < 3 && !slabs; axis++)
        b->count[axis] = (int)count[axis];
    if (!slabs && (all > INT32_MAX || all * count[2] != (uint64_t)ranks->count))
        return wfi_ranks_fail(ranks, WF_ERROR_INVALID_ARGUMENT,
                              "%u x %u x %u blocks are not one for each of %d ranks", count[0],
                              count[1], count[2], ranks->count);
    bool there = true;
    for (int axis = 0; axis < 3; axis++) {
        b->first[axis] = calloc((size_t)b->count[axis] + 1, sizeof *b->first[axis]);
        there = there && b->first[axis];
    }
    return there ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
}

void wfi_blocks_close(wfi_blocks *b)
{
    for (int axis = 0; axis < 3; axis++)
        free(b->first[axis]);
}

bool wfi_blocks_are_slabs(const wfi_blocks *b)
{
    return b->count[0] == 1 && b->count[1] == 1;
}

wf_result wfi_blocks_divide(const wfi_ranks *ranks, wfi_blocks *b, int axis,
                            const wfi_blocks_axis *along, const double *weights)
{
    wfi_ranks parts = *ranks;
    parts.count = b->count[axis];
    return wfi_ranks_divide(&parts, along->cells, along->unit, along->least, weights,
                            b->first[axis]);
}

/* --------------------------------------------------------------------------------------- places */

void wfi_blocks_place(const wfi_blocks *b, int rank, int place[3])
{
    place[0] = rank % b->count[0];
    place[1] = rank / b->count[0] % b->count[1];
    place[2] = rank / b->count[0] / b->count[1];
}

static uint32_t cells_at(const wfi_blocks *b, int axis, int place)
{
    return b->first[axis][place + 1] - b->first[axis][place];
}

bool wfi_blocks_has_cells(const wfi_blocks *b, int rank)
{
    int place[3];
    wfi_blocks_place(b, rank, place);
    return cells_at(b, 0, place[0]) && cells_at(b, 1, place[1]) && cells_at(b, 2, place[2]);
}

void wfi_blocks_span(const wfi_blocks *b, int rank, uint32_t begin[3], uint32_t end[3])
{
    const bool here = wfi_blocks_has_cells(b, rank);
    int place[3];
    wfi_blocks_place(b, rank, place);
    for (int axis = 0; axis < 3; axis++) {
        begin[axis] = here ? b->first[axis][place[axis]] : 0;
        end[axis] = here ? b->first[axis][place[axis] + 1] : 0;
    }
}

/* The next part with cells along an axis; negative: the grid ends. */
static int next_along(const wfi_blocks *b, int axis, int place, int step, bool around)
{
    const int count = b->count[axis];
    for (int n = 1; n < count; n++) {
        const int at = place + n * step, wrapped = (at % count + count) % count;
        if (!around && at != wrapped)
            return -1;
        if (cells_at(b, axis, wrapped) > 0)
            return wrapped;
    }
    return -1;
}

int wfi_blocks_neighbour(const wfi_blocks *b, int rank, int side, bool around)
{
    int32_t direction[3];
    int place[3];
    wf_halo_direction((uint32_t)side, direction);
    wfi_blocks_place(b, rank, place);
    for (int axis = 0; axis < 3; axis++)
        if (direction[axis] != 0) {
            if (b->count[axis] == 1)
                return MPI_PROC_NULL;
            place[axis] = next_along(b, axis, place[axis], direction[axis], around);
            if (place[axis] < 0)
                return MPI_PROC_NULL;
        }
    return (place[2] * b->count[1] + place[1]) * b->count[0] + place[0];
}
