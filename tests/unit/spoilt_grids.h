/* Ways to spoil a right grid, of which a check must find each. */
#ifndef WFI_TEST_SPOILT_GRIDS_H
#define WFI_TEST_SPOILT_GRIDS_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "planted.h"

#define DRAWN 64 /* cells: nothing is found by chance */

static inline int below(int n)
{
    return (int)((uniform() + 1) / 2 * n) % n;
}

typedef enum fault {
    BLOCK_OF_LARGEST,
    LARGE_CELL,
    NAN_CELL,
    ZERO_TILE,
    ZERO_ROW,
    LANE, /* of 32, as it was before */
    STALE,
    FAULTS
} fault;

static inline void spoil_block(float *p, const int n[3], int low, int side, float value)
{
    for (int k = low; k < low + side / 2; k++)
        for (int j = low; j < low + side; j++)
            for (int i = low; i < low + side; i++)
                p[(k * n[1] + j) * n[0] + i] = value;
}

static inline void spoil(float *p, const float *before, const int n[3], fault f)
{
    const int cells = n[0] * n[1] * n[2];
    const int inner =
        ((1 + below(n[2] - 2)) * n[1] + 1 + below(n[1] - 2)) * n[0] + 1 + below(n[0] - 2);
    if (f == BLOCK_OF_LARGEST)
        spoil_block(p, n, 9 + below(3), 8, FLT_MAX);
    else if (f == LARGE_CELL)
        p[inner] = 100;
    else if (f == NAN_CELL)
        p[inner] = NAN;
    else if (f == ZERO_TILE)
        spoil_block(p, n, 9 + below(3), 16, 0);
    else if (f == ZERO_ROW)
        memset(p + inner / n[0] * n[0], 0, (size_t)n[0] * sizeof *p);
    else if (f == LANE)
        for (int at = below(32); at < cells; at += 32)
            p[at] = before[at] - 0.01f;
    else
        memcpy(p, before, (size_t)cells * sizeof *p);
}

#endif
