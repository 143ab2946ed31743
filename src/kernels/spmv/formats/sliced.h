/* Sliced rows: compressed sparse rows rearranged for subgroups, after SELL-C-sigma (Kreutzer, Hager,
 * Wellein, Fehske, Bishop 2014), with several lanes a row where rows are long and with column
 * indices as 8- or 16-bit distances from a base where the columns are near each other.
 *
 * A slice is what one subgroup multiplies: `height` rows, subgroup / height lanes a row, lane
 * part * height + row. A lane takes four entries a load. Padding is a negative zero and repeats
 * a column of its own row, so that it reads no x that the row would not read.
 *
 * Where the rows of a slice have their entries on the same few diagonals, its columns are the row and an
 * offset: the offset of padding and three words of zero; a word a lane, whose bits tell which of its
 * slots are entries; four offsets a load and part. Slices that are alike have them in common.
 *
 * A row too long for one subgroup is shared by a row_subgroups: neighbouring slices, of one work-group each,
 * whose sums are added up there. A row too long for that is cut into segments of a row_subgroups each. */
#ifndef WFI_KERNELS_SPMV_FORMATS_SLICED_H
#define WFI_KERNELS_SPMV_FORMATS_SLICED_H

#include "wavefit/wavefit.h"

typedef struct wfi_sliced_params {
    const wf_spmv_params *matrix;
    uint32_t first, rows;   /* the rows to take */
    uint32_t subgroup;      /* lanes of a slice; a power of two, >= 4 */
    uint32_t loads;         /* the most loads a slice, as far as lanes suffice */
    uint32_t window;        /* rows are sorted by length inside windows of so many; 1: not */
    uint32_t row_subgroups; /* the most slices that share a row; a power of two */
} wfi_sliced_params;

/* Four words a slice:
 *  0  where its indices begin in the pattern, in 16-byte units
 *  1  its first load: values begin at load * subgroup * 4
 *  2  loads, WFI_SLICED_… fields
 *  3  first row; or place in the list of rows; or number of the segment
 * Slices of group_rows come first, larger group_rows before smaller ones. */
enum {
    WFI_SLICED_ROW_SUBGROUPS_SHIFT = 12, /* loads are below; log2 of the row_subgroups's slices */
    WFI_SLICED_WIDTH_SHIFT = 16,  /* 0: 8-bit distances, 1: 16-bit, 2: whole columns, 3: offsets */
    WFI_SLICED_HEIGHT_SHIFT = 18, /* log2 of height */
    WFI_SLICED_LISTED = 1 << 22,  /* rows by the list of rows */
    WFI_SLICED_SEGMENT = 1 << 23, /* part of one long row */
    WFI_SLICED_ROWS_SHIFT = 24    /* rows there are, less one */
};
#define WFI_SLICED_OFFSETS 3 /* the width of slices with offsets */

#define WFI_SLICED_EMPTY_ROW UINT32_C(0x80000000) /* in the list of rows */

typedef struct wfi_sliced {
    uint32_t *pattern; /* slices, segments (row, first segment, segments, number of the long
                          row), list of rows, indices */
    uint32_t *places;  /* the matrix's entry of each value, UINT32_MAX: padding; lanes' four
                          entries of a load stand together, in f64 two by two */
    uint64_t pattern_words, place_count;
    uint32_t slices, segments, long_rows;
    uint32_t group_row_slices; /* slices of group_rows */
    uint32_t segments_at;      /* in 16-byte units of the pattern */
    uint32_t list_at;          /* in words */
} wfi_sliced;

/* WF_ERROR_OUT_OF_HOST_MEMORY. */
wf_result wfi_sliced_make(const wfi_sliced_params *params, wfi_sliced *out);
void wfi_sliced_free(wfi_sliced *sliced);

#endif
