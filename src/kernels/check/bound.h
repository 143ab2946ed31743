/* Rounding bounds, as in Higham, Accuracy and Stability of Numerical Algorithms (2nd ed., 2002),
 * section 3.1: gamma_n = n u / (1 - n u). */
#ifndef WFI_KERNELS_CHECK_BOUND_H
#define WFI_KERNELS_CHECK_BOUND_H

#include "wavefit/wavefit.h"

/* The unit roundoff of the type's arithmetic; f16, bf16 and i8 inputs are accumulated in f32. */
double wfi_unit_roundoff(wf_type type);

/* INFINITY where n u >= 1, since there is no bound then. */
double wfi_gamma(double n, wf_type type);

/* What n operations can lose to flushed subnormals. */
double wfi_underflow(double n, wf_type type);

/* Folds one element into the check: its error against `bound`; a NaN result counts as infinite. A
 * long double reference is compared as it is: rounded to f64 first, it would be off by as much as
 * an f64 result may be. */
void wfi_check_element(wf_check *check, uint64_t index, double result, long double reference,
                       double bound);

/* Adds what other comparisons of the same result came to. */
void wfi_check_merge(wf_check *check, const wf_check *more);

/* Work on the host that the application can cut short. */
typedef struct wfi_watch {
    const wf_cancel *cancel; /* NULL: the application never does */
    uint64_t operations;     /* since the application was asked last */
    bool stopped;
} wfi_watch;

/* Counts operations that were done, each of which takes a few nanoseconds, and asks the application
 * whenever they add up to milliseconds. */
bool wfi_watch_goes_on(wfi_watch *watch, uint64_t operations);

#endif
