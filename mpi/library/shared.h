/* Memory that neighbouring ranks of one host share: each rank's device packs into its own part, and
 * the neighbour's device reads it there, without a copy on the host. */
#ifndef WFI_MPI_SHARED_H
#define WFI_MPI_SHARED_H

#include "ranks.h"

enum { WFI_LOWER, WFI_UPPER, WFI_SIDES };

/* A side's planes alternate between two slots, since a rank may be one exchange ahead: what it
 * writes then is not what its neighbour still reads. */
typedef struct wfi_shared {
    MPI_Comm host; /* the ranks of this host; MPI_COMM_NULL: nothing is shared */
    MPI_Win window;
    bool open;               /* the window is there */
    bool with[WFI_SIDES];    /* with that neighbour: both devices have taken the memory */
    uint64_t bytes, spacing; /* of a slot, and from one to the next */
    uint32_t turn;
    wf_buffer *own, *theirs[WFI_SIDES];
    uint64_t own_at, theirs_at[WFI_SIDES];
} wfi_shared;

/* Shares `bytes` a side with the neighbours (MPI_PROC_NULL: none) that are on this host and whose
 * devices, like this one, take memory of the host's. Where that cannot be, `with` says so.
 * Collective; bytes 0: this rank shares nothing. */
void wfi_shared_open(const wfi_ranks *ranks, wf_device *device, const int neighbours[WFI_SIDES],
                     uint64_t bytes, wfi_shared *out);
/* Whatever uses the memory has ended on all ranks. Collective. */
void wfi_shared_close(wfi_shared *shared);

/* The next exchange begins. */
void wfi_shared_turn(wfi_shared *shared);
/* Where planes for that neighbour go in this exchange, and where those are that it left in the last
 * one; no buffer where nothing is shared with it. */
wf_binding wfi_shared_to(const wfi_shared *shared, int side);
wf_binding wfi_shared_from(const wfi_shared *shared, int side);

#endif
