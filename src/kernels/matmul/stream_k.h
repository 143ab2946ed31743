/* Stream-K: the tiles of C whose sums work-groups share evenly. */
#ifndef WFI_KERNELS_MATMUL_STREAM_K_H
#define WFI_KERNELS_MATMUL_STREAM_K_H

#include "plan/plan.h"
#include "kernels/matmul/module.h"
#include "kernels/matmul/tile.h"

/* The last tiles of C are shared; each of the others has a work-group. */
typedef struct wfi_matmul_stream_k {
    uint64_t tiles, shared; /* of C; those of them that are shared, which are the last */
    uint64_t tile_steps;    /* passes of tile.k steps that a tile's sum takes */
    uint64_t groups;        /* work-groups that share; 0: no tile is shared */
} wfi_matmul_stream_k;

wfi_matmul_stream_k wfi_matmul_stream_k_of(const wfi_point *point, const wfi_matmul_tile *tile);
/* The most of them that any size up to the plan's leaves. */
uint64_t wfi_matmul_most_partials_bytes(const wfi_point *point, const wfi_matmul_tile *tile);
/* Whether tile->stream_k is 0, or is possible for the product, within the device's dispatch sizes
 * and with partial tiles that fit a binding. */
bool wfi_matmul_may_stream_k(const wfi_point *point, const wfi_matmul_tile *tile);
#define WFI_STREAM_K_REASON                                                                        \
    "stream_k must be at most 64, without split_k and batches, where the tiles fit one axis of a " \
    "dispatch and the partial tiles fit one storage-buffer binding"
/* Bytes of the partial tiles. */
uint64_t wfi_matmul_partials_bytes(const wfi_matmul_stream_k *s, const wfi_matmul_tile *tile,
                                   wf_type type);
void wfi_matmul_push_stream_k(const wfi_matmul_stream_k *s, wfi_matmul_push *push);
/* The fixup, which adds partial tiles in the order of their work-groups and finishes C; it serves
 * every variant. */
wf_result wfi_matmul_fixup_pipeline(wf_plan *plan, const wfi_point *point,
                                    const wfi_matmul_tile *tile, uint32_t *index);
wf_result wfi_matmul_fixup_groups(wf_plan *plan, const wfi_point *point,
                                  const wfi_matmul_stream_k *s, const wfi_matmul_tile *tile,
                                  uint32_t groups[3]);

/* Work-groups a compute unit that should share what whole waves of tiles leave; 0: the partial
 * tiles cost more than the idle units. The model of vector. */
uint32_t wfi_matmul_stream_k_for(const wfi_point *point, double tile_m, double tile_n);
#define WFI_MANY_TILES 24 /* of 64 x 128, for a compute unit */

#endif
