#include "slabs.h"

#include <limits.h>

/* And the sender's side. */
enum { HALO_TAG = 32, SIZE_TAG = 10 };

/* -------------------------------------------------------------------------------------- opening */

static uint32_t planes_of(const uint32_t *first, int rank)
{
    return first[rank + 1] - first[rank];
}

static int find_next(const wfi_ranks *ranks, const uint32_t *first, int step, bool around)
{
    for (int n = 1; n < ranks->count; n++) {
        const int r = ranks->rank + n * step, wrapped = (r + ranks->count) % ranks->count;
        if ((around || r == wrapped) && planes_of(first, wrapped) > 0)
            return wrapped;
    }
    return MPI_PROC_NULL;
}

static void begin(wfi_slabs *s, const wfi_ranks *ranks)
{
    s->ranks = ranks;
    s->shared.pages.host = MPI_COMM_NULL;
    s->halo.size = sizeof s->halo;
    for (int side = 0; side < WF_HALO_SIDES; side++)
        s->neighbours[side] = MPI_PROC_NULL;
}

void wfi_slabs_find(wfi_slabs *s, const wfi_ranks *ranks, const uint32_t *first, bool around)
{
    begin(s, ranks);
    if (planes_of(first, ranks->rank) == 0)
        return;
    s->neighbours[WFI_LOWER] = find_next(ranks, first, -1, around);
    s->neighbours[WFI_UPPER] = find_next(ranks, first, 1, around);
}

void wfi_slabs_find_around(wfi_slabs *s, const wfi_ranks *ranks, const wfi_blocks *blocks,
                           bool around)
{
    begin(s, ranks);
    if (!wfi_blocks_has_cells(blocks, ranks->rank))
        return;
    for (int side = 0; side < WF_HALO_SIDES; side++)
        s->neighbours[side] = wfi_blocks_neighbour(blocks, ranks->rank, side, around);
}

/* Messages must have one size on both sides, and MPI's counts must hold it. */
static wf_result compare(const wfi_slabs *s)
{
    wf_result result = WF_SUCCESS;
    for (int side = 0; side < WF_HALO_SIDES; side++) {
        const int to = s->neighbours[side], from = s->neighbours[side ^ 1];
        uint64_t own = s->halo.bytes[side], theirs = 0;
        MPI_Sendrecv(&own, 1, MPI_UINT64_T, to, SIZE_TAG, &theirs, 1, MPI_UINT64_T, from, SIZE_TAG,
                     s->ranks->comm, MPI_STATUS_IGNORE);
        own = s->halo.bytes[side ^ 1];
        if (own > INT_MAX)
            result = wfi_ranks_fail(s->ranks, WF_ERROR_TOO_LARGE,
                                    "a halo of %llu bytes is over the %d of a message",
                                    (unsigned long long)own, INT_MAX);
        else if (from != MPI_PROC_NULL && own != theirs)
            result = wfi_ranks_fail(s->ranks, WF_ERROR_UNSUPPORTED,
                                    "a halo has %llu bytes on this device and %llu on another",
                                    (unsigned long long)own, (unsigned long long)theirs);
    }
    return wfi_ranks_agree(s->ranks, result);
}

wf_result wfi_slabs_open(wfi_slabs *s, wf_device *device)
{
    const wf_result result = compare(s);
    if (result == WF_SUCCESS)
        wfi_shared_open(s->ranks, device, s->neighbours, s->halo.bytes, &s->shared);
    return result;
}

uint32_t wfi_slabs_shared(const wfi_slabs *s)
{
    uint32_t count = 0;
    for (int side = 0; side < WF_HALO_SIDES; side++)
        count += s->shared.with[side];
    return count;
}

void wfi_slabs_close(wfi_slabs *s)
{
    if (s->ranks)
        wfi_shared_close(&s->shared);
}

/* ---------------------------------------------------------------------------------------- halos */

/* Bytes of a message with cells: where these are in shared memory, it says that they are there. */
static int message_bytes(const wfi_slabs *s, int side)
{
    return s->shared.with[side] ? 1 : (int)s->halo.bytes[side];
}

/* The neighbour sends from the opposite side. */
static void receive(const wfi_slabs *s, int side, MPI_Request *request)
{
    MPI_Irecv(s->halo.from[side], message_bytes(s, side), MPI_BYTE, s->neighbours[side],
              HALO_TAG + (side ^ 1), s->ranks->comm, request);
}

static void send(const wfi_slabs *s, int side, bool whole, MPI_Request *request)
{
    MPI_Isend(s->halo.to[side], whole ? message_bytes(s, side) : 0, MPI_BYTE, s->neighbours[side],
              HALO_TAG + side, s->ranks->comm, request);
}

wf_result wfi_slabs_exchange(wfi_slabs *s, wf_result own)
{
    MPI_Request requests[2 * WF_HALO_SIDES];
    MPI_Status statuses[2 * WF_HALO_SIDES];
    int sides[WF_HALO_SIDES], count = 0;
    for (int side = 0; side < WF_HALO_SIDES; side++)
        if (s->neighbours[side] != MPI_PROC_NULL)
            sides[count++] = side;
    for (int n = 0; n < count; n++)
        receive(s, sides[n], &requests[n]);
    for (int n = 0; n < count; n++)
        send(s, sides[n], own == WF_SUCCESS, &requests[count + n]);
    MPI_Waitall(2 * count, requests, statuses);
    bool gone = false;
    for (int n = 0; n < count; n++) {
        int got = 0;
        MPI_Get_count(&statuses[n], MPI_BYTE, &got);
        if (got == message_bytes(s, sides[n]))
            continue;
        gone = true;
        s->neighbours[sides[n]] = MPI_PROC_NULL;
    }
    s->arrived = true;
    return own != WF_SUCCESS ? own : gone ? WF_NOT_READY : WF_SUCCESS;
}

/* --------------------------------------------------------------------------------------- passes */

wf_result wfi_slabs_bind(wfi_slabs *s)
{
    wfi_shared_turn(&s->shared);
    wf_halo_bindings halos = {.size = sizeof halos};
    for (int side = 0; side < WF_HALO_SIDES; side++) {
        halos.to[side] = wfi_shared_to(&s->shared, side);
        halos.from[side] = wfi_shared_from(&s->shared, side);
    }
    return s->functions->bind(s->part, &halos);
}

wf_result wfi_slabs_bind_arrived(wfi_slabs *s)
{
    const wf_result result = wfi_slabs_bind(s);
    wfi_shared_turn(&s->shared); /* the next exchange is the one that it would have been */
    return result;
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
static wf_result pass(wfi_slabs *s, uint32_t steps, chain *c)
{
    double inside = 0;
    wf_result result = wfi_slabs_bind(s);
    if (result == WF_SUCCESS)
        result = c->under_way ? s->functions->next(s->part, steps, s->arrived, &inside)
                              : s->functions->begin(s->part, steps, s->arrived);
    const double sent = MPI_Wtime();
    if (c->under_way) {
        /* The device goes from one to the other, and so does the host. */
        wfi_trace(c->times, WF_MPI_STAGE_INSIDE, c->came, c->came);
        note_end(c, inside, sent);
    }
    c->under_way = result == WF_SUCCESS;
    result = wfi_slabs_exchange(s, result);
    const double came = MPI_Wtime();
    wfi_trace_next(c->times);
    wfi_trace(c->times, WF_MPI_STAGE_HALO, c->came, sent);
    wfi_trace(c->times, WF_MPI_STAGE_WAIT, sent, came);
    c->times->wait += came - sent;
    c->came = came;
    return result;
}

static wf_result end_passes(wfi_slabs *s, chain *c)
{
    double inside = 0;
    if (!c->under_way)
        return WF_SUCCESS;
    const wf_result result = s->functions->end(s->part, &inside);
    const double end = MPI_Wtime();
    wfi_trace(c->times, WF_MPI_STAGE_INSIDE, c->came, end);
    note_end(c, inside, end);
    return result;
}

wf_result wfi_slabs_run(wfi_slabs *s, uint32_t count, uint32_t most, bool ones, wf_mpi_times *times)
{
    const double start = MPI_Wtime();
    chain c = {.times = times, .came = start};
    wf_result result = WF_SUCCESS;
    bool told = false;
    while (count > 0 && result == WF_SUCCESS && s->part) {
        const uint32_t steps = count >= most ? most : ones ? 1 : count;
        result = pass(s, steps, &c);
        told = !c.under_way;
        count -= steps;
    }
    const wf_result ended = end_passes(s, &c);
    if (ended != WF_SUCCESS)
        result = ended;
    const double all = MPI_Wtime() - start;
    times->halo += all > times->inside ? all - times->inside : 0;
    /* Passes are counted alike on all ranks: where more are to come, neighbours wait for this rank
     * in the next exchange. */
    if (result != WF_SUCCESS && !told && count > 0)
        wfi_slabs_exchange(s, result);
    return result;
}
