/* Passes over a part of a grid that is cut among several devices: what neighbours need goes first,
 * and while it is on its way, the device updates the rest. */
#ifndef WFI_SOLVE_PART_PASSES_H
#define WFI_SOLVE_PART_PASSES_H

#include "core/buffer.h"
#include "core/stream.h"

typedef struct wfi_part_passes {
    wf_device *device;
    wfi_object object;
    wfi_stream early, late; /* two passes are under way at a time */
    wfi_stream copies;      /* of halos, beside the kernels; closed: they go with the first part */
    /* What goes from one queue to another, where the device works beside itself: cells that have
     * `arrived`, that the first part `updated`, and the `rest`, which is left signalled by the last
     * pass. */
    VkSemaphore arrived, updated, rest;
    bool rest_signalled;
    bool under_way;
    double early_seconds, begun; /* of the pass under way: device time, host clock */
} wfi_part_passes;

/* What a pass records, in this order. arrive: takes what has come from neighbours, beside the pass
 * before; NULL: nothing has come. early: updates what neighbours need. leave: hands it to them;
 * NULL: there are none. late: updates the rest, beside the first part and both copies; NULL: there
 * is no rest. */
typedef struct wfi_pass_parts {
    wfi_record_fn arrive, early, leave, late;
    bool by_kernels; /* arrive and leave are not copies alone: they go with the first part */
    void *user;
} wfi_pass_parts;

/* beside: the second part needs nothing that the first one of its pass writes, and the two are made
 * at once. That pays where a first part alone does not fill the device, as long marches do not. A
 * first part of a few planes is sooner done by itself. */
wf_result wfi_part_passes_open(wf_device *device, bool beside, wfi_part_passes *passes);
/* Waits for what is under way. Accepts a zeroed object. */
void wfi_part_passes_close(wfi_part_passes *passes);

/* Submits a pass and waits for its first part. After an error nothing is under way. */
wf_result wfi_part_passes_begin(wfi_part_passes *passes, const wfi_pass_parts *parts);
/* The same while a pass is under way, which the new one follows without a pause; *seconds is that
 * pass's. */
wf_result wfi_part_passes_next(wfi_part_passes *passes, const wfi_pass_parts *parts,
                               double *seconds);
/* Waits for the pass under way. */
wf_result wfi_part_passes_end(wfi_part_passes *passes, double *seconds);

enum { WFI_LOWER = WF_HALO_LOWER, WFI_UPPER = WF_HALO_UPPER, WFI_SIDES };

/* Halos of an object by side: its own buffers, of which there are none where the grid ends, and the
 * caller's in their place. */
typedef struct wfi_halos {
    uint64_t bytes[WF_HALO_SIDES];
    wf_buffer *to[WF_HALO_SIDES], *from[WF_HALO_SIDES];
    wf_halo_bindings bound;
} wfi_halos;

/* A slab's, of the same size on both sides. */
wf_result wfi_halos_make(wf_device *device, uint64_t bytes, const bool there[WFI_SIDES],
                         wfi_halos *halos);
/* halos->bytes says how large each is; 0: there is none. */
wf_result wfi_halos_make_sides(wf_device *device, wfi_halos *halos);
void wfi_halos_destroy(wfi_halos *halos);
/* Whether there is a neighbour at all. */
bool wfi_halos_any(const wfi_halos *halos);
wf_result wfi_halos_tell(const wf_device *device, const char *function, const wfi_halos *halos,
                         wf_halo *out);
wf_result wfi_halos_bind(const wf_device *device, const char *function,
                         const wf_halo_bindings *given, wfi_halos *halos);
/* Where a halo is now; no buffer where the grid ends, else its offset and bytes. */
wf_binding wfi_halo_to(const wfi_halos *halos, int side);
wf_binding wfi_halo_from(const wfi_halos *halos, int side);

#endif
