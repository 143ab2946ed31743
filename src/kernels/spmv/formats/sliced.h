/* Sliced rows: compressed sparse rows rearranged for subgroups, after SELL-C-sigma (Kreutzer,
 * Hager, Wellein, Fehske, Bishop 2014), with several lanes a row where rows are long and with
 * column indices as 8- or 16-bit distances from a base where the columns are near each other.
 *
 * A slice is what one subgroup multiplies: `height` rows with subgroup / height lanes each. Lane
 * number `lane_in_row` of row r is lane lane_in_row * height + r of the subgroup. A lane takes four
 * entries a load. Padding is a negative zero and repeats a column of its own row, so that it reads
 * no x that the row would not read.
 *
 * Where the rows of a slice have their entries on the same few diagonals, a column is its row plus
 * an offset. Such a slice has the offset that padding takes and three zeros; a word a lane, whose
 * bits say which of its slots are entries; four offsets for each load and lane in the row. Slices
 * that are alike use one copy of these words.
 *
 * A group row, which is too long for one subgroup, has several neighbouring slices of one
 * work-group, whose subgroups add up in shared memory. A row that is too long for a work-group is
 * cut into segments, each of which is like a group row. */
#ifndef WFI_KERNELS_SPMV_FORMATS_SLICED_H
#define WFI_KERNELS_SPMV_FORMATS_SLICED_H

#include "wavefit/wavefit.h"

typedef struct wfi_sliced_params {
    const wf_spmv_params *matrix;
    uint32_t first, rows;   /* the rows to take */
    uint32_t subgroup;      /* lanes of a slice; a power of two, >= 4 */
    uint32_t loads;         /* the most loads a slice; more where a row has all lanes already */
    uint32_t window;        /* rows that are sorted by length together; 1: none are */
    uint32_t row_subgroups; /* the most slices of a group row; a power of two */
} wfi_sliced_params;

/* Four words a slice:
 *  0  where its indices begin in the pattern, in 16-byte units
 *  1  its first load: values begin at load * subgroup * 4
 *  2  loads, WFI_SLICED_… fields
 *  3  first row; or place in the list of rows; or number of the segment
 * Slices of group rows come first, those of the most slices before others. */
enum {
    WFI_SLICED_ROW_SUBGROUPS_SHIFT = 12, /* log2 of the group row's slices; loads are below */
    WFI_SLICED_WIDTH_SHIFT = 16,  /* 0: 8-bit distances, 1: 16-bit, 2: whole columns, 3: offsets */
    WFI_SLICED_HEIGHT_SHIFT = 18, /* log2 of height */
    WFI_SLICED_LISTED = 1 << 22,  /* rows by the list of rows */
    WFI_SLICED_SEGMENT = 1 << 23, /* the slice is of a segment of a long row */
    WFI_SLICED_ROWS_SHIFT = 24    /* number of rows, less one */
};
#define WFI_SLICED_OFFSETS 3 /* the width that means offsets */

#define WFI_SLICED_EMPTY_ROW UINT32_C(0x80000000) /* in the list of rows */

typedef struct wfi_sliced {
    uint32_t *pattern; /* slices, segments (row, first segment, segments, number of the long
                          row), list of rows, indices */
    uint32_t *places;  /* the matrix's entry of each value, UINT32_MAX: padding; lanes' four
                          entries of a load stand together, in f64 two by two */
    uint64_t pattern_words, place_count;
    uint32_t slices, segments, long_rows;
    uint32_t group_row_slices; /* slices of group rows and segments */
    uint32_t segments_at;      /* in 16-byte units of the pattern */
    uint32_t list_at;          /* in words */
} wfi_sliced;

/* Where subgroups cannot share a row, one multiplies up to DIRECT_LOADS of a row alone, since
 * adding up segments takes the time of about so many. Slices of segments and of group rows have
 * about SEGMENT_LOADS, since they all run at once; those of a group row have up to GROUP_ROW_LOADS
 * before the row is cut into segments. */
#define WFI_SLICED_DIRECT_LOADS 16
#define WFI_SLICED_SEGMENT_LOADS 4
#define WFI_SLICED_GROUP_ROW_LOADS 8

/* Rows of more entries get several subgroups. */
uint32_t wfi_sliced_direct_entries(const wfi_sliced_params *params);

/* WF_ERROR_OUT_OF_HOST_MEMORY. */
wf_result wfi_sliced_make(const wfi_sliced_params *params, wfi_sliced *out);
void wfi_sliced_free(wfi_sliced *sliced);

#endif
