/* Iterations of a Himeno grid on many ranks, and its gosa. */
#include <stdlib.h>
#include <string.h>

#include "himeno.h"

/* ----------------------------------------------------------------------------------------- gosa */

/* Work-groups of a rank along an axis. */
static uint32_t groups_of(const wf_mpi_himeno *h, int rank, int axis)
{
    uint32_t begin[3], end[3];
    wfi_blocks_span(&h->blocks, rank, begin, end);
    return (end[axis] - begin[axis] + h->choice.group[axis] - 1) / h->choice.group[axis];
}

/* A row of work-groups' partial sums, of all ranks beside each other along i, is moved to `to`. */
static void move_row(const wf_mpi_himeno *h, const float *all, const int *offsets, int first,
                     uint32_t row, uint32_t each, float **to)
{
    for (int r = first; r < first + h->blocks.count[0]; r++) {
        const uint32_t length = groups_of(h, r, 0) * each;
        memcpy(*to, all + offsets[r] + (uint64_t)row * length, length * sizeof *all);
        *to += length;
    }
}

/* Whether each rank has as many from each of its work-groups, `*each`. A device whose bindings are
 * too small for the planes of a rank cuts them elsewhere. */
static bool is_regular(const wf_mpi_himeno *h, const int *counts, uint32_t *each)
{
    for (int r = 0; r < h->ranks.count; r++) {
        const uint32_t groups = groups_of(h, r, 0) * groups_of(h, r, 1) * groups_of(h, r, 2);
        if (r == h->root)
            *each = (uint32_t)counts[r] / groups;
        if ((uint32_t)counts[r] != groups * *each)
            return false;
    }
    return true;
}

/* Sorts the partial sums by the places of work-groups in the whole grid. */
static void sort(const wf_mpi_himeno *h, const float *all, const int *offsets, uint32_t each,
                 float *sorted)
{
    const int *blocks = h->blocks.count;
    for (int k = 0; k < blocks[2]; k++) {
        const int lowest = k * blocks[1] * blocks[0];
        const uint32_t layers = groups_of(h, lowest, 2);
        for (uint32_t layer = 0; layer < layers; layer++)
            for (int j = 0; j < blocks[1]; j++) {
                const int first = lowest + j * blocks[0];
                const uint32_t rows = groups_of(h, first, 1);
                for (uint32_t row = 0; row < rows; row++)
                    move_row(h, all, offsets, first, layer * rows + row, each, &sorted);
            }
    }
}

/* All ranks' partial sums as one device has them, on h->root; NULL elsewhere. */
static float *gather(const wf_mpi_himeno *h, const float *own, uint32_t count, int *total)
{
    const bool in_order = wfi_blocks_are_slabs(&h->blocks);
    const bool here = h->ranks.rank == h->root;
    int mine = (int)count, *counts = calloc(2 * (size_t)h->ranks.count, sizeof *counts);
    float *all = NULL;
    const wf_result ready =
        wfi_ranks_agree(&h->ranks, counts ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY);
    if (!counts || ready != WF_SUCCESS) {
        free(counts);
        return NULL;
    }
    int *offsets = counts + h->ranks.count;
    MPI_Gather(&mine, 1, MPI_INT, counts, 1, MPI_INT, h->root, h->ranks.comm);
    *total = 0;
    for (int r = 0; here && r < h->ranks.count; r++) {
        offsets[r] = *total;
        *total += counts[r];
    }
    if (here)
        all = malloc((in_order ? 1 : 2) * (size_t)*total * sizeof *all + 1);
    int ok = !here || all;
    MPI_Bcast(&ok, 1, MPI_INT, h->root, h->ranks.comm);
    if (ok)
        MPI_Gatherv(own, mine, MPI_FLOAT, all, counts, offsets, MPI_FLOAT, h->root, h->ranks.comm);
    uint32_t each = 1;
    if (ok && here && !in_order && is_regular(h, counts, &each)) {
        sort(h, all, offsets, each, all + *total);
        memcpy(all, all + *total, (size_t)*total * sizeof *all);
    }
    free(counts);
    return all;
}

/* Adds the partial sums up as one device does. */
static wf_result add_gosa(wf_mpi_himeno *h, float *gosa)
{
    const bool here = h->ranks.rank == h->root;
    uint32_t count = 0;
    float *own = NULL, *all = NULL, sum = 0;
    wf_result result = h->himeno ? wf_himeno_partials(h->himeno, NULL, &count) : WF_SUCCESS;
    own = malloc(count * sizeof *own + 1);
    if (!own)
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS && h->himeno)
        result = wf_himeno_partials(h->himeno, own, &count);
    result = wfi_ranks_agree(&h->ranks, result);
    if (result == WF_SUCCESS) {
        int total = 0;
        all = gather(h, own, count, &total);
        if (here)
            result = all ? wf_himeno_gosa(h->device, all, (uint32_t)total, &sum)
                         : WF_ERROR_OUT_OF_HOST_MEMORY;
        MPI_Bcast(&sum, 1, MPI_FLOAT, h->root, h->ranks.comm);
        result = wfi_ranks_agree(&h->ranks, result);
    }
    if (result == WF_SUCCESS && gosa)
        *gosa = sum;
    free(all);
    free(own);
    return result;
}

wf_result wf_mpi_himeno_run(wf_mpi_himeno *h, uint32_t iterations, float *gosa, double *seconds,
                            wf_mpi_times *times)
{
    wf_mpi_times spent = {.size = sizeof spent, .trace = times ? times->trace : NULL};
    if (!h || h->failed || iterations == 0 || (times && times->size != sizeof *times))
        return WF_ERROR_INVALID_ARGUMENT;
    MPI_Barrier(h->ranks.comm);
    const double start = MPI_Wtime();
    wf_result result = wfi_ranks_agree(
        &h->ranks, wfi_slabs_run(&h->slabs, iterations, h->choice.steps, true, &spent));
    double elapsed = MPI_Wtime() - start, slowest = 0;
    if (result == WF_SUCCESS)
        result = add_gosa(h, gosa);
    spent.reduction = MPI_Wtime() - start - elapsed;
    h->failed = result != WF_SUCCESS;
    if (h->failed)
        return result;
    elapsed = MPI_Wtime() - start;
    MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, h->ranks.comm);
    if (seconds)
        *seconds = slowest;
    if (times)
        *times = spent;
    return WF_SUCCESS;
}
