/* Iterations of a Himeno grid on many ranks, and its gosa. */
#include <stdlib.h>

#include "himeno.h"

/* ----------------------------------------------------------------------------------------- gosa */

/* All ranks' partial sums, one rank's behind the other's, on h->root; NULL elsewhere. */
static float *gather(const wf_mpi_himeno *h, const float *own, uint32_t count, int *total)
{
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
        all = malloc((size_t)*total * sizeof *all + 1);
    int ok = !here || all;
    MPI_Bcast(&ok, 1, MPI_INT, h->root, h->ranks.comm);
    if (ok)
        MPI_Gatherv(own, mine, MPI_FLOAT, all, counts, offsets, MPI_FLOAT, h->root, h->ranks.comm);
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
