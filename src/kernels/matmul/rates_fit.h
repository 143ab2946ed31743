/* The rates of a device by what a few points took on it. */
#ifndef WFI_KERNELS_MATMUL_RATES_FIT_H
#define WFI_KERNELS_MATMUL_RATES_FIT_H

#include "plan/family.h"
#include "profiles/matmul_rates.h"

/* A point of `vector`, `subgroup_k` or `cooperative` that was timed. */
typedef struct wfi_timed_point {
    const wfi_point *point;
    double us;
} wfi_timed_point;

/* Fits rates to the times by weighted non-negative least squares of the relative errors. What the
 * points say nothing of keeps the ratio that it has to the other rates in the guess. Outliers count
 * less. Returns the median of the relative errors; < 0: there are too few points, and *rates is as
 * it was. */
double wfi_matmul_fit_rates(const wfi_timed_point *points, uint32_t count, const wfi_rates *guess,
                            wfi_rates *rates);

#endif
