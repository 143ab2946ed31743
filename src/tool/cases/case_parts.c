#include "tool/cases/case_parts.h"

#include <math.h>
#include <stdio.h>

#include "core/platform.h"
#include "tool/cli/console.h"
#include "tool/cli/sort.h"
#include "tool/cli/table.h"

#define SOLVES 5u        /* timed, or as many as are begun in */
#define SOLVES_SECONDS 5 /* this time */

void wfi_case_checked(wfi_result_case *c, const char *part, uint64_t worst)
{
    c->has_check = true;
    if (!(c->check.error_over_bound <= 1))
        wfi_case_fail_text(c, WFI_STATUS_FAILED, "%s %s: %s %llu is %.3g times its error bound off",
                           c->family, c->name, part, (unsigned long long)worst,
                           c->check.error_over_bound);
    else if (c->check.total > 0 && c->check.checked + c->check.summed == 0)
        wfi_case_fail_text(c, WFI_STATUS_FAILED,
                           "%s %s: no %s has a finite error bound, so that none could be checked",
                           c->family, c->name, part);
}

void wfi_case_checked_timed(wfi_result_case *c, const wf_check *check, const char *part,
                            uint64_t worst)
{
    if (check->error_over_bound <= 1)
        return;
    c->check = *check;
    wfi_case_fail_text(c, WFI_STATUS_FAILED,
                       "%s %s: %s %llu of what the timed runs left is %.3g times its error bound "
                       "off",
                       c->family, c->name, part, (unsigned long long)worst,
                       check->error_over_bound);
}

/* Times every kernel of the plan; the one that takes the most time becomes the case's. Failing to
 * is no failure of the case. */
static void time_kernels(wfi_session *session, wf_plan *plan, const wf_bindings *bindings,
                         wfi_result_case *c)
{
    const uint32_t count = wf_plan_kernel_count(plan);
    double us[WFI_MAX_KERNELS];
    uint32_t most = 0;
    if (count == 0 || count > WFI_MAX_KERNELS ||
        wf_plan_time_kernels(plan, bindings, count, us, &c->kernels_gpu_clock) != WF_SUCCESS)
        return;
    for (uint32_t i = 0; i < count; i++) {
        wfi_result_kernel *kernel = &session->kernels[c->kernel_count];
        wf_occupancy occupancy = {.limited_by = NULL};
        *kernel = (wfi_result_kernel){
            .kernel = {.size = sizeof kernel->kernel}, .us = us[i], .occupancy = (double)NAN};
        wf_plan_describe_kernel(plan, i, &kernel->kernel);
        if (wf_kernel_occupancy(session->caps, &kernel->kernel.info, &occupancy) == WF_SUCCESS)
            kernel->occupancy = occupancy.fraction;
        kernel->occupancy_limit = occupancy.limited_by;
        if (kernel->us > session->kernels[most].us)
            most = c->kernel_count;
        c->kernel_count += kernel->kernel.dispatches > 0;
    }
    c->kernels = session->kernels;
    c->plan.kernel = session->kernels[most].kernel.info;
}

wf_result wfi_case_time(wfi_session *session, wf_plan *plan, const wf_bindings *bindings,
                        double budget_seconds, wfi_result_case *c)
{
    const wf_measure_params params = {
        .size = sizeof params, .repeat = session->common->repeat, .budget_seconds = budget_seconds};
    wfi_case_stage(session, c, WFI_STAGE_TIME);
    const wf_result result = wf_plan_measure(plan, bindings, &params, &c->timing);
    if (result != WF_SUCCESS)
        return result;
    c->has_timing = true;
    if (session->kernels)
        time_kernels(session, plan, bindings, c);
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

void wfi_case_summarise(wf_timing *timing)
{
    double sorted[WF_MAX_SAMPLES];
    const uint32_t n = timing->count;
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = timing->samples_us[i];
    wfi_sort(sorted, n);
    timing->min_us = sorted[0];
    timing->q1_us = sorted[n / 4];
    timing->median_us = sorted[n / 2];
    timing->q3_us = sorted[n - 1 - n / 4];
    timing->spread = (timing->q3_us - timing->q1_us) / timing->median_us;
}

bool wfi_case_next_solve(const wfi_session *session, const wfi_result_case *c)
{
    const uint32_t wanted = session->common->repeat ? session->common->repeat : SOLVES;
    double sum = 0;
    for (uint32_t i = 0; i < c->timing.count; i++)
        sum += c->timing.samples_us[i];
    return c->timing.count < wanted && (session->common->repeat || sum < SOLVES_SECONDS * 1e6) &&
           !wfi_interrupted();
}

void wfi_case_add_solve(const wf_solve_stages *s, wfi_result_case *c)
{
    c->timing.samples_us[c->timing.count++] =
        (s->analysis + s->upload + s->run + s->download) * 1e6;
    c->timing.batch = 1;
    wfi_case_summarise(&c->timing);
    c->has_timing = true;
}

void wfi_case_print_solves(const wfi_result_case *c)
{
    char text[32];
    if (!c->has_timing)
        return;
    wfi_format_time(c->timing.median_us, text, sizeof text);
    printf("solves    %s each as a whole, median of %u (spread %.1f %%, host clock)\n", text,
           c->timing.count, c->timing.spread * 100);
}
