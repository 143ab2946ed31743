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
    bool under_way;
    double early_seconds, begun; /* of the pass under way: device time, host clock */
} wfi_part_passes;

/* What a pass records, on the queue in this order; late NULL: there is no second part. The first
 * begins with what may run beside the pass before, the copies of planes that have come, and has a
 * barrier behind it. The second may run beside the first from that barrier on. */
typedef struct wfi_pass_parts {
    wfi_record_fn early, late;
    void *user;
} wfi_pass_parts;

wf_result wfi_part_passes_open(wf_device *device, wfi_part_passes *passes);
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
wf_result wfi_halos_tell(const wf_device *device, const char *function, const wfi_halos *halos,
                         wf_halo *out);
wf_result wfi_halos_bind(const wf_device *device, const char *function,
                         const wf_halo_bindings *given, wfi_halos *halos);
/* Where a halo is now; no buffer where the grid ends, else its offset and bytes. */
wf_binding wfi_halo_to(const wfi_halos *halos, int side);
wf_binding wfi_halo_from(const wfi_halos *halos, int side);

#endif
