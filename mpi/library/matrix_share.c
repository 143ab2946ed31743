/* The memory that a rank packs into, shared with the peers of its host. */
#include <stdlib.h>

#include "matrix.h"

enum { SLOTS = 2, OFFER_TAG = 18, READS_TAG };

wf_binding wfi_mpi_packed(const wf_mpi_matrix *m)
{
    if (!m->pages.own)
        return (wf_binding){.buffer = m->sent.buffer};
    return (wf_binding){.buffer = m->pages.own,
                        .offset = m->pages.own_at + m->turn * m->slot_bytes,
                        .bytes = m->sent.total * (uint64_t)wf_type_size(m->type)};
}

unsigned char *wfi_mpi_packed_mapped(const wf_mpi_matrix *m)
{
    return m->pages.own ? (unsigned char *)m->pages.mapped + m->turn * m->slot_bytes
                        : wf_buffer_mapped(m->sent.buffer);
}

/* A message of so many bytes to each peer, and one from it. */
static void tell(wf_mpi_matrix *m, int tag, const void *mine, void *theirs, size_t bytes)
{
    const int count = m->peer_count;
    for (int n = 0; n < count; n++) {
        const size_t at = (size_t)n * bytes;
        MPI_Irecv((unsigned char *)theirs + at, (int)bytes, MPI_BYTE, m->peers[n].rank, tag,
                  m->ranks.comm, &m->requests[n]);
        MPI_Isend((const unsigned char *)mine + at, (int)bytes, MPI_BYTE, m->peers[n].rank, tag,
                  m->ranks.comm, &m->requests[count + n]);
    }
    MPI_Waitall(2 * count, m->requests, m->statuses);
}

/* What each peer may read of this rank's, and this one of theirs. */
static void offer(wf_mpi_matrix *m, wfi_offer *mine, wfi_offer *theirs)
{
    for (int n = 0; n < m->peer_count; n++)
        mine[n] = (wfi_offer){.slot_bytes = m->pages.own ? m->slot_bytes : 0,
                              .total = m->sent.total,
                              .first = (uint32_t)m->sent.offsets[m->peers[n].rank]};
    tell(m, OFFER_TAG, mine, theirs, sizeof *mine);
    for (int n = 0; n < m->peer_count; n++)
        m->peers[n].offer = theirs[n];
}

static void take(wf_mpi_matrix *m, bool *reads, bool *read)
{
    for (int n = 0; n < m->peer_count; n++) {
        wfi_peer *peer = &m->peers[n];
        reads[n] =
            m->received.counts[peer->rank] > 0 &&
            wfi_pages_import(&m->pages, &m->ranks, m->device, peer->rank,
                             SLOTS * peer->offer.slot_bytes, &peer->theirs, &peer->theirs_at);
    }
    tell(m, READS_TAG, reads, read, sizeof *reads);
    for (int n = 0; n < m->peer_count; n++) {
        m->peers[n].reads = reads[n];
        m->peers[n].read = read[n];
    }
}

wf_result wfi_mpi_matrix_share(wf_mpi_matrix *m)
{
    const size_t count = (size_t)m->peer_count + 1;
    const uint64_t bytes = m->sent.total * (uint64_t)wf_type_size(m->type);
    wfi_offer *offers = calloc(2 * count, sizeof *offers);
    bool *reads = calloc(2 * count, sizeof *reads);
    const wf_result result =
        wfi_ranks_agree(&m->ranks, offers && reads ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY);
    m->slot_bytes = (bytes + WFI_PAGE - 1) / WFI_PAGE * WFI_PAGE;
    if (result == WF_SUCCESS && offers && reads) {
        wfi_pages_open(&m->ranks, m->device, SLOTS * m->slot_bytes, &m->pages);
        offer(m, offers, offers + count);
        take(m, reads, reads + count);
    }
    free(offers);
    free(reads);
    return result;
}
