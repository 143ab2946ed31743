/* What cases of solvers have in common: their verdict is on the answer's residual, not on
 * elements. */
#include <stdarg.h>
#include <stdio.h>

#include "tool/cli/console.h"
#include "tool/verify/verify.h"

void wfi_verify_fail(wfi_verifier *v, const char *format, ...)
{
    va_list args;
    if (v->verdict->status == WFI_STATUS_FAILED)
        return;
    v->verdict->status = WFI_STATUS_FAILED;
    va_start(args, format);
    vsnprintf(v->verdict->reason, sizeof v->verdict->reason, format, args);
    va_end(args);
}

void wfi_verify_residual(wfi_verifier *v, uint64_t elements, double residual, double bound,
                         double told)
{
    wf_check *out = &v->verdict->check;
    out->checked = out->total = elements;
    out->error_over_bound = residual / bound;
    if (!(residual <= bound))
        wfi_verify_fail(v, "it says converged, but the residual is %.3g, over %.3g", residual,
                        bound);
    /* The residual that is told was computed in f64 from the same answer. */
    else if (!(told <= residual * 1.01 + 1e-12) || !(residual <= told * 1.01 + 1e-12))
        wfi_verify_fail(v, "the residual is %.3g, not %.3g as it says", residual, told);
}

void wfi_verify_solver_plan(wfi_verifier *v, const wf_plan_info *plan)
{
    wfi_verdict *out = v->verdict;
    out->plan = *plan;
    out->has_plan = true;
    out->kernels[0].name = out->plan.variant;
    out->kernels[0].hash = out->plan.kernel.spirv_hash;
    out->kernel_count = 1;
}

bool wfi_verify_goes_on(void *user, uint32_t iterations, double residual)
{
    (void)user;
    (void)iterations;
    (void)residual;
    return !wfi_interrupted();
}
