/* Rounding bounds, as in Higham, Accuracy and Stability of Numerical Algorithms (2nd ed., 2002),
 * section 3.1: gamma_n = n u / (1 - n u). */
#ifndef WFI_KERNELS_BOUND_H
#define WFI_KERNELS_BOUND_H

#include "wavefit/wavefit.h"

/* The unit roundoff of the type's arithmetic; f16, bf16 and i8 inputs are accumulated in f32. */
double wfi_unit_roundoff(wf_type type);

/* INFINITY when n u >= 1: nothing can be said. */
double wfi_gamma(double n, wf_type type);

/* What n operations can lose to flushed subnormals. */
double wfi_underflow(double n, wf_type type);

/* Folds one element into the check: its error against `bound`; a NaN result counts as infinite. A
 * long double reference is compared as it is: rounded to f64 first, it would be off by as much as
 * an f64 result may be. */
void wfi_check_element(wf_check *check, uint64_t index, double result, long double reference,
                       double bound);

#endif
