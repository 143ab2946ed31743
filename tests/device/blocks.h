/* A grid that a test cuts into blocks along i, j and k, counted with i fastest. */
#ifndef WFI_TESTS_BLOCKS_H
#define WFI_TESTS_BLOCKS_H

#include "wavefit/wavefit.h"

typedef struct test_blocks {
    uint32_t count[3], cuts[3][4]; /* cells where each begins, and the end */
    bool around;                   /* above the last is the first */
} test_blocks;

uint32_t test_blocks_all(const test_blocks *blocks);
/* Where a block begins along an axis, and where it ends. */
const uint32_t *test_blocks_span(const test_blocks *blocks, uint32_t index, int axis);
/* The block on a side; test_blocks_all: the grid ends there, or the axis is not cut. */
uint32_t test_blocks_neighbour(const test_blocks *blocks, uint32_t index, uint32_t side);
/* Moves what each block leaves for its neighbours to these. A planted fault: what goes to the side
 * `forgotten` does not arrive; WF_HALO_SIDES: all does. */
void test_blocks_carry(const test_blocks *blocks, const wf_halo *halos, uint32_t forgotten);

#endif
