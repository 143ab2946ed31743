/* Gives the entries of rows side by side to the lanes of a subgroup, one slot of all lanes at a
 * time. */
#ifndef WFI_KERNELS_SPMV_FORMATS_SLICED_LANES_H
#define WFI_KERNELS_SPMV_FORMATS_SLICED_LANES_H

#include "wavefit/wavefit.h"

#define WFI_MOST_LANES 128

/* The entries of one lane: begin + lane_in_row, begin + lane_in_row + step, ... below end. */
typedef struct wfi_lane {
    uint32_t row, begin, next, end;
    uint32_t step;  /* set by the caller */
    uint32_t slack; /* slots that may stay empty */
} wfi_lane;

/* Sets the lane up for entries begin … end of a row, of which it takes every step-th in `slots`
 * slots. */
void wfi_lane_start(wfi_lane *lane, uint32_t row, uint32_t begin, uint32_t end,
                    uint32_t lane_in_row, uint32_t slots);

/* Fills one slot of every lane: its column, and its entry or UINT32_MAX where it is padding, which
 * repeats a column of the same row. A lane with slots to spare gets padding while its next diagonal
 * is far beyond the lowest, so that a row that lacks an entry does not run ahead of its neighbours.
 * Returns the span of the columns. */
uint32_t wfi_lanes_fill(const wf_spmv_params *matrix, wfi_lane *lanes, uint32_t size,
                        uint32_t *columns, uint32_t *entries);

uint32_t wfi_lowest_column(const uint32_t *columns, uint32_t count);

/* The width that distances up to `span` need; 0: 8 bits, 1: 16, 2: 32. */
uint32_t wfi_column_width(uint32_t span);

/* Word `word` of a lane's four columns of a load as distances from their slots' bases, 4 >> width
 * of them a word. `columns` holds the slots one after the other, `size` lanes each. */
uint32_t wfi_encode_columns(const uint32_t *columns, uint32_t size, const uint32_t bases[4],
                            uint32_t width, uint32_t word, uint32_t lane);

/* Where a lane's value stands: its four of a load are neighbours, in f64 two and two. */
static inline uint64_t wfi_lane_value_index(wf_type type, uint32_t size, uint64_t load,
                                            uint32_t slot, uint32_t lane)
{
    return type == WF_TYPE_F64 ? ((load * 2 + slot / 2) * size + lane) * 2 + slot % 2
                               : (load * size + lane) * 4 + slot;
}

#endif
