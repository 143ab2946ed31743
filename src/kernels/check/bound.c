#include "kernels/check/bound.h"

#include <float.h>
#include <math.h>

#define ASK_EVERY 100000 /* operations of a watch */

double wfi_unit_roundoff(wf_type type)
{
    return type == WF_TYPE_F64 ? DBL_EPSILON / 2 : (double)FLT_EPSILON / 2;
}

double wfi_gamma(double n, wf_type type)
{
    const double nu = n * wfi_unit_roundoff(type);
    return nu < 1 ? nu / (1 - nu) : INFINITY;
}

double wfi_underflow(double n, wf_type type)
{
    return n * (type == WF_TYPE_F64 ? DBL_MIN : (double)FLT_MIN);
}

void wfi_check_element(wf_check *check, uint64_t index, double result, long double reference,
                       double bound)
{
    const double error = (double)fabsl(result - reference);
    /* Within an infinite bound everything is right: such an element is not counted as compared. */
    if (isinf(bound) && error > 0 && isfinite(error))
        return;
    double ratio = error <= 0 ? 0 : error / bound;
    /* Infinite and NaN references are matched exactly; NaN anywhere else is an error. */
    if (isnan(reference))
        ratio = isnan(result) ? 0 : INFINITY;
    else if (isinf(reference))
        ratio = result == reference ? 0 : INFINITY;
    else if (isnan(ratio))
        ratio = INFINITY;
    if (!(ratio <= 1) && check->wrong++ < WF_CHECK_MISMATCHES)
        check->mismatches[check->wrong - 1] =
            (wf_mismatch){index, result, (double)reference, bound};
    if (ratio > check->error_over_bound || check->checked == 0) {
        check->error_over_bound = ratio;
        check->worst = index;
    }
    check->checked++;
}

void wfi_check_merge(wf_check *check, const wf_check *more)
{
    for (uint64_t i = 0; i < more->wrong && i < WF_CHECK_MISMATCHES; i++)
        if (check->wrong + i < WF_CHECK_MISMATCHES)
            check->mismatches[check->wrong + i] = more->mismatches[i];
    if (more->checked && (more->error_over_bound > check->error_over_bound || !check->checked)) {
        check->error_over_bound = more->error_over_bound;
        check->worst = more->worst;
    }
    check->wrong += more->wrong;
    check->checked += more->checked;
}

bool wfi_watch_goes_on(wfi_watch *watch, uint64_t operations)
{
    watch->operations += operations;
    if (watch->stopped || !watch->cancel || !watch->cancel->cancelled ||
        watch->operations < ASK_EVERY)
        return !watch->stopped;
    watch->operations = 0;
    watch->stopped = watch->cancel->cancelled(watch->cancel->user);
    return !watch->stopped;
}
