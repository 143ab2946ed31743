#include "pages.h"

#include <stdlib.h>
#include <string.h>

/* Memory of MPI's is aligned to pages at most. */
static bool takes_pages(const wf_device *device)
{
    const uint64_t unit = wf_device_caps(device)->host_import_alignment;
    const char *asked = getenv("WAVEFIT_MPI_SHARED");
    return unit > 0 && WFI_PAGE % unit == 0 && !(asked && strcmp(asked, "0") == 0);
}

/* A rank's part of the window as this process sees it, from its first whole page on. Processes map
 * the window at different places, but at the same distance from a page. */
static void *segment_of(const wfi_pages *p, int host_rank, uint64_t *bytes)
{
    MPI_Aint size = 0;
    int unit = 0;
    void *base = NULL;
    MPI_Win_shared_query(p->window, host_rank, &size, &unit, &base);
    const uint64_t skip = (WFI_PAGE - (uintptr_t)base % WFI_PAGE) % WFI_PAGE;
    *bytes = (uint64_t)size > skip ? (uint64_t)size - skip : 0;
    return (unsigned char *)base + skip;
}

/* The rank among those of this host; MPI_UNDEFINED: it is on another one. */
static int on_host(const wfi_ranks *ranks, const wfi_pages *p, int rank)
{
    MPI_Group all, here;
    int there = MPI_UNDEFINED;
    if (rank == MPI_PROC_NULL)
        return MPI_UNDEFINED;
    MPI_Comm_group(ranks->comm, &all);
    MPI_Comm_group(p->host, &here);
    MPI_Group_translate_ranks(all, 1, &rank, here, &there);
    MPI_Group_free(&all);
    MPI_Group_free(&here);
    return there;
}

static bool import(const wfi_pages *p, wf_device *device, int host_rank, uint64_t bytes,
                   wf_buffer **out, uint64_t *at)
{
    uint64_t there = 0;
    void *segment = segment_of(p, host_rank, &there);
    return bytes > 0 && there >= bytes &&
           wf_buffer_import_host(device, segment, bytes, out, at) == WF_SUCCESS;
}

/* Collective over the host's ranks. */
static bool make_window(wfi_pages *p, uint64_t bytes)
{
    int mine = bytes > 0, most = 0, count = 0;
    void *base = NULL;
    MPI_Info info;
    MPI_Comm_size(p->host, &count);
    MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, p->host);
    if (count < 2 || !most)
        return false;
    MPI_Comm_set_errhandler(p->host, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    const MPI_Aint all = bytes ? (MPI_Aint)(bytes + WFI_PAGE) : 0;
    mine = MPI_Win_allocate_shared(all, 1, info, p->host, &base, &p->window) == MPI_SUCCESS;
    MPI_Info_free(&info);
    MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MIN, p->host);
    p->open = most; /* to free a window that some ranks do not have would wait for these */
    return most;
}

void wfi_pages_open(const wfi_ranks *ranks, wf_device *device, uint64_t bytes, wfi_pages *p)
{
    uint64_t there = 0;
    int here = 0;
    *p = (wfi_pages){.host = MPI_COMM_NULL};
    bytes = takes_pages(device) ? bytes : 0;
    wfi_ranks_host(ranks, &p->host);
    if (!make_window(p, bytes) || bytes == 0)
        return;
    MPI_Comm_rank(p->host, &here);
    p->mapped = segment_of(p, here, &there);
    if (!import(p, device, here, bytes, &p->own, &p->own_at))
        p->own = NULL;
}

bool wfi_pages_import(const wfi_pages *p, const wfi_ranks *ranks, wf_device *device, int rank,
                      uint64_t bytes, wf_buffer **out, uint64_t *at)
{
    const int there = p->open ? on_host(ranks, p, rank) : MPI_UNDEFINED;
    return takes_pages(device) && there != MPI_UNDEFINED &&
           import(p, device, there, bytes, out, at);
}

void wfi_pages_close(wfi_pages *p)
{
    wf_buffer_destroy(&p->own);
    if (p->open)
        MPI_Win_free(&p->window);
    if (p->host != MPI_COMM_NULL)
        MPI_Comm_free(&p->host);
    p->open = false;
}
