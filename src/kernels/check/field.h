/* What the host's references of stencils share: a part of a grid with values and bounds on what a
 * device's may differ from them, and which parts of a grid are checked. */
#ifndef WFI_KERNELS_CHECK_FIELD_H
#define WFI_KERNELS_CHECK_FIELD_H

#include "wavefit/wavefit.h"

/* Cells [low, high) along i, j, k. */
typedef struct wfi_cell_range {
    int64_t low[3], high[3];
} wfi_cell_range;

static inline size_t wfi_cell_range_cells(const wfi_cell_range *range)
{
    size_t cells = 1;
    for (int axis = 0; axis < 3; axis++)
        cells *= (size_t)(range->high[axis] - range->low[axis]);
    return cells;
}

/* The place of a cell in memory's order. */
static inline size_t wfi_cell_range_index(const wfi_cell_range *range, const int64_t at[3])
{
    const int64_t ni = range->high[0] - range->low[0], nj = range->high[1] - range->low[1];
    return (size_t)(((at[2] - range->low[2]) * nj + at[1] - range->low[1]) * ni + at[0] -
                    range->low[0]);
}

/* The next cell in memory's order, which wraps around to the first; false past the last. */
static inline bool wfi_cell_range_advance(const wfi_cell_range *range, int64_t at[3])
{
    for (int axis = 0; axis < 3; axis++) {
        if (++at[axis] < range->high[axis])
            return true;
        at[axis] = range->low[axis];
    }
    return false;
}

typedef struct wfi_field {
    wfi_cell_range held;        /* cells that the arrays hold */
    void *value, *next_value;   /* in the type that the reference needs */
    double *error, *next_error; /* bounds */
} wfi_field;

/* Arrays for field->held, values of value_bytes each and bounds of 0. False: out of memory, and
 * nothing to close. */
bool wfi_field_open(wfi_field *field, size_t value_bytes);
/* Makes the next values and bounds the present ones. */
void wfi_field_swap(wfi_field *field);
void wfi_field_close(wfi_field *field);

typedef wf_result (*wfi_check_cell_range_fn)(void *reference, const wfi_cell_range *wanted,
                                             wf_check *check);

/* Whether a grid of `total` cells is checked whole; max_checked 0: it is. */
bool wfi_checks_whole(uint64_t total, uint64_t max_checked);
/* Calls check_range for the whole grid of `size` cells, or for ranges of at most `side` cells along
 * each axis until max_checked cells are checked: the first two in opposite corners, so that every
 * edge is looked at, the others anywhere. Starts *check. */
wf_result wfi_check_cell_ranges(const int64_t size[3], int64_t side, uint64_t max_checked,
                                uint64_t seed, wfi_check_cell_range_fn check_range, void *reference,
                                wf_check *check);

#endif
