/* What tiles of products take on a device (kernels/matmul/tile_time.c). They are measured there by
 * wf_calibrate, and guessed by the device's profile before. */
#ifndef WFI_PROFILES_MATMUL_RATES_H
#define WFI_PROFILES_MATMUL_RATES_H

#include <stdint.h>

typedef enum wfi_rate {
    WFI_RATE_START,           /* of an execution */
    WFI_RATE_DISPATCH,        /* of another one that waits for the one before */
    WFI_RATE_WAVE,            /* of work-groups that follow others */
    WFI_RATE_MULTIPLY_ADD,    /* of a compute unit, in f32; in f64 it counts twice */
    WFI_RATE_SHARED_BYTE,     /* that a compute unit reads of its shared memory, */
    WFI_RATE_SHARED_BYTE_F64, /* in elements of 64 bits */
    WFI_RATE_LOAD_BYTE,       /* of operands that a compute unit loads, */
    WFI_RATE_SHORT_ROW_BYTE,  /* by which a tile reads less than 64 of a row along the sum, */
    WFI_RATE_NARROW_BYTE,     /* and as much longer by single elements in place of vectors */
    WFI_RATE_NARROW_WAIT,     /* for a single element that a work-item loads */
    WFI_RATE_OUTPUT,          /* of a work-group, where rows of C are vectors; else longer by */
    WFI_RATE_NARROW_OUTPUT,   /* this, times the columns of a work-item */
    WFI_RATE_OUTPUT_F64,      /* an element of 64 bits, where rows of C are vectors */
    WFI_RATE_PARTIAL_BYTE,    /* of partial sums, written and read */
    WFI_RATE_MEMORY_BYTE,     /* of operands and results, where memory decides */
    WFI_RATE_GAP_ITEMS,       /* work-items whose turns hide what one work-group waits for */
    /* Products on matrix units (kernels/matmul/matrix_time.c). */
    WFI_RATE_MATRIX_STEP,          /* of the sum, in a wave */
    WFI_RATE_MATRIX_WAVE,          /* as WAVE */
    WFI_RATE_MATRIX_MULTIPLY_ADD,  /* of all work-groups of a compute unit */
    WFI_RATE_MATRIX_SUBGROUP,      /* the same, of one subgroup */
    WFI_RATE_MATRIX_LOAD_BYTE,     /* of operands that a compute unit loads, */
    WFI_RATE_MATRIX_NARROW_LOAD,   /* more for an element of rows that are no vectors, */
    WFI_RATE_MATRIX_NARROW_WAIT,   /* and for each of these that a work-item loads */
    WFI_RATE_MATRIX_OUTPUT,        /* where rows of C are vectors, */
    WFI_RATE_MATRIX_NARROW_OUTPUT, /* and where not */
    WFI_RATE_PACK_BYTE,            /* read or written by packing */
    WFI_RATES
} wfi_rate;

/* In microseconds; GAP_ITEMS is a number. */
typedef struct wfi_rates {
    double of[WFI_RATES];
} wfi_rates;

/* Name, unit and meaning of each, for files and people. */
typedef struct wfi_rate_info {
    const char *name, *unit, *meaning;
} wfi_rate_info;
extern const wfi_rate_info wfi_rate_infos[WFI_RATES];

#endif
