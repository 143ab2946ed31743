/* Equal blocks: rows rearranged for subgroups as in sliced.h, but in blocks of one size, so that a
 * subgroup knows where its data lies without loading it: values, columns and rows are loaded at
 * once, and only the loads of x wait for others. Made for matrices that a cache holds, whose time
 * is the length of that chain.
 *
 * A block is what one subgroup multiplies: `loads` times four entries a lane, which `slices` slices
 * share evenly. A slice is `height` rows with subgroup / height lanes each, as in sliced.h.
 *
 * A group row, which is too long for a slice, has neighbouring blocks of one work-group, whose
 * subgroups add up in shared memory. A row that is too long for a work-group is cut into segments,
 * each of which is like a group row. */
#ifndef WFI_KERNELS_SPMV_FORMATS_EQUAL_H
#define WFI_KERNELS_SPMV_FORMATS_EQUAL_H

#include "wavefit/wavefit.h"

typedef struct wfi_equal_params {
    const wf_spmv_params *matrix;
    uint32_t first, rows;   /* the rows to take; at most WFI_EQUAL_ROW_MASK */
    uint32_t subgroup;      /* lanes of a block; a power of two, 4 to 128 */
    uint32_t loads;         /* of four entries a lane and block */
    uint32_t slices;        /* slices of a block; divides 4 * loads */
    uint32_t window;        /* rows that are sorted by length together; 1: none are */
    uint32_t row_subgroups; /* the most blocks of a group row; a power of two */
    uint32_t group;         /* blocks a work-group, a multiple of row_subgroups */
    uint32_t above, upto;   /* only rows of more than `above` (0: empty ones too) and at most `upto`
                             entries are taken */
} wfi_equal_params;

/* The word of a lane and slice is its row and these bits. */
enum {
    WFI_EQUAL_ROW_BITS = 26,
    WFI_EQUAL_GROUP_ROW = 1 << 26, /* all blocks of the work-group are of group rows */
    WFI_EQUAL_HEIGHT_SHIFT = 27,   /* three bits: log2 of height */
    WFI_EQUAL_EMPTY = 1 << 30 /* the row has no entries: its padding read what is not its own */
};
#define WFI_EQUAL_NONE UINT32_C(0x80000000) /* the lane writes no row */
#define WFI_EQUAL_ROW_MASK ((UINT32_C(1) << WFI_EQUAL_ROW_BITS) - 1)
#define WFI_EQUAL_MOST_SEGMENTS (UINT32_C(1) << 22)

/* Blocks of group rows come first, those of the most blocks before others. The words of their first
 * four lanes, each with WFI_EQUAL_GROUP_ROW:
 *  0  row; WFI_EQUAL_ROW_MASK: none, the block fills up a work-group
 *  1  the row's first segment
 *  2  this segment
 *  3  log2 of the row's or segment's blocks; from bit 4 on the segments of the row, 0: none */
typedef struct wfi_equal {
    uint32_t *pattern; /* a block: the lanes' words, slice by slice; bases; columns, lane by lane */
    uint32_t *places;  /* the matrix's entry of each value, UINT32_MAX: padding; as in sliced.h */
    uint64_t pattern_words, place_count;
    uint32_t stride; /* words a block */
    uint32_t blocks; /* of whole work-groups */
    uint32_t group_row_blocks, segments;
    uint32_t width; /* 0: columns are 8-bit distances, 1: 16 bits, 2: 32 */
    bool based;     /* distances are from four bases a load, else from 0 */
} wfi_equal;

/* WF_ERROR_OUT_OF_HOST_MEMORY. */
wf_result wfi_equal_make(const wfi_equal_params *params, wfi_equal *out);
void wfi_equal_free(wfi_equal *equal);

#endif
