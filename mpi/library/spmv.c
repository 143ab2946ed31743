/* Products of a sparse matrix on many ranks: the device packs what others need, and multiplies the
 * inside while MPI exchanges it; then it takes what came and multiplies the boundary. */
#include "matrix.h"

enum { HALO_TAG = 4 };

/* The inside waits for halos as long as at most one in so many comes too late. */
#define WORTH 8

static MPI_Datatype element(const wf_mpi_matrix *m)
{
    return m->type == WF_TYPE_F64 ? MPI_DOUBLE : MPI_FLOAT;
}

/* How many elements a message from a peer has. Where they are read in its own memory, it says that
 * they are there. */
static int awaited(const wf_mpi_matrix *m, const wfi_peer *peer)
{
    return peer->reads ? 1 : m->received.counts[peer->rank];
}

static void receive(wf_mpi_matrix *m, wfi_peer *peer, MPI_Request *request)
{
    const size_t real = wf_type_size(m->type);
    void *to = &peer->token;
    if (!peer->reads && m->received.buffer)
        to = (unsigned char *)wf_buffer_mapped(m->received.buffer) + m->halo_at[peer->rank] * real;
    MPI_Irecv(to, awaited(m, peer), element(m), peer->rank, HALO_TAG, m->ranks.comm, request);
}

static void send(wf_mpi_matrix *m, wfi_peer *peer, bool whole, MPI_Request *request)
{
    static const uint64_t token;
    const size_t real = wf_type_size(m->type), offset = m->sent.offsets[peer->rank] * real;
    const int count = peer->read ? 1 : m->sent.counts[peer->rank];
    const void *from = &token;
    if (!peer->read && count && whole)
        from = wfi_mpi_packed_mapped(m) + offset;
    MPI_Isend(from, whole ? count : 0, element(m), peer->rank, HALO_TAG, m->ranks.comm, request);
}

/* Every peer gets a message and sends one. That of a rank that has failed has no elements. */
static void begin_exchange(wf_mpi_matrix *m, wf_result own)
{
    for (int n = 0; n < m->peer_count; n++) {
        receive(m, &m->peers[n], &m->requests[n]);
        send(m, &m->peers[n], own == WF_SUCCESS, &m->requests[m->peer_count + n]);
    }
}

/* Whoever gets a message without elements knows that the product is of no use, WF_NOT_READY. */
static wf_result end_exchange(wf_mpi_matrix *m, bool came, wf_result own)
{
    if (!came)
        MPI_Waitall(2 * m->peer_count, m->requests, m->statuses);
    for (int n = 0; n < m->peer_count && own == WF_SUCCESS; n++) {
        int got = 0;
        MPI_Get_count(&m->statuses[n], element(m), &got);
        if (got != awaited(m, &m->peers[n]))
            own = WF_NOT_READY;
    }
    return own;
}

/* The queue that packs elements for other ranks, and takes theirs. */
static wf_queue *exchanging(const wf_mpi_matrix *m)
{
    return m->aside ? m->aside : m->queue;
}

wf_result wfi_mpi_product_pack(wf_mpi_matrix *m, wfi_place x)
{
    wf_bindings bindings = {.size = sizeof bindings};
    m->turn = 1 - m->turn;
    m->packed = 0;
    if (!m->pack)
        return WF_SUCCESS;
    bindings.items[WF_SPMV_X] =
        (wf_binding){.buffer = x.buffer,
                     .offset = x.offset,
                     .bytes = m->x.length * (uint64_t)wf_type_size(m->type)};
    bindings.items[WF_SPMV_Y] = wfi_mpi_packed(m);
    return wf_queue_run(exchanging(m), m->pack, &bindings, &m->packed);
}

wf_result wfi_mpi_product_inside(wf_mpi_matrix *m, wfi_place x, wfi_place y)
{
    const uint64_t real = wf_type_size(m->type);
    wf_bindings bindings = {.size = sizeof bindings};
    if (m->inside_given || !m->inside)
        return WF_SUCCESS;
    bindings.items[WF_SPMV_X] =
        (wf_binding){.buffer = x.buffer, .offset = x.offset, .bytes = m->x.length * real};
    bindings.items[WF_SPMV_Y] =
        (wf_binding){.buffer = y.buffer, .offset = y.offset, .bytes = m->inside_rows * real};
    if (m->sum_count)
        bindings.items[WF_CG_PRODUCT_PARTIALS] = (wf_binding){.buffer = m->sum_buffer};
    const wf_result result = wf_queue_run(m->queue, m->inside, &bindings, NULL);
    m->inside_given = result == WF_SUCCESS;
    return result;
}

/* The elements of all peers, or of one: where it packed them, or in the memory of messages. They
 * may be taken beside what was given last where that is of the same product. */
static wf_result give_unpack(wf_mpi_matrix *m, wf_plan *plan, const wfi_peer *peer, wfi_place x,
                             bool *beside)
{
    const uint64_t real = wf_type_size(m->type), at = peer ? m->halo_at[peer->rank] * real : 0,
                   count = peer ? (uint64_t)m->received.counts[peer->rank] : m->halo;
    wf_bindings bindings = {.size = sizeof bindings};
    if (!plan)
        return WF_SUCCESS;
    bindings.items[WF_SPMV_X] =
        (wf_binding){.buffer = m->received.buffer, .offset = at, .bytes = count * real};
    if (peer && peer->reads)
        bindings.items[WF_SPMV_X] =
            (wf_binding){.buffer = peer->theirs,
                         .offset = peer->theirs_at + m->turn * peer->offer.slot_bytes,
                         .bytes = peer->offer.total * real};
    bindings.items[WF_SPMV_Y] = (wf_binding){
        .buffer = x.buffer, .offset = x.offset + m->x.length * real + at, .bytes = count * real};
    wf_result result = *beside ? wf_queue_beside(exchanging(m)) : WF_SUCCESS;
    *beside = true;
    return result == WF_SUCCESS ? wf_queue_run(exchanging(m), plan, &bindings, &m->unpacked)
                                : result;
}

static wf_result give_unpacks(wf_mpi_matrix *m, wfi_place x, bool *beside)
{
    wf_result result = give_unpack(m, m->unpack, NULL, x, beside);
    for (int n = 0; n < m->peer_count && result == WF_SUCCESS; n++)
        result = give_unpack(m, m->peers[n].unpack, &m->peers[n], x, beside);
    return result;
}

/* Neither the inside needs the halo, nor the halo the inside. */
static wf_result give_halo(wf_mpi_matrix *m, wfi_place x, wfi_place y)
{
    bool beside = m->inside_given;
    wf_result result = give_unpacks(m, x, &beside);
    if (result == WF_SUCCESS && beside && m->inside && !m->inside_given)
        result = wf_queue_beside(m->queue);
    return result == WF_SUCCESS ? wfi_mpi_product_inside(m, x, y) : result;
}

static wf_result give_boundary(wf_mpi_matrix *m, wfi_place x, wfi_place y)
{
    const uint64_t real = wf_type_size(m->type);
    wf_bindings bindings = {.size = sizeof bindings};
    if (!m->boundary)
        return WF_SUCCESS;
    bindings.items[WF_SPMV_X] = (wf_binding){
        .buffer = x.buffer, .offset = x.offset, .bytes = (m->x.length + (uint64_t)m->halo) * real};
    bindings.items[WF_SPMV_Y] = (wf_binding){.buffer = y.buffer,
                                             .offset = y.offset + m->boundary_at * real,
                                             .bytes = m->boundary_rows * real};
    return wf_queue_run(m->queue, m->boundary, &bindings, NULL);
}

static wf_result submit_inside(wf_mpi_matrix *m, wfi_place x, wfi_place y)
{
    const wf_result result = wfi_mpi_product_inside(m, x, y);
    return result == WF_SUCCESS ? wf_queue_submit(m->queue) : result;
}

/* The host sends what is packed, and receives where the device may still be reading. */
static wf_result wait_for_pack(wf_mpi_matrix *m)
{
    const uint64_t last = m->packed ? m->packed : m->received.total ? m->unpacked : 0;
    return last ? wf_queue_wait(m->queue, last) : WF_SUCCESS;
}

/* Whether all messages have come before the device has ended `busy`. */
static bool comes_in_time(wf_mpi_matrix *m, uint64_t busy)
{
    uint64_t ended = 0;
    int came = 0;
    while (!came && ended < busy && wf_queue_ended(m->queue, &ended) == WF_SUCCESS)
        MPI_Testall(2 * m->peer_count, m->requests, &came, m->statuses);
    m->waits++;
    m->late += !came;
    return came;
}

/* Adds the time from `start` until what this rank sends was packed, and from then until now. */
static void note_exchange(wf_mpi_times *times, double start, double packed)
{
    const double all_came = MPI_Wtime();
    wfi_trace(times, WF_MPI_STAGE_HALO, start, packed);
    wfi_trace(times, WF_MPI_STAGE_WAIT, packed, all_came);
    times->halo += packed - start;
    times->wait += all_came - packed;
}

wf_result wfi_mpi_product_multiply(wf_mpi_matrix *m, wfi_place x, wfi_place y, uint64_t busy,
                                   wf_result own, wf_mpi_times *times)
{
    const double start = MPI_Wtime();
    const bool patient = busy > 0 && !m->inside_given && WORTH * m->late <= m->waits + WORTH;
    bool came = false;
    if (own == WF_SUCCESS && !patient)
        own = submit_inside(m, x, y);
    if (own == WF_SUCCESS)
        own = wait_for_pack(m);
    const double packed = MPI_Wtime();
    begin_exchange(m, own);
    if (own == WF_SUCCESS && patient) {
        came = comes_in_time(m, busy);
        if (!came)
            own = submit_inside(m, x, y);
    }
    own = end_exchange(m, came, own);
    note_exchange(times, start, packed);
    if (own == WF_SUCCESS)
        own = wf_queue_hold(m->queue);
    if (own == WF_SUCCESS)
        own = give_halo(m, x, y);
    m->inside_given = false;
    return own == WF_SUCCESS ? give_boundary(m, x, y) : own;
}

wf_result wfi_mpi_matrix_aside(wf_mpi_matrix *m)
{
    const wf_result result = wf_queue_create_beside(m->device, &m->aside);
    return result == WF_ERROR_UNSUPPORTED ? WF_SUCCESS : result;
}

/* Submits what was given aside, and waits for its execution `last`; 0: there is none. */
static wf_result end_aside(wf_mpi_matrix *m, wf_result result, uint64_t last)
{
    if (result == WF_SUCCESS)
        result = wf_queue_mark(m->aside);
    return result == WF_SUCCESS && last ? wf_queue_wait(m->aside, last) : result;
}

static wf_result pack_aside(wf_mpi_matrix *m, wfi_place x, uint64_t written)
{
    wf_result result = wf_queue_wait(m->queue, written);
    if (result == WF_SUCCESS)
        result = wf_queue_hold(m->aside);
    if (result == WF_SUCCESS)
        result = wfi_mpi_product_pack(m, x);
    return end_aside(m, result, m->packed);
}

static wf_result take_aside(wf_mpi_matrix *m, wfi_place x)
{
    bool beside = false;
    wf_result result = wf_queue_hold(m->aside);
    if (result == WF_SUCCESS)
        result = give_unpacks(m, x, &beside);
    return end_aside(m, result, m->unpacked);
}

wf_result wfi_mpi_product_exchange(wf_mpi_matrix *m, wfi_place x, wfi_place y, uint64_t written,
                                   wf_result own, wf_mpi_times *times)
{
    const double start = MPI_Wtime();
    if (own == WF_SUCCESS)
        own = submit_inside(m, x, y); /* where it could not be given with the update */
    if (own == WF_SUCCESS)
        own = pack_aside(m, x, written);
    const double packed = MPI_Wtime();
    begin_exchange(m, own);
    own = end_exchange(m, false, own);
    if (own == WF_SUCCESS)
        own = take_aside(m, x);
    note_exchange(times, start, packed);
    m->inside_given = false;
    if (own == WF_SUCCESS)
        own = wf_queue_hold(m->queue);
    return own == WF_SUCCESS ? give_boundary(m, x, y) : own;
}

wf_result wfi_mpi_product(wf_mpi_matrix *m, wfi_place x, wfi_place y, wf_result own,
                          wf_mpi_times *times)
{
    /* What others need goes first, so that it is on its way as long as the inside takes. */
    if (own == WF_SUCCESS)
        own = wf_queue_hold(m->queue);
    if (own == WF_SUCCESS)
        own = wfi_mpi_product_pack(m, x);
    if (own == WF_SUCCESS)
        own = wf_queue_mark(m->queue);
    if (own == WF_SUCCESS)
        own = submit_inside(m, x, y);
    return wfi_mpi_product_multiply(m, x, y, 0, own, times);
}

static bool is_of(const wf_mpi_matrix *m, const wf_mpi_vector *v, const wfi_layout *layout)
{
    return v && v->matrix == m && (v->layout == layout || m->alike);
}

wf_result wf_mpi_spmv_run(wf_mpi_matrix *m, wf_mpi_vector *x, wf_mpi_vector *y, uint32_t count,
                          double *seconds, wf_mpi_times *times)
{
    wf_mpi_times spent = {.size = sizeof spent, .trace = times ? times->trace : NULL};
    if (!m || m->failed || count == 0 || x == y || !is_of(m, x, &m->x) || !is_of(m, y, &m->y) ||
        (times && times->size != sizeof *times))
        return WF_ERROR_INVALID_ARGUMENT;
    MPI_Barrier(m->ranks.comm);
    const double start = MPI_Wtime();
    wf_result own = WF_SUCCESS;
    /* Products are counted alike on all ranks: one that has failed goes on exchanging. */
    for (uint32_t i = 0; i < count; i++) {
        wfi_trace_next(&spent);
        own = wfi_mpi_product(m, (wfi_place){.buffer = x->buffer}, (wfi_place){.buffer = y->buffer},
                              own, &spent);
    }
    const double given = MPI_Wtime();
    if (own == WF_SUCCESS)
        own = wf_queue_wait(m->queue, 0);
    const double end = MPI_Wtime();
    double elapsed = end - start, slowest = 0;
    wfi_trace(&spent, WF_MPI_STAGE_INSIDE, given, end);
    spent.inside = end - given;
    const wf_result result = wfi_ranks_agree(&m->ranks, own == WF_NOT_READY ? WF_SUCCESS : own);
    m->failed = result != WF_SUCCESS;
    if (m->failed) {
        wf_queue_destroy(&m->queue); /* it waits: the vectors may be destroyed */
        return result;
    }
    MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, m->ranks.comm);
    if (seconds)
        *seconds = slowest;
    if (times)
        *times = spent;
    return WF_SUCCESS;
}
