/* Memory that neighbouring ranks of one host share: each rank's device packs into its own part, and
 * the neighbour's device reads it there, without a copy on the host. */
#ifndef WFI_MPI_SHARED_H
#define WFI_MPI_SHARED_H

#include "pages.h"

enum { WFI_LOWER = WF_HALO_LOWER, WFI_UPPER = WF_HALO_UPPER };

/* What is for a side alternates between two slots, since a rank may be one exchange ahead: what it
 * writes then is not what its neighbour still reads. */
typedef struct wfi_shared {
    wfi_pages pages;
    bool with[WF_HALO_SIDES];         /* with that neighbour: both devices have taken the memory */
    uint64_t bytes[WF_HALO_SIDES];    /* of a slot */
    uint64_t at[WF_HALO_SIDES + 1];   /* a side's slots in this rank's part; its end */
    uint64_t their_at[WF_HALO_SIDES]; /* the neighbour's slots for this rank in its part */
    uint32_t turn;
    wf_buffer *theirs[WF_HALO_SIDES];
    uint64_t theirs_base[WF_HALO_SIDES];
} wfi_shared;

/* Shares bytes[side] with the neighbours (MPI_PROC_NULL: none) that are on this host and whose
 * devices, like this one, take memory of the host's. Where that cannot be, `with` says so.
 * Collective; no bytes: this rank shares nothing. */
void wfi_shared_open(const wfi_ranks *ranks, wf_device *device, const int neighbours[WF_HALO_SIDES],
                     const uint64_t bytes[WF_HALO_SIDES], wfi_shared *out);
/* Whatever uses the memory has ended on all ranks. Collective. */
void wfi_shared_close(wfi_shared *shared);

/* The next exchange begins. */
void wfi_shared_turn(wfi_shared *shared);
/* Where cells for that neighbour go in this exchange, and where those are that it left in the last
 * one; no buffer where nothing is shared with it. */
wf_binding wfi_shared_to(const wfi_shared *shared, int side);
wf_binding wfi_shared_from(const wfi_shared *shared, int side);

#endif
