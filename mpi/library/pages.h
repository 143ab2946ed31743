/* Memory of a host's ranks, a segment of each, which the device of another one imports: it reads
 * there what the first one's device left. */
#ifndef WFI_MPI_PAGES_H
#define WFI_MPI_PAGES_H

#include "ranks.h"

#define WFI_PAGE 4096 /* what segments begin at a multiple of */

typedef struct wfi_pages {
    MPI_Comm host; /* the ranks of this host; MPI_COMM_NULL: there is no memory */
    MPI_Win window;
    bool open;      /* the window is there */
    wf_buffer *own; /* this rank's segment on its device; NULL: it has none there */
    uint64_t own_at;
    void *mapped; /* the same for this process */
} wfi_pages;

/* Makes a segment of `bytes` (0: none) for each rank whose device takes memory of the host's. Where
 * that cannot be, `own` is NULL. Collective. */
void wfi_pages_open(const wfi_ranks *ranks, wf_device *device, uint64_t bytes, wfi_pages *out);
/* The first `bytes` of another rank's segment on this rank's device; false: it is on another host,
 * has none, or the device does not take it. */
bool wfi_pages_import(const wfi_pages *pages, const wfi_ranks *ranks, wf_device *device, int rank,
                      uint64_t bytes, wf_buffer **out, uint64_t *at);
/* What was imported is destroyed before, and the work of all ranks' devices has ended.
 * Collective. */
void wfi_pages_close(wfi_pages *pages);

#endif
