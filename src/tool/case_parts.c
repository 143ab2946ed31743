#include "tool/case_parts.h"

void wfi_case_checked(wfi_result_case *c, const char *part, uint64_t worst)
{
    c->has_check = true;
    if (!(c->check.error_over_bound <= 1))
        wfi_case_fail_text(c, WFI_STATUS_FAILED, "%s %s: %s %llu is %.3g times its error bound off",
                           c->family, c->name, part, (unsigned long long)worst,
                           c->check.error_over_bound);
}

wf_result wfi_case_time(wfi_session *session, wf_plan *plan, const wf_bindings *bindings,
                        double budget_seconds, wfi_result_case *c)
{
    const wf_measure_params params = {
        .size = sizeof params, .repeat = session->common->repeat, .budget_seconds = budget_seconds};
    wfi_case_stage(session, c, 3, 3, "timing");
    wf_result result = wf_plan_measure(plan, bindings, &params, &c->timing);
    if (result != WF_SUCCESS)
        return result;
    c->has_timing = true;
    c->rate = c->plan.flops / c->timing.median_us * 1e-3;
    c->rate_unit = "GFLOPS";
    return WF_SUCCESS;
}

void wfi_case_bandwidth(wfi_session *session, wfi_result_case *c, double gbs)
{
    c->gbs = gbs;
    c->percent = gbs * 1e9 / wfi_session_copy_bandwidth(session) * 100;
    c->percent_of = "measured copy bandwidth";
}

wf_result wfi_case_time_memory(wfi_session *session, wf_plan *plan, const wf_bindings *bindings,
                               double budget_seconds, wfi_result_case *c)
{
    wf_result result = wfi_case_time(session, plan, bindings, budget_seconds, c);
    if (result == WF_SUCCESS)
        wfi_case_bandwidth(session, c, c->plan.least_bytes / c->timing.median_us * 1e-3);
    return result;
}
