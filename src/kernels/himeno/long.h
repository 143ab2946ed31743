/* What is known of p and gosa after any number of Himeno's iterations from its own start values. */
#ifndef WFI_KERNELS_HIMENO_LONG_H
#define WFI_KERNELS_HIMENO_LONG_H

#include "kernels/check/bound.h"

typedef struct wfi_himeno_long {
    uint32_t size[3]; /* ni, nj, nk */
    uint32_t iterations;
    double omega; /* in (0, 1] */
    const float *p;
} wfi_himeno_long;

/* The range of every cell, sums of all cells with sine waves drawn by `seed`, and gosa.
 * WF_ERROR_CANCELLED, WF_ERROR_OUT_OF_HOST_MEMORY. */
wf_result wfi_himeno_check_long(const wfi_himeno_long *problem, double gosa, uint64_t seed,
                                wfi_watch *watch, wf_check *check, double *gosa_error_over_bound);
/* The same of gosa alone, which stays tight where rounding errors that are followed add up. */
double wfi_himeno_gosa_error(const wfi_himeno_long *problem, double gosa);
/* What an inner cell of plane k may be off, likewise. */
double wfi_himeno_cell_bound(const wfi_himeno_long *problem, double k);

#endif
