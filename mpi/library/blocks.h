/* How a grid is cut into blocks, a rank each: along each axis into some parts. A grid that is cut
 * along one axis has slabs. */
#ifndef WFI_MPI_BLOCKS_H
#define WFI_MPI_BLOCKS_H

#include "ranks.h"

typedef struct wfi_blocks {
    int count[3];       /* along i, j and k; ranks are counted with i fastest */
    uint32_t *first[3]; /* where each begins along an axis, and where the last one ends */
} wfi_blocks;

/* What the cuts along an axis must heed: `cells` of it, of which `unit` stay together, and a block
 * has `least` if any. */
typedef struct wfi_blocks_axis {
    uint32_t cells, unit, least;
} wfi_blocks_axis;

/* `count` from the caller (all 0: slabs along k), whose product must be the number of ranks.
 * Returns the rank's own error. */
wf_result wfi_blocks_open(const wfi_ranks *ranks, const uint32_t count[3], wfi_blocks *out);
void wfi_blocks_close(wfi_blocks *blocks);
bool wfi_blocks_are_slabs(const wfi_blocks *blocks);

/* What a pass over a block costs. */
typedef struct wfi_blocks_costs {
    double element_bytes; /* of a cell of a halo */
    double cell_bytes;    /* that the update of a cell reads and writes */
    double most_bytes;    /* of a block's cells in one binding and one allocation */
    bool around;          /* behind the last block along an axis is the first */
    bool card;            /* the device has memory of its own */
} wfi_blocks_costs;
/* Fills element_bytes, most_bytes and card for a device. */
wfi_blocks_costs wfi_blocks_costs_of(const wf_device *device, wf_type type);

/* Of all ways to cut the grid, slabs among them, the one whose pass is fastest by a model of its
 * largest block. */
void wfi_blocks_choose(int ranks, const wfi_blocks_axis axes[3], const wfi_blocks_costs *costs,
                       uint32_t count[3]);

/* Divides one axis; weights (NULL: equal ones) are those of its parts. */
wf_result wfi_blocks_divide(const wfi_ranks *ranks, wfi_blocks *blocks, int axis,
                            const wfi_blocks_axis *along, const double *weights);

void wfi_blocks_place(const wfi_blocks *blocks, int rank, int place[3]);
/* The cells [begin, end) of a rank's block, all 0 where it has none. */
void wfi_blocks_span(const wfi_blocks *blocks, int rank, uint32_t begin[3], uint32_t end[3]);
bool wfi_blocks_has_cells(const wfi_blocks *blocks, int rank);
/* The nearest rank with cells on a side (wf_halo_direction), or MPI_PROC_NULL. around: behind the
 * last one along an axis is the first. */
int wfi_blocks_neighbour(const wfi_blocks *blocks, int rank, int side, bool around);

#endif
