#include "shared.h"

#include <string.h>

enum { SLOTS = 2, SHARED_TAG = 9 };

static uint64_t spacing(uint64_t bytes)
{
    return (bytes + WFI_PAGE - 1) / WFI_PAGE * WFI_PAGE;
}

static uint64_t segment_bytes(const wfi_shared *s)
{
    return s->at[WF_HALO_SIDES];
}

static void lay_out(wfi_shared *s)
{
    for (int side = 0; side < WF_HALO_SIDES; side++)
        s->at[side + 1] = s->at[side] + SLOTS * spacing(s->bytes[side]);
}

/* Sends `mine` to the neighbour on each side, which faces this rank with the opposite one. */
static void tell_neighbours(const wfi_ranks *ranks, const int neighbours[WF_HALO_SIDES],
                            const uint64_t mine[WF_HALO_SIDES], uint64_t theirs[WF_HALO_SIDES])
{
    for (int side = 0; side < WF_HALO_SIDES; side++)
        MPI_Sendrecv(&mine[side], 1, MPI_UINT64_T, neighbours[side], SHARED_TAG, &theirs[side ^ 1],
                     1, MPI_UINT64_T, neighbours[side ^ 1], SHARED_TAG, ranks->comm,
                     MPI_STATUS_IGNORE);
}

void wfi_shared_open(const wfi_ranks *ranks, wf_device *device, const int neighbours[WF_HALO_SIDES],
                     const uint64_t bytes[WF_HALO_SIDES], wfi_shared *s)
{
    uint64_t ready[WF_HALO_SIDES] = {0}, theirs[WF_HALO_SIDES] = {0}, end[WF_HALO_SIDES];
    uint64_t their_end[WF_HALO_SIDES] = {0};
    *s = (wfi_shared){.turn = 0};
    memcpy(s->bytes, bytes, sizeof s->bytes);
    lay_out(s);
    wfi_pages_open(ranks, device, segment_bytes(s), &s->pages);
    for (int side = 0; side < WF_HALO_SIDES; side++)
        end[side] = segment_bytes(s);
    /* A neighbour on another host is told all the same: it has memory with others, perhaps. */
    tell_neighbours(ranks, neighbours, s->at, s->their_at);
    tell_neighbours(ranks, neighbours, end, their_end);
    for (int side = 0; side < WF_HALO_SIDES; side++)
        ready[side] = s->pages.own &&
                      wfi_pages_import(&s->pages, ranks, device, neighbours[side], their_end[side],
                                       &s->theirs[side], &s->theirs_base[side]);
    tell_neighbours(ranks, neighbours, ready, theirs);
    for (int side = 0; side < WF_HALO_SIDES; side++)
        s->with[side] = ready[side] && theirs[side];
}

void wfi_shared_close(wfi_shared *s)
{
    for (int side = 0; side < WF_HALO_SIDES; side++)
        wf_buffer_destroy(&s->theirs[side]);
    wfi_pages_close(&s->pages);
}

void wfi_shared_turn(wfi_shared *s)
{
    s->turn = 1 - s->turn;
}

wf_binding wfi_shared_to(const wfi_shared *s, int side)
{
    if (!s->with[side])
        return (wf_binding){0};
    return (wf_binding){.buffer = s->pages.own,
                        .offset = s->pages.own_at + s->at[side] + s->turn * spacing(s->bytes[side]),
                        .bytes = s->bytes[side]};
}

/* The slots are as large as this rank's own for that neighbour. */
wf_binding wfi_shared_from(const wfi_shared *s, int side)
{
    if (!s->with[side])
        return (wf_binding){0};
    return (wf_binding){.buffer = s->theirs[side],
                        .offset = s->theirs_base[side] + s->their_at[side] +
                                  (1 - s->turn) * spacing(s->bytes[side]),
                        .bytes = s->bytes[side]};
}
