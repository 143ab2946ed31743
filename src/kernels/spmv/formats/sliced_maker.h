/* The state of a conversion: sliced.c cuts rows into slices, sliced_fill.c writes these. */
#ifndef WFI_KERNELS_SPMV_FORMATS_SLICED_MAKER_H
#define WFI_KERNELS_SPMV_FORMATS_SLICED_MAKER_H

#include "kernels/spmv/formats/sliced.h"

/* One slice as planned: where its rows are, before anything is written. */
typedef struct wfi_sliced_slice {
    uint32_t at; /* place in `order`; of_one_row: the row */
    uint32_t rows, height;
    uint32_t loads;
    bool of_one_row; /* the slice is entries begin … end of one row */
    uint32_t begin, end;
    uint32_t segment;       /* UINT32_MAX: not a segment */
    uint32_t row_subgroups; /* slices that multiply the row together */
} wfi_sliced_slice;

/* A list of offsets in the pattern. */
typedef struct wfi_sliced_cached {
    uint32_t at; /* in 16-byte units; 0: none */
    uint32_t count;
} wfi_sliced_cached;

#define WFI_SLICED_CACHED 1024

typedef struct wfi_sliced_maker {
    const wfi_sliced_params *params;
    uint64_t *order; /* keys (order.h) of the rows that one slice holds */
    uint32_t ordered;
    wfi_sliced_slice *slices;
    uint32_t slice_count, slice_room;
    uint32_t *segments; /* four words each */
    uint32_t segment_count, long_rows;
    uint32_t *columns; /* of one slice: slot * subgroup + lane */
    wfi_sliced *out;
    uint64_t pattern_room, loads;
    wfi_sliced_cached cached[WFI_SLICED_CACHED]; /* the last list of offsets of each hash */
} wfi_sliced_maker;

static inline uint32_t wfi_sliced_row_begin(const wfi_sliced_maker *m, uint32_t row)
{
    return m->params->matrix->row_offsets[m->params->first + row];
}

static inline uint32_t wfi_sliced_row_length(const wfi_sliced_maker *m, uint32_t row)
{
    return wfi_sliced_row_begin(m, row + 1) - wfi_sliced_row_begin(m, row);
}

static inline uint32_t wfi_sliced_order_row(const wfi_sliced_maker *m, uint32_t at)
{
    return (uint32_t)m->order[at];
}

/* sliced_fill.c: writes pattern and places of all slices. False: out of memory. */
bool wfi_sliced_fill(wfi_sliced_maker *m);
/* sliced_maker.c: makes room for more words of the pattern. False: out of memory. */
bool wfi_sliced_reserve(wfi_sliced_maker *m, uint64_t more);

/* sliced_offsets.c: writes a slice of neighbouring rows by the offsets of its diagonals, if it has
 * few enough of them: its places from `load` on, and its offsets, which begin at *at in 16-byte
 * units of the pattern. */
typedef enum wfi_sliced_tried {
    WFI_SLICED_NOT,
    WFI_SLICED_DONE,
    WFI_SLICED_NO_MEMORY
} wfi_sliced_tried;
wfi_sliced_tried wfi_sliced_put_offsets(wfi_sliced_maker *m, const wfi_sliced_slice *s,
                                        uint64_t load, uint32_t *at);

#endif
