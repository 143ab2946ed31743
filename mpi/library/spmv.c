/* Products of a sparse matrix on many ranks: the device packs what others need, and multiplies the
 * inside while MPI exchanges it; then it takes what came and multiplies the boundary. */
#include "matrix.h"

enum { HALO_TAG = 4 };

static MPI_Datatype element(const wf_mpi_matrix *m)
{
    return m->type == WF_TYPE_F64 ? MPI_DOUBLE : MPI_FLOAT;
}

static unsigned char *at(const wf_mpi_matrix *m, const wfi_traffic *traffic, int rank)
{
    static unsigned char nothing;
    unsigned char *mapped = traffic->buffer ? wf_buffer_mapped(traffic->buffer) : NULL;
    return mapped ? mapped + (size_t)traffic->offsets[rank] * wf_type_size(m->type) : &nothing;
}

/* Every neighbour gets a message and sends one. That of a rank that has failed has no elements:
 * whoever gets one knows that the product is of no use, WF_NOT_READY. */
static wf_result exchange(wf_mpi_matrix *m, wf_result own)
{
    const int count = m->neighbour_count;
    for (int n = 0; n < count; n++) {
        const int r = m->neighbours[n];
        MPI_Irecv(at(m, &m->received, r), m->received.counts[r], element(m), r, HALO_TAG,
                  m->ranks.comm, &m->requests[n]);
        MPI_Isend(at(m, &m->sent, r), own == WF_SUCCESS ? m->sent.counts[r] : 0, element(m), r,
                  HALO_TAG, m->ranks.comm, &m->requests[count + n]);
    }
    MPI_Waitall(2 * count, m->requests, m->statuses);
    for (int n = 0; n < count && own == WF_SUCCESS; n++) {
        int got = 0;
        MPI_Get_count(&m->statuses[n], element(m), &got);
        if (got != m->received.counts[m->neighbours[n]])
            own = WF_NOT_READY;
    }
    return own;
}

/* What others need goes first, so that it is on its way as long as the inside takes. */
static wf_result give_inside(wf_mpi_matrix *m, wfi_place x, wfi_place y)
{
    const uint64_t real = wf_type_size(m->type);
    wf_bindings bindings = {.size = sizeof bindings};
    uint64_t packed = 0;
    wf_result result = WF_SUCCESS;
    bindings.items[WF_SPMV_X] =
        (wf_binding){.buffer = x.buffer, .offset = x.offset, .bytes = m->x.length * real};
    if (m->pack) {
        bindings.items[WF_SPMV_Y] = (wf_binding){.buffer = m->sent.buffer};
        result = wf_queue_run(m->queue, m->pack, &bindings, &packed);
        if (result == WF_SUCCESS)
            result = wf_queue_submit(m->queue);
    }
    if (m->inside && result == WF_SUCCESS) {
        bindings.items[WF_SPMV_Y] =
            (wf_binding){.buffer = y.buffer, .offset = y.offset, .bytes = m->inside_rows * real};
        if (m->sum_count)
            bindings.items[WF_CG_PRODUCT_PARTIALS] = (wf_binding){.buffer = m->sum_buffer};
        result = wf_queue_run(m->queue, m->inside, &bindings, NULL);
    }
    if (result == WF_SUCCESS)
        result = wf_queue_submit(m->queue);
    /* The host sends what is packed, and receives where the device may still be reading. */
    const uint64_t awaited = packed ? packed : m->received.total ? m->unpacked : 0;
    return result == WF_SUCCESS && awaited ? wf_queue_wait(m->queue, awaited) : result;
}

static wf_result give_boundary(wf_mpi_matrix *m, wfi_place x, wfi_place y)
{
    const uint64_t real = wf_type_size(m->type), halo_at = m->x.length * real,
                   halo = m->received.total * real;
    wf_bindings bindings = {.size = sizeof bindings};
    wf_result result = wf_queue_hold(m->queue);
    if (m->unpack && result == WF_SUCCESS) {
        bindings.items[WF_SPMV_X] = (wf_binding){.buffer = m->received.buffer};
        bindings.items[WF_SPMV_Y] =
            (wf_binding){.buffer = x.buffer, .offset = x.offset + halo_at, .bytes = halo};
        result = wf_queue_run(m->queue, m->unpack, &bindings, &m->unpacked);
    }
    if (m->boundary && result == WF_SUCCESS) {
        bindings.items[WF_SPMV_X] =
            (wf_binding){.buffer = x.buffer, .offset = x.offset, .bytes = halo_at + halo};
        bindings.items[WF_SPMV_Y] = (wf_binding){.buffer = y.buffer,
                                                 .offset = y.offset + m->boundary_at * real,
                                                 .bytes = m->boundary_rows * real};
        result = wf_queue_run(m->queue, m->boundary, &bindings, NULL);
    }
    return result;
}

wf_result wfi_mpi_product(wf_mpi_matrix *m, wfi_place x, wfi_place y, wf_result own,
                          wf_mpi_times *times)
{
    const double start = MPI_Wtime();
    if (own == WF_SUCCESS)
        own = give_inside(m, x, y);
    const double packed = MPI_Wtime();
    own = exchange(m, own);
    const double came = MPI_Wtime();
    wfi_trace(times, WF_MPI_STAGE_HALO, start, packed);
    wfi_trace(times, WF_MPI_STAGE_WAIT, packed, came);
    times->halo += packed - start;
    times->wait += came - packed;
    return own == WF_SUCCESS ? give_boundary(m, x, y) : own;
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
