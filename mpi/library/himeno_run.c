/* Iterations of a Himeno grid on many ranks: passes of each rank's planes, the boundary ones first,
 * which are exchanged while the others are updated. */
#include <stdlib.h>

#include "himeno.h"

/* A plane that goes up and one that goes down. */
enum { UP_TAG, DOWN_TAG };

/* ---------------------------------------------------------------------------------------- halos */

/* MPI takes no NULL, not even for the neighbour that there is none of. */
static void receive(const wf_mpi_himeno *h, void *planes, int from, int tag, MPI_Request *request)
{
    static char nothing;
    MPI_Irecv(planes ? planes : &nothing, planes ? (int)h->halo.bytes : 0, MPI_BYTE, from, tag,
              h->ranks.comm, request);
}

static void send(const wf_mpi_himeno *h, const void *planes, int count, int to, int tag,
                 MPI_Request *request)
{
    static const char nothing;
    MPI_Isend(planes ? planes : &nothing, planes ? count : 0, MPI_BYTE, to, tag, h->ranks.comm,
              request);
}

/* Sends this rank's boundary planes to the neighbours that are still there and receives theirs. A
 * rank that stops sends a message without a plane in place of each: a neighbour that gets one stops
 * too, WF_NOT_READY, and tells its other neighbour in the next exchange, so that nobody waits for a
 * rank that has left. */
static wf_result exchange(wf_mpi_himeno *h, wf_result own)
{
    const int count = own == WF_SUCCESS ? (int)h->halo.bytes : 0;
    const int from[] = {h->lower, h->upper};
    MPI_Request requests[4];
    MPI_Status statuses[4];
    receive(h, h->halo.from_lower, h->lower, UP_TAG, &requests[0]);
    receive(h, h->halo.from_upper, h->upper, DOWN_TAG, &requests[1]);
    send(h, h->halo.to_lower, count, h->lower, DOWN_TAG, &requests[2]);
    send(h, h->halo.to_upper, count, h->upper, UP_TAG, &requests[3]);
    MPI_Waitall(4, requests, statuses);
    bool gone = false;
    for (int side = 0; side < 2; side++) {
        int got = 0;
        MPI_Get_count(&statuses[side], MPI_BYTE, &got);
        if (from[side] == MPI_PROC_NULL || got == (int)h->halo.bytes)
            continue;
        gone = true;
        if (side == 0)
            h->lower = MPI_PROC_NULL;
        else
            h->upper = MPI_PROC_NULL;
    }
    h->arrived = true;
    return own != WF_SUCCESS ? own : gone ? WF_NOT_READY : WF_SUCCESS;
}

/* --------------------------------------------------------------------------------------- passes */

/* *told: this rank's neighbours know of its failure. */
static wf_result pass(wf_mpi_himeno *h, uint32_t iterations, wf_mpi_times *times, bool *told)
{
    const double start = MPI_Wtime();
    double inside = 0;
    wfi_trace_next(times);
    const wf_result begun = wf_himeno_pass_begin(h->himeno, iterations, h->arrived);
    const double sent = MPI_Wtime();
    const wf_result exchanged = exchange(h, begun);
    const double came = MPI_Wtime();
    *told = begun != WF_SUCCESS;
    if (begun != WF_SUCCESS)
        return begun;
    const wf_result ended = wf_himeno_pass_end(h->himeno, &inside);
    const double end = MPI_Wtime(), all = end - start;
    wfi_trace(times, WF_MPI_STAGE_HALO, start, sent);
    wfi_trace(times, WF_MPI_STAGE_WAIT, sent, came);
    wfi_trace(times, WF_MPI_STAGE_INSIDE, came, end);
    wfi_trace(times, WF_MPI_STAGE_DEVICE, end - inside, end);
    times->inside += inside;
    times->wait += came - sent;
    times->halo += all > inside ? all - inside : 0;
    return ended != WF_SUCCESS ? ended : exchanged;
}

static wf_result run_passes(wf_mpi_himeno *h, uint32_t iterations, wf_mpi_times *times)
{
    wf_result result = WF_SUCCESS;
    bool told = false;
    while (iterations > 0 && result == WF_SUCCESS && h->himeno) {
        const uint32_t steps = iterations >= h->choice.steps ? h->choice.steps : 1;
        result = pass(h, steps, times, &told);
        iterations -= steps;
    }
    /* Passes are counted alike on all ranks: where more are to come, neighbours wait for this rank
     * in the next exchange. */
    if (result != WF_SUCCESS && !told && iterations > 0)
        exchange(h, result);
    return result;
}

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
    wf_result result = wfi_ranks_agree(&h->ranks, run_passes(h, iterations, &spent));
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
