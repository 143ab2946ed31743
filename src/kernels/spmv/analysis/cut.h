/* Rows put in order and cut into slices, on the device; what sliced rows and equal blocks have in
 * common. */
#ifndef WFI_KERNELS_SPMV_ANALYSIS_CUT_H
#define WFI_KERNELS_SPMV_ANALYSIS_CUT_H

#include "kernels/spmv/analysis/device_csr.h"

/* As in analysis_lengths.glsl. Members in the first line and in the last are set by the caller
 * before wfi_cut; `ordered` and the shared ones are known behind it. */
typedef struct wfi_cut_push {
    uint32_t rows, subgroup, direct, row_subgroups, window, most, shared_rows, shared_slices;
    uint32_t keys_at, order_at, state_at, tiles_at, supers_at, entries_at;
    uint32_t list_at, info_at, loads_at, segments_at, in_order;
    uint32_t ordered, above, upto, block_entries;
} wfi_cut_push;

typedef struct wfi_cutter {
    wfi_passes *passes;
    const wfi_device_csr *csr;
    bool equal; /* for equal blocks */
    wfi_cut_push push;
    wf_buffer *work;                       /* of the rows */
    wf_buffer *slices;                     /* of the slices; the caller makes it behind wfi_cut */
    uint32_t counts_at, sums_at, other_at; /* in the work */
    uint32_t key_bits;
    uint32_t slices_count, segment_slices, long_rows; /* slices of group rows are the first */
} wfi_cutter;

/* Orders the rows and finds where slices begin. `reorders`: there are rows that several subgroups
 * multiply, or rows that are not taken. WF_NOT_READY: a binding does not hold what that takes. */
wf_result wfi_cut(wfi_cutter *cutter, bool reorders);
/* Adds dispatches that write the ordered rows, with a flag at empty ones, the slices and the group
 * rows into cutter->slices; the caller has put the regions of that buffer into cutter->push. */
void wfi_cut_write(wfi_cutter *cutter);
/* Frees both buffers. */
void wfi_cut_close(wfi_cutter *cutter);

/* A buffer of so many words that is one binding; WF_NOT_READY where it cannot be. */
wf_result wfi_cut_buffer(const wfi_device_csr *csr, uint64_t words, wf_buffer **out);
/* Takes the next words of a layout. */
uint32_t wfi_take_words(uint64_t *words, uint64_t count);
uint64_t wfi_groups_of(uint64_t items, uint64_t group);

#endif
