/* Iterations of a Himeno grid on many ranks: passes of each rank's planes, the boundary ones first,
 * which are exchanged while the others are updated. */
#include <stdlib.h>

#include "himeno.h"

/* A plane that goes up and one that goes down. */
enum { UP_TAG, DOWN_TAG };

/* ---------------------------------------------------------------------------------------- halos */

/* Bytes of a message with planes: where these are in shared memory, it says that they are there. */
static int message_bytes(const wf_mpi_himeno *h, int side)
{
    return h->shared.with[side] ? 1 : (int)h->halo.bytes;
}

/* MPI takes no NULL, not even for the neighbour that there is none of. */
static void receive(const wf_mpi_himeno *h, int side, void *planes, int tag, MPI_Request *request)
{
    static char nothing;
    const int from = side == WFI_LOWER ? h->lower : h->upper;
    MPI_Irecv(planes ? planes : &nothing, planes ? message_bytes(h, side) : 0, MPI_BYTE, from, tag,
              h->ranks.comm, request);
}

static void send(const wf_mpi_himeno *h, int side, const void *planes, bool whole, int tag,
                 MPI_Request *request)
{
    static const char nothing;
    const int to = side == WFI_LOWER ? h->lower : h->upper;
    MPI_Isend(planes ? planes : &nothing, planes && whole ? message_bytes(h, side) : 0, MPI_BYTE,
              to, tag, h->ranks.comm, request);
}

/* Sends this rank's boundary planes to the neighbours that are still there and receives theirs. A
 * rank that stops sends a message without a plane in place of each: a neighbour that gets one stops
 * too, WF_NOT_READY, and tells its other neighbour in the next exchange, so that nobody waits for a
 * rank that has left. */
static wf_result exchange(wf_mpi_himeno *h, wf_result own)
{
    const bool whole = own == WF_SUCCESS;
    int *const neighbours[] = {&h->lower, &h->upper};
    MPI_Request requests[4];
    MPI_Status statuses[4];
    receive(h, WFI_LOWER, h->halo.from_lower, UP_TAG, &requests[0]);
    receive(h, WFI_UPPER, h->halo.from_upper, DOWN_TAG, &requests[1]);
    send(h, WFI_LOWER, h->halo.to_lower, whole, DOWN_TAG, &requests[2]);
    send(h, WFI_UPPER, h->halo.to_upper, whole, UP_TAG, &requests[3]);
    MPI_Waitall(4, requests, statuses);
    bool gone = false;
    for (int side = 0; side < WFI_SIDES; side++) {
        int got = 0;
        MPI_Get_count(&statuses[side], MPI_BYTE, &got);
        if (*neighbours[side] == MPI_PROC_NULL || got == message_bytes(h, side))
            continue;
        gone = true;
        *neighbours[side] = MPI_PROC_NULL;
    }
    h->arrived = true;
    return own != WF_SUCCESS ? own : gone ? WF_NOT_READY : WF_SUCCESS;
}

/* --------------------------------------------------------------------------------------- passes */

/* Which memory the next pass leaves planes in and takes the neighbours' from. */
static wf_result bind_halos(wf_mpi_himeno *h)
{
    wfi_shared_turn(&h->shared);
    const wf_himeno_halo_bindings halos = {.size = sizeof halos,
                                           .to_lower = wfi_shared_to(&h->shared, WFI_LOWER),
                                           .to_upper = wfi_shared_to(&h->shared, WFI_UPPER),
                                           .from_lower = wfi_shared_from(&h->shared, WFI_LOWER),
                                           .from_upper = wfi_shared_from(&h->shared, WFI_UPPER)};
    return wf_himeno_bind_halos(h->himeno, &halos);
}

/* Passes that follow each other. */
typedef struct chain {
    wf_mpi_times *times;
    bool under_way; /* a pass */
    double came;    /* when the neighbours' planes of the pass before had come, or when it began */
} chain;

/* The pass under way has ended, `seconds` of it the device at work. */
static void note_end(chain *c, double seconds, double end)
{
    wfi_trace(c->times, WF_MPI_STAGE_DEVICE, end - seconds, end);
    c->times->inside += seconds;
    c->under_way = false;
}

/* Begins a pass, behind the one under way if there is one, and exchanges its planes. Where none is
 * under way afterwards, this rank's neighbours know of its failure. */
static wf_result pass(wf_mpi_himeno *h, uint32_t iterations, chain *c)
{
    double inside = 0;
    wf_result result = bind_halos(h);
    if (result == WF_SUCCESS)
        result = c->under_way ? wf_himeno_pass_next(h->himeno, iterations, h->arrived, &inside)
                              : wf_himeno_pass_begin(h->himeno, iterations, h->arrived);
    const double sent = MPI_Wtime();
    if (c->under_way) {
        /* The device goes from one to the other, and so does the host. */
        wfi_trace(c->times, WF_MPI_STAGE_INSIDE, c->came, c->came);
        note_end(c, inside, sent);
    }
    c->under_way = result == WF_SUCCESS;
    result = exchange(h, result);
    const double came = MPI_Wtime();
    wfi_trace_next(c->times);
    wfi_trace(c->times, WF_MPI_STAGE_HALO, c->came, sent);
    wfi_trace(c->times, WF_MPI_STAGE_WAIT, sent, came);
    c->times->wait += came - sent;
    c->came = came;
    return result;
}

static wf_result end_passes(wf_mpi_himeno *h, chain *c)
{
    double inside = 0;
    if (!c->under_way)
        return WF_SUCCESS;
    const wf_result result = wf_himeno_pass_end(h->himeno, &inside);
    const double end = MPI_Wtime();
    wfi_trace(c->times, WF_MPI_STAGE_INSIDE, c->came, end);
    note_end(c, inside, end);
    return result;
}

static wf_result run_passes(wf_mpi_himeno *h, uint32_t iterations, wf_mpi_times *times)
{
    const double start = MPI_Wtime();
    chain c = {.times = times, .came = start};
    wf_result result = WF_SUCCESS;
    bool told = false;
    while (iterations > 0 && result == WF_SUCCESS && h->himeno) {
        const uint32_t steps = iterations >= h->choice.steps ? h->choice.steps : 1;
        result = pass(h, steps, &c);
        told = !c.under_way;
        iterations -= steps;
    }
    const wf_result ended = end_passes(h, &c);
    if (ended != WF_SUCCESS)
        result = ended;
    const double all = MPI_Wtime() - start;
    times->halo += all > times->inside ? all - times->inside : 0;
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
