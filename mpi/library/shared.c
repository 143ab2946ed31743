#include "shared.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 2, SHARED_TAG = 9 };
#define PAGE 4096

/* Memory of MPI's is aligned to pages at most. */
static bool takes_pages(const wf_device *device)
{
    const uint64_t unit = wf_device_caps(device)->host_import_alignment;
    const char *asked = getenv("WAVEFIT_MPI_SHARED");
    return unit > 0 && PAGE % unit == 0 && !(asked && strcmp(asked, "0") == 0);
}

static uint64_t spacing(uint64_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
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

/* A rank's part of the window as this process sees it, from its first whole page on. Processes map
 * the window at different places, but at the same distance from a page. */
static void *segment_of(const wfi_shared *s, int host_rank, uint64_t *bytes)
{
    MPI_Aint size = 0;
    int unit = 0;
    void *base = NULL;
    MPI_Win_shared_query(s->window, host_rank, &size, &unit, &base);
    const uint64_t skip = (PAGE - (uintptr_t)base % PAGE) % PAGE;
    *bytes = (uint64_t)size > skip ? (uint64_t)size - skip : 0;
    return (unsigned char *)base + skip;
}

/* The neighbour's rank on this host; MPI_UNDEFINED: it is on another one. */
static int on_host(const wfi_ranks *ranks, const wfi_shared *s, int neighbour)
{
    MPI_Group all, here;
    int there = MPI_UNDEFINED;
    if (neighbour == MPI_PROC_NULL)
        return MPI_UNDEFINED;
    MPI_Comm_group(ranks->comm, &all);
    MPI_Comm_group(s->host, &here);
    MPI_Group_translate_ranks(all, 1, &neighbour, here, &there);
    MPI_Group_free(&all);
    MPI_Group_free(&here);
    return there;
}

static bool import(const wfi_shared *s, wf_device *device, int host_rank, uint64_t wanted,
                   wf_buffer **out, uint64_t *base)
{
    uint64_t bytes = 0;
    void *segment = segment_of(s, host_rank, &bytes);
    return wanted > 0 && bytes >= wanted &&
           wf_buffer_import_host(device, segment, wanted, out, base) == WF_SUCCESS;
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

/* Collective over the host's ranks. */
static bool make_window(wfi_shared *s, bool wanted)
{
    int mine = wanted, most = 0;
    void *base = NULL;
    MPI_Info info;
    MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_SUM, s->host);
    if (most < 2)
        return false;
    MPI_Comm_set_errhandler(s->host, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    const MPI_Aint bytes = wanted ? (MPI_Aint)(segment_bytes(s) + PAGE) : 0;
    mine = MPI_Win_allocate_shared(bytes, 1, info, s->host, &base, &s->window) == MPI_SUCCESS;
    MPI_Info_free(&info);
    MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MIN, s->host);
    s->open = most; /* to free a window that some ranks do not have would wait for these */
    return most;
}

void wfi_shared_open(const wfi_ranks *ranks, wf_device *device, const int neighbours[WF_HALO_SIDES],
                     const uint64_t bytes[WF_HALO_SIDES], wfi_shared *s)
{
    uint64_t ready[WF_HALO_SIDES] = {0}, theirs[WF_HALO_SIDES] = {0}, end[WF_HALO_SIDES];
    uint64_t their_end[WF_HALO_SIDES] = {0};
    int here = 0;
    *s = (wfi_shared){.host = MPI_COMM_NULL};
    memcpy(s->bytes, bytes, sizeof s->bytes);
    lay_out(s);
    const bool wanted = segment_bytes(s) > 0 && takes_pages(device);
    wfi_ranks_host(ranks, &s->host);
    /* A neighbour on another host is told all the same: it has a window with others, perhaps. */
    const bool open = make_window(s, wanted);
    for (int side = 0; side < WF_HALO_SIDES; side++)
        end[side] = segment_bytes(s);
    tell_neighbours(ranks, neighbours, s->at, s->their_at);
    tell_neighbours(ranks, neighbours, end, their_end);
    MPI_Comm_rank(s->host, &here);
    const bool own =
        open && wanted && import(s, device, here, segment_bytes(s), &s->own, &s->own_base);
    for (int side = 0; side < WF_HALO_SIDES; side++) {
        const int there = on_host(ranks, s, neighbours[side]);
        ready[side] =
            own && there != MPI_UNDEFINED &&
            import(s, device, there, their_end[side], &s->theirs[side], &s->theirs_base[side]);
    }
    tell_neighbours(ranks, neighbours, ready, theirs);
    for (int side = 0; side < WF_HALO_SIDES; side++)
        s->with[side] = ready[side] && theirs[side];
}

void wfi_shared_close(wfi_shared *s)
{
    wf_buffer_destroy(&s->own);
    for (int side = 0; side < WF_HALO_SIDES; side++)
        wf_buffer_destroy(&s->theirs[side]);
    if (s->open)
        MPI_Win_free(&s->window);
    if (s->host != MPI_COMM_NULL)
        MPI_Comm_free(&s->host);
    s->open = false;
}

void wfi_shared_turn(wfi_shared *s)
{
    s->turn = 1 - s->turn;
}

wf_binding wfi_shared_to(const wfi_shared *s, int side)
{
    if (!s->with[side])
        return (wf_binding){0};
    return (wf_binding){.buffer = s->own,
                        .offset = s->own_base + s->at[side] + s->turn * spacing(s->bytes[side]),
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
